"""R6 user and password in URLs, R7 secret query parameters."""

import re
from collections.abc import Iterator

from . import shapes
from .shapes import NOTHING, PHRASE, RANDOM
from .spans import Hit
from .view import View
from .words import words

_USERINFO = re.compile(
    r"://(?P<u>[^\s/:@\"'`<>?#]{0,128}):(?P<v>[^\s/\"'`<>\\]{1,256})@(?=[\w.\[(-])"
)
# A password with a slash in it, only where a database URL makes it certain.
_DATABASE = re.compile(
    r"(?:sql|ql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|clickhouse|psycopg2?|asyncpg|pymysql)"
    r"://[^\s/:@\"'`<>]{0,64}:(?P<v>[^\s\"'`<>\\@]{1,128})@(?=[\w.\[-])"
)
_TOKEN_ONLY = re.compile(r"://(?P<v>[A-Za-z0-9_\-]{16,256})(?::x-oauth-basic|:)?@(?=[\w.-])")
# user:password@host:port or @tcp(…, without a scheme before it.
_HOST = re.compile(
    r"@(?:tcp\(|unix\(|//|(?:[\w-]+\.)+[\w-]+:\d{2,5}\b|(?:[\w-]+\.)+[\w-]+/|"
    r"(?:localhost|127\.0\.0\.1)\b)"
)
_USER_BEFORE = re.compile(r"(?<![\w/])[\w.\-]{1,64}[:/](?P<v>[^\s:@/\"'`<>(){}$]{5,128})\Z")
_EXAMPLES = words(
    "pass password passwd pwd secret token user username xxx pw key apikey api_key app "
    "admin root postgres postgresql mysql redis guest test example changeme your_password "
    "mypassword"
)

# Parameters whose name is enough, and those whose value must look generated.
_ANY = [
    "sig",
    "signature",
    "x-amz-signature",
    "x-amz-security-token",
    "x-amz-credential",
    "x-goog-signature",
    "x-goog-credential",
    "x-oss-signature",
    "ossaccesskeyid",
    "x-cos-security-token",
    "googleaccessid",
    "sign",
    "hmac",
    "access_token",
    "id_token",
    "refresh_token",
    "client_secret",
    "api_key",
    "apikey",
    "auth_token",
    "token",
    "secret",
    "password",
    "passwd",
    "pwd",
    "jwt",
    "sas",
    "private_token",
    "session_token",
    "oauth_token",
    "oauth_verifier",
    "oauth_signature",
    "assertion",
    "client_assertion",
    "code_verifier",
    "access_key",
    "accesskey",
    "appsecret",
    "app_secret",
    "key-pair-id",
    "policy",
    "x-tos-signature",
    "x-tos-credential",
    "q-signature",
    "q-ak",
    "upload_token",
    "invite_token",
    "reset_token",
    "verification_token",
    "magic_token",
    "login_token",
    "ticket",
    "credential",
]
_STRICT = [
    "code",
    "key",
    "auth",
    "sid",
    "session",
    "sessionid",
    "session_id",
    "state",
    "nonce",
    "otp",
    "pass",
    "k",
    "hash",
    "token_hash",
    "st",
    "jsessionid",
]
_QUERY = re.compile(
    r"[?&#;](?P<n>"
    + "|".join(sorted((re.escape(n) for n in _ANY + _STRICT), key=len, reverse=True))
    + r")=(?P<v>[^\s\"'`<>&#;\\,)\]}|]{4,2048})"
)


def find(view: View) -> Iterator[Hit]:
    """Yield secrets inside URLs."""
    text = view.text
    if "@" in view.bag:
        if "://" in view.bag:
            yield from _userinfo(text)
        for host in _HOST.finditer(text):
            floor = max(0, host.start() - 200)
            match = _USER_BEFORE.search(text[floor : host.start()])
            certain = host[0] in ("@tcp(", "@unix(", "@//")
            if match is not None and _handed(match["v"], certain):
                yield floor + match.start("v"), floor + match.end("v"), "userinfo"
    if "=" in view.bag and view.has("?", "&", "#"):
        for match in _QUERY.finditer(view.low):
            left, right = match.span("v")
            if _secret(match["n"], text[left:right]):
                yield left, right, "query"


def _userinfo(text: str) -> Iterator[Hit]:
    for pattern in (_USERINFO, _DATABASE):
        for match in pattern.finditer(text):
            if not _example(match["v"]):
                yield *match.span("v"), "userinfo"
    for match in _TOKEN_ONLY.finditer(text):
        if shapes.is_random(match["v"], 12):
            yield *match.span("v"), "userinfo"


def _handed(value: str, certain: bool) -> bool:
    if shapes.grade(value) < PHRASE:
        return False
    return not shapes.is_worded(value) or (certain and sum(c.isdigit() for c in value) >= 2)


def _example(value: str) -> bool:
    """`user:password@`, `${DB_PASS}`, `***`: documentation, not a secret."""
    if value.lower() in _EXAMPLES or value.startswith(("$", "{", "<", "%")):
        return True
    return len(value) < 4 or shapes.is_placeholder(value)


def _secret(name: str, value: str) -> bool:
    grade = shapes.grade(value[:400])
    if name in _STRICT:
        least = 16 if name in ("code", "key", "state", "auth", "pass") else 24
        return (grade == RANDOM or shapes.is_uuid(value)) and len(value) >= least
    if grade == NOTHING:
        return shapes.is_uuid(value)
    return grade == RANDOM or (len(value) >= 8 and grade == PHRASE and not shapes.is_worded(value))
