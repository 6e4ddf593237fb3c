"""R13: commands whose purpose is to print a secret. Their output is never stored, only its size.

No rule can see that a bare word is a password when the command that printed it was `pass show`;
so the command is asked, not the output.
"""

import re
from collections.abc import Iterator

from .shapes import is_random
from .spans import Hit
from .view import View

_SECRET_FILE = (
    r"(?:[\w./~$@{}*\"'-]*/)?(?:[\w-]*\.env(?:\.(?!example|sample|template|dist)[\w-]+)?|"
    r"[\w.*-]*\.(?:pem|key|p12|pfx|jks|"
    r"keystore|kdbx|ppk|asc|gpg|age|ovpn)|id_(?:rsa|dsa|ecdsa|ed25519)(?!\.pub)|\.?netrc|"
    r"\.pgpass|\.npmrc|\.pypirc|"
    r"\.my\.cnf|\.git-credentials|\.htpasswd|shadow|credentials(?:\.(?:json|toml|ya?ml|ini|csv))?|"
    r"(?:service[-_]?account|secrets?|auth|token)[\w-]*\.(?:json|ya?ml|toml|txt|env|ini)|"
    r"kubeconfig|"
    r"\.docker/config\.json|\.kube/config|\.aws/credentials|master\.key|\.vault-token|"
    r"run/secrets/[\w.-]+)"
)
_READER = (
    r"(?:cat|bat|less|more|head|tail|tac|nl|strings|xxd|od|hexdump|base64|type|gc|Get-Content|sed|awk|"
    r"grep|rg|cut|jq|yq|openssl\s+\w+\s+-in|source|\.)"
)


# What is printed, and the pattern of the command.
def _row(name: str, pattern: str) -> tuple[str, re.Pattern[str]]:
    return name, re.compile(pattern, re.IGNORECASE)


TABLE = (
    _row(
        "environment",
        r"(?:^|[;&|(`]\s*|\$\(\s*|sudo\s+|exec\s+\S+\s+)(?:printenv|env|export(?:\s+-p)?|set|"
        r"declare\s+-[xp]+|compgen\s+-e)\s*(?:$|[|;&>)`])",
    ),
    _row(
        "environment",
        r"\bprintenv\b|\bGet-ChildItem\s+env:|\bdir\s+env:|/proc/\w+/environ\b|"
        r"\bps\s+(?:\S+\s+)*[a-z]*e[a-z]*ww|\bdocker\s+(?:inspect|exec\s+\S+\s+env)\b",
    ),
    _row(
        "environment",
        r"(?:os\.environ|process\.env|ENV\.(?:to_h|each)|System\.getenv\(\))\s*(?:\)|\"|'|$|;)",
    ),
    _row(
        "environment",
        r"\becho\s+[\"']?\$\{?\w*(?:PASS|SECRET|TOKEN|KEY|CRED|AUTH|PWD(?<!\bPWD))\w*",
    ),
    _row(
        "secret file",
        r"\b"
        + _READER
        + r"\b[^|;&\n]{0,200}?(?:^|[\s\"'=<])"
        + _SECRET_FILE
        + r"(?=$|[\s\"';|&)<>])",
    ),
    _row(
        "cloud secret",
        r"\baws\s+(?:configure\s+(?:get|export-credentials)|secretsmanager\s+get-secret|"
        r"ssm\s+get-parameters?\b[^\n]*--with-decryption|sts\s+(?:get-session-token|"
        r"assume-role|get-federation)|ecr\s+get-login|iam\s+create-access-key|"
        r"codeartifact\s+get-authorization-token|eks\s+get-token)",
    ),
    _row(
        "cloud secret",
        r"\bgcloud\s+(?:auth\s+(?:print-(?:access|identity)-token|"
        r"application-default\s+print)|secrets\s+versions\s+access|"
        r"iam\s+service-accounts\s+keys\s+create)",
    ),
    _row(
        "cloud secret",
        r"\baz\s+(?:account\s+get-access-token|keyvault\s+secret\s+(?:show|download)|"
        r"storage\s+account\s+keys|acr\s+credential|ad\s+sp\s+(?:create|credential)|"
        r"cosmosdb\s+keys|redis\s+list-keys)",
    ),
    _row(
        "cluster secret",
        r"\b(?:kubectl|oc|k)\s+(?:\S+\s+)*?(?:get|describe|view|"
        r"edit)\s+(?:\S+\s+)*?secrets?\b|\bkubectl\s+(?:\S+\s+)*?(?:config\s+view\b[^\n]*--ra"
        r"w|create\s+token)|\bkubeseal\b|\bhelm\s+get\s+values",
    ),
    _row(
        "vault",
        r"\b(?:op\s+(?:read|item\s+get|inject|run)|vault\s+(?:kv\s+get|read|"
        r"token\s+(?:create|lookup)|print\s+token|login|unwrap|operator\s+init)|bw\s+(?:get|"
        r"list|unlock|export)|lpass\s+(?:show|export)|pass\s+(?:show|otp|ls\s+-)?\s*\S+/\S+|"
        r"gopass\s+(?:show|cat)|keepassxc-cli\s+(?:show|clip|export)|secret-tool\s+lookup|"
        r"security\s+find-(?:generic|internet)-password|keyring\s+get|chamber\s+(?:read|"
        r"export|env)|doppler\s+(?:secrets|run)|infisical\s+(?:secrets|export|run)|"
        r"sops\s+(?:-d|--decrypt|decrypt|exec)|ansible-vault\s+(?:view|decrypt)|age\s+(?:-d|"
        r"--decrypt)|gpg\s+(?:\S+\s+)*?(?:-d|--decrypt|--export-secret)|"
        r"pulumi\s+config\b[^\n]*--show-secrets|terraform\s+(?:output|state\s+(?:show|pull))|"
        r"berglas\s+access|dotenvx?\s+(?:get|decrypt))\b",
    ),
    _row(
        "hosted config",
        r"\b(?:heroku\s+(?:config|auth:token|redis:credentials|pg:credentials)|"
        r"fly(?:ctl)?\s+(?:auth\s+token|tokens\s+create|ssh\s+console[^\n]*env)|"
        r"vercel\s+env\s+(?:pull|ls)|netlify\s+env:(?:get|list)|railway\s+variables|"
        r"render\s+env|supabase\s+(?:status|projects\s+api-keys)|firebase\s+(?:login:ci|"
        r"functions:config:get)|wrangler\s+secret|stripe\s+config\s+--list|"
        r"gh\s+auth\s+(?:token|status[^\n]*(?:-t\b|--show-token))|"
        r"glab\s+auth\s+status[^\n]*-t|npm\s+(?:token\s+create|config\s+(?:ls\s+-l|"
        r"get\s+\S*_?auth\S*))|git\s+credential\s+fill|git\s+config\s+[^\n]*(?:extraheader|"
        r"password|token)|docker-credential-\S+\s+get|cargo\s+login|huggingface-cli\s+whoami)",
    ),
    _row(
        "generated secret",
        r"\bopenssl\s+(?:rand|genrsa|genpkey|ecparam\b[^\n]*-genkey|passwd|"
        r"rsa\b(?![^\n]*-pubout)|pkcs12|pkey\b(?![^\n]*-pubout))|\b(?:pwgen|mkpasswd|"
        r"htpasswd\s+-\w*n|wg\s+gen(?:key|psk)|wg\s+showconf|age-keygen|"
        r"ssh-keygen\b[^\n]*-f\s*/dev/stdout|uuidgen\s*\|\s*|dd\s+if=/dev/u?random|apg|"
        r"xkcdpass|diceware)\b",
    ),
    _row(
        "keychain",
        r"\bsecurity\s+(?:dump-keychain|export)|\bcmdkey\b|\bGet-Credential\b|"
        r"\bcat\s+\S*\.vault-token|\bhistory\b|\b(?:cat|tail|head|less|grep|rg)\b[^|"
        r";&\n]*\.(?:bash|zsh|psql|mysql|python|node_repl|rediscli)_history",
    ),
)


def prints_secret(command: str) -> str | None:
    """What kind of secret the command line prints, or None. The first 8,192 characters count."""
    head = command[:8192]
    for name, pattern in TABLE:
        if pattern.search(head):
            return name
    return None


# A shell prompt in a transcript, with the command behind it.
_PROMPT = re.compile(r"(?:[$❯]|[~\])] ?#) (?P<c>[^\n]{3,400})")
_PROMPT_COLUMN_MAX = 100
_BARE_LINES_MAX = 40


def find(view: View) -> Iterator[Hit]:
    """In a transcript, mask bare tokens that stand alone on the lines after such a command."""
    text = view.text
    if not view.prompted and "~#" not in view.bag and "]#" not in view.bag:
        return
    for prompted in _PROMPT.finditer(text):
        line = text.rfind("\n", 0, prompted.start()) + 1
        if prompted.start() - line > _PROMPT_COLUMN_MAX or prints_secret(prompted["c"]) is None:
            continue
        position = prompted.end() + 1
        for _ in range(_BARE_LINES_MAX):
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            token = text[position:end].strip()
            if not token or any(c.isspace() for c in token) or not is_random(token[:400], 12):
                break
            yield position, end, "source"
            position = end + 1
