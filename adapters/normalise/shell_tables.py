"""Programs and their kinds of work. Tables only; `shell.py` reads them."""

from __future__ import annotations

from typing import Final

from ...reducer.vocabulary.terms import EpisodeKind as K

# Programs that run another one. True: the first bare number is theirs (`timeout 30 x`).
WRAPPERS: Final[dict[str, bool]] = {
    "sudo": False, "env": False, "time": False, "nice": True, "nohup": False, "timeout": True,
    "gtimeout": True, "stdbuf": False, "exec": False, "command": False, "builtin": False,
    "npx": False, "bunx": False, "pnpx": False, "uvx": False, "xvfb-run": False, "ionice": True,
    "do": False, "then": False, "if": False, "while": False, "else": False, "!": False,
    "time -p": False, "caffeinate": False, "doas": False, "setsid": False, "unbuffer": False,
}  # fmt: skip
# The same, where a second word says so.
RUNNERS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("uv", ("run",)), ("poetry", ("run",)), ("pipenv", ("run",)), ("bundle", ("exec",)),
    ("pdm", ("run",)), ("hatch", ("run",)), ("rye", ("run",)), ("conda", ("run",)),
    ("npm", ("exec",)), ("pnpm", ("exec",)), ("pnpm", ("dlx",)), ("yarn", ("dlx",)),
    ("python", ("-m",)), ("python3", ("-m",)), ("py", ("-m",)), ("python3.11", ("-m",)),
    ("python3.12", ("-m",)), ("python3.13", ("-m",)), ("python3.14", ("-m",)),
    ("bash", ("-c",)), ("bash", ("-lc",)), ("sh", ("-c",)), ("zsh", ("-lc",)), ("mise", ("exec",)),
    ("dotenv", ("--",)), ("direnv", ("exec",)), ("nix", ("develop",)),
)  # fmt: skip
# How many words after the program belong to its name.
SUBCOMMANDS: Final[dict[str, int]] = {
    **dict.fromkeys((
        "git", "npm", "pnpm", "yarn", "bun", "go", "cargo", "docker", "kubectl", "gh", "dotnet",
        "mvn", "gradle", "gradlew", "make", "just", "task", "mise", "pip", "pip3", "uv", "poetry",
        "terraform", "helm", "brew", "apt", "apt-get", "systemctl", "deno", "rake", "mix", "zig",
        "swift", "flutter", "dart", "bazel", "nx", "turbo", "playwright", "composer", "rails",
        "podman", "glab", "aws", "gcloud", "az", "ruff", "manage.py", "nix", "sbt", "lerna",
    ), 1),
}  # fmt: skip

KINDS: Final[dict[str, K]] = {
    **dict.fromkeys((
        "pytest", "py.test", "unittest", "nose2", "nosetests", "tox", "nox", "jest", "vitest",
        "mocha", "ava", "tap", "jasmine", "karma", "cypress", "rspec", "minitest", "phpunit",
        "pest", "ctest", "gotestsum", "ginkgo", "bats", "shellspec", "busted", "behave", "robot",
        "cucumber", "nextest", "testcafe", "wdio", "prove", "coverage", "hypothesis", "stryker",
    ), K.TEST),
    **dict.fromkeys((
        "tsc", "tsgo", "vue-tsc", "eslint", "biome", "prettier", "oxlint", "ruff", "mypy",
        "pyright", "pylint", "flake8", "black", "isort", "make", "cmake", "ninja", "meson", "gcc",
        "g++", "clang", "clang++", "cc", "rustc", "javac", "webpack", "vite", "rollup", "esbuild",
        "tsup", "swc", "parcel", "golangci-lint", "staticcheck", "gofmt", "goimports", "shellcheck",
        "stylelint", "markdownlint", "hadolint", "bazel", "gradle", "gradlew", "mvn", "ant", "sbt",
        "msbuild", "xcodebuild", "swiftlint", "ktlint", "rubocop", "phpstan", "psalm", "clippy",
        "build", "turbo", "nx", "pre-commit", "just", "rake", "basedpyright", "ty", "jshint",
    ), K.BUILD),
    **dict.fromkeys((
        "grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "fdfind", "locate", "ugrep",
        "ast-grep", "sg", "Select-String", "findstr",
    ), K.SEARCH),
    **dict.fromkeys((
        "cat", "bat", "ls", "ll", "eza", "exa", "head", "tail", "less", "more", "wc", "stat",
        "file", "tree", "which", "whereis", "type", "pwd", "du", "df", "ps", "top", "jq", "yq",
        "awk", "gawk", "cut", "sort", "uniq", "diff", "cmp", "nl", "xxd", "od", "hexdump",
        "strings", "date", "whoami", "id", "uname", "hostname", "env", "printenv", "basename",
        "dirname", "realpath", "readlink", "md5sum", "sha256sum", "lsof", "netstat", "ss", "dir",
        "Get-Content", "Get-ChildItem", "column", "tr", "man", "free", "uptime", "pgrep", "seq",
        "identify", "ffprobe", "pdftotext", "exiftool", "journalctl", "dmesg", "history", "xargs",
    ), K.INSPECT),
    **dict.fromkeys((
        "mv", "cp", "rm", "mkdir", "touch", "tee", "patch", "apply_patch", "ln", "chmod", "chown",
        "rmdir", "unlink", "truncate", "install", "dd", "rsync", "unzip", "tar", "Set-Content",
        "Out-File", "New-Item", "Remove-Item", "Copy-Item", "Move-Item", "applypatch",
    ), K.EDIT),
    **dict.fromkeys((
        "gdb", "lldb", "pdb", "strace", "ltrace", "dtruss", "perf", "valgrind", "py-spy", "tcpdump",
        "dlv", "rr", "bpftrace", "heaptrack", "ipdb", "cProfile",
    ), K.INSTRUMENT),
}  # fmt: skip

# Program and first words together.
KINDS_2: Final[dict[str, K]] = {
    **dict.fromkeys((
        "go test", "cargo test", "cargo nextest", "npm test", "npm t", "pnpm test", "yarn test",
        "bun test", "deno test", "node --test", "dotnet test", "mvn test", "mvn verify",
        "gradle test", "gradlew test", "gradle check", "gradlew check", "make test", "just test",
        "make check", "mix test", "zig test", "swift test", "flutter test", "dart test",
        "rails test", "rake test", "rake spec", "manage.py test", "playwright test", "sbt test",
        "bazel test", "nx test", "turbo test", "task test", "cargo bench", "composer test",
        "python manage.py test", "mise test", "npm run test", "pnpm run test", "yarn run test",
    ), K.TEST),
    **dict.fromkeys((
        "go build", "go vet", "go generate", "cargo build", "cargo check", "cargo clippy",
        "cargo fmt", "npm ci", "docker build", "podman build", "dotnet build", "swift build",
        "zig build", "flutter build", "deno check", "deno lint", "bun build", "mix compile",
        "docker compose build", "node --check", "terraform validate", "terraform plan",
        "python -m py_compile", "go install", "dotnet publish", "npm pack", "yarn build",
        "pnpm build", "nix build", "nix flake", "go fmt", "go mod",
    ), K.BUILD),
    **dict.fromkeys((
        "git status", "git log", "git diff", "git show", "git blame", "git branch", "git remote",
        "git ls-files", "git rev-parse", "git describe", "git reflog", "git config", "git tag",
        "git stash list", "gh issue view", "gh pr view", "gh pr list", "gh issue list", "gh run",
        "gh pr diff", "gh pr checks", "docker ps", "docker logs", "kubectl get", "kubectl logs",
        "kubectl describe", "npm ls", "npm view", "npm list", "pip list", "pip show", "go list",
        "go doc", "go version", "cargo tree", "cargo metadata", "systemctl status", "gh api",
        "go env", "npm info", "brew list", "docker images", "docker inspect", "git worktree list",
        "gh run view", "gh release", "gh search", "uv tree",
    ), K.INSPECT),
    **dict.fromkeys(("git grep",), K.SEARCH),
    **dict.fromkeys((
        "git apply", "git mv", "git rm", "git restore", "git checkout", "git am", "git revert",
        "git cherry-pick", "git merge", "git rebase", "git reset", "git stash",
    ), K.EDIT),
}  # fmt: skip
KINDS_2["git checkout -b"] = K.RUN

# Script names of task runners, by words in them, first match wins.
_SCRIPTS: Final = (
    ("test", K.TEST), ("spec", K.TEST), ("e2e", K.TEST), ("check", K.BUILD), ("lint", K.BUILD),
    ("build", K.BUILD), ("typecheck", K.BUILD), ("type-check", K.BUILD), ("tsc", K.BUILD),
    ("compile", K.BUILD), ("format", K.BUILD), ("fmt", K.BUILD), ("ci", K.BUILD),
)  # fmt: skip
SCRIPT_WORDS: Final[dict[str, tuple[tuple[str, K], ...]]] = dict.fromkeys(
    ("npm", "pnpm", "yarn", "bun", "make", "just", "task", "mise", "rake", "composer", "deno",
     "nx", "turbo", "gradle", "gradlew", "mvn", "poe", "hatch", "pdm", "lerna", "invoke"),
    _SCRIPTS,
)  # fmt: skip

# Programs at the end of a pipe that only choose what is shown.
TRIMMERS: Final = frozenset({
    "tail", "head", "grep", "egrep", "rg", "tee", "cat", "less", "sort", "uniq", "wc", "sed",
    "awk", "cut", "tr", "column", "jq", "xargs",
})  # fmt: skip
# Words that do no work of their own.
SILENT: Final = frozenset({
    "cd", "echo", "printf", "export", "set", "source", ".", "true", ":", "sleep", "pushd",
    "popd", "exit", "wait", "unset", "alias", "test", "[", "[[", "for", "done", "fi", "case",
    "esac", "in", "read",
})  # fmt: skip
