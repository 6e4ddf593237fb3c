"""References cannot be guessed back, ids that look like secrets are refused, sources are known."""

import stat
from pathlib import Path

import pytest

from wayfinder.daemon.redact.hmacs import KeyFileError, References, load_key
from wayfinder.daemon.redact.identifiers import looks_secret
from wayfinder.daemon.redact.sources import prints_secret


def test_a_reference_depends_on_key_domain_and_value() -> None:
    """Same in, same out; another key, domain or value gives another reference."""
    one = References(b"1" * 32)
    made = {
        one.ref("path", "a"), one.ref("path", "b"), one.ref("branch", "a"),
        References(b"2" * 32).ref("path", "a"),
    }  # fmt: skip
    assert len(made) == 4
    assert one.ref("path", "a") == References(b"1" * 32).ref("path", "a")
    assert all(ref.startswith("hmac-sha256:") and len(ref) == 12 + 32 for ref in made)
    assert "1111" not in repr(one)


def test_a_known_reference_stays_what_it_was() -> None:
    """The drawing: HMAC-SHA-256(key, "wf1|" domain "|" raw), 16 bytes of it."""
    assert References(bytes(32)).ref("path", "src/é") == "hmac-sha256:" + _by_hand()


def _by_hand() -> str:
    import hashlib

    inner, outer = b"\x36" * 64, b"\x5c" * 64
    message = "wf1|path|src/é".encode()
    return hashlib.sha256(outer + hashlib.sha256(inner + message).digest()).digest()[:16].hex()


def test_the_key_is_made_once_and_is_private(tmp_path: Path) -> None:
    """32 bytes in a 0600 file; the second call reads what the first one wrote."""
    path = tmp_path / "state" / "reference.key"
    key = load_key(path)
    assert len(key) == 32 and load_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in path.parent.iterdir()] == ["reference.key"]


def test_an_unsafe_key_file_is_refused_with_the_reason(tmp_path: Path) -> None:
    """Readable by others, a link, or of another length: it says which, and what is expected."""
    path = tmp_path / "reference.key"
    path.write_bytes(b"x" * 31)
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match="31 bytes, expected 32"):
        load_key(path)
    path.chmod(0o644)
    with pytest.raises(KeyFileError, match="expected 0600"):
        load_key(path)
    link = tmp_path / "link.key"
    link.symlink_to(path)
    with pytest.raises(KeyFileError, match="plain file"):
        load_key(link)


@pytest.mark.parametrize(
    "identifier",
    [
        "tr_find_root_cause", "pl_failure_reproduced", "patch_01J8ZQ3V5N7X9B1D3F5H7K9M2P", "tr-12",
        "b7e32171-17f4-4d49-b686-6a3e4e7545f0", "tr_password_reset", "pl_token_refreshed",
        "ev_3f2a1b", "step.2026-01-02.release", "auth:login",
    ],
)  # fmt: skip
def test_ordinary_ids_are_fine(identifier: str) -> None:
    """Words, numbers, UUIDs and ULIDs do not look like secrets, even when they speak of one."""
    assert not looks_secret(identifier)


@pytest.mark.parametrize(
    "identifier",
    [
        "gh" + "p_" + "a1B2c3D4e5F6" * 3, "tr_" + "sk" + "-ant-api03-" + "a1B2c3D4e5F6" * 3,
        "tr_" + "0f1e2d3c" * 5, "pl-" + "a1B2c3D4e5F6g7H8i9J0", "AK" + "IA" + "QWERTZ2345UIOPAS",
    ],
)  # fmt: skip
def test_ids_that_carry_a_secret_are_refused(identifier: str) -> None:
    """A prefix of ours hides nothing."""
    assert looks_secret(identifier)


PRINTING = """
printenv
env | sort
cd /x && env
cat .env
cat config/prod.env
tail -n 3 ~/.ssh/id_rsa
cat server.key
aws configure get aws_secret_access_key
kubectl get secret db -o yaml
kubectl -n prod get secrets
op read op://v/i/f
vault kv get secret/app
pass show mail/bob
gcloud auth print-access-token
heroku config:get API_KEY
gh auth token
echo $GITHUB_TOKEN
docker inspect app
openssl rand -hex 32
cat ~/.aws/credentials
sops -d secrets.yaml
git config --get http.extraheader
cat ~/.bash_history
base64 -d < tls.key
jq . ~/.docker/config.json
"""


@pytest.mark.parametrize("command", PRINTING.strip().split("\n"))
def test_commands_that_print_secrets_are_known(command: str) -> None:
    """R13: the output of these is never stored, only its size."""
    assert prints_secret(command) is not None


ORDINARY = """
npm test
git status
cat src/environment.ts
env NODE_ENV=test npm test
cat README.md
kubectl get pods
cat .env.example
grep -rn token src
ls -la ~/.ssh
cat id_rsa.pub
docker ps
vault status
aws s3 ls
pytest tests/test_env.py
set -e; make
python manage.py shell
sed -n 1,80p src/keys.py
cat package.json
head -5 keyboard.py
ssh-keygen -t ed25519 -f key
"""


@pytest.mark.parametrize("command", ORDINARY.strip().split("\n"))
def test_ordinary_commands_are_not_suspected(command: str) -> None:
    """Reading code and running tests says nothing about secrets."""
    assert prints_secret(command) is None
