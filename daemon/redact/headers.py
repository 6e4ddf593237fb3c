"""R4 authorization headers and bearer tokens, R5 cookies.

Patterns run on the lowered text and begin with a literal, which `re` then finds fast; what is
judged is the text itself.
"""

import re
from collections.abc import Iterator

from . import shapes
from .shapes import NOTHING, PHRASE, RANDOM
from .spans import Hit
from .view import View
from .words import words

_AUTHORIZATION = re.compile(
    r"""(?x)authorization
    \\{0,8}["'`]?[\])]? [ \t]{0,8} (?:[:=,]|=>|,?\s{0,4}value\\{0,8}["'`]?:)? [ \t]{0,8}
    \\{0,8}["'`]?
    (?:(?:basic|bearer|token|digest|api-?key|negotiate|ntlm|hmac|key|jwt|ssws|splunk|hawk|oauth)
       [ :]{1,4})?
    (?P<v>[a-z0-9+/=_.~:%$@!\-]{8,})
    """
)
_BEARER = re.compile(
    r"bearer(?:[ \t]+|%20|\+|[:=]\s?|\\{0,4}[\"']\s?[:,]\s?\\{0,4}[\"'])"
    r"(?P<v>[a-z0-9+/=_.~\-]{12,})"
)
_SSWS = re.compile(r"ssws (?P<v>[a-z0-9_\-]{20,})")
_BASIC = re.compile(r"basic[ \t]+(?P<v>[a-z0-9+/]{10,}={0,2})(?![a-z0-9+/])")
_DIGEST = re.compile(r"""\b(?:response|cnonce|opaque|nonce)=\\{0,4}["'](?P<v>[0-9a-f]{16,})""")
_AWS4 = re.compile(r"signature=(?P<v>[0-9a-f]{32,})")

_COOKIE = re.compile(
    r"""cookies?\\{0,8}["'`]?\s{0,4}(?:[:=]>?|=>)\s{0,4}\\{0,8}["'`]?(?P<v>[^\n"'`\\]{4,4096})"""
)
_COOKIE_OPTION = re.compile(
    r"""(?<![\w-])(?:-b|--cookie)[ =]\\{0,8}["'`]?(?P<v>[^\n"'`\\]{4,4096})"""
)
_PAIR = re.compile(r"(?P<n>[A-Za-z0-9_.$%-]{1,64})=(?:s%3A|s:)?(?P<v>[^\s;,\"'`\\]{6,2048})")
_TRAITS = words(
    "path domain expires max-age samesite priority version comment theme lang locale tz "
    "timezone consent color currency"
)
# Session cookies of common frameworks, anywhere.
_SESSION_NAME = re.compile(
    r"(?i)(?:\w+[.-])?(?:jsessionid|phpsessid|aspsessionid\w*|asp\.net_sessionid|connect\.sid|"
    r"[a-z0-9_]{0,24}_session|sessionid|session_?token|csrf_?token|xsrf-token|user_session|"
    r"_gh_sess|"
    r"wordpress_(?:logged_in|sec)_\w+|__(?:secure|host)-[\w.-]+|auth_token|remember_token)"
)
_SESSION_VALUE = re.compile(r"=(?:s%3A|s:)?(?P<v>[A-Za-z0-9%+/_.|~:\-]{12,2048})")
_HEADER_NAME = re.compile(
    r"(?i)(?:x-(?:[a-z]+-){0,3}(?:key|token|secret|auth|signature|apikey|password|credential)|"
    r"api-?key|(?:private|job|deploy)-token|ocp-apim-subscription-key|x-amz-security-token|"
    r"x-goog-iap-jwt-assertion|x-shopify-access-token|proxy-authorization)"
)
_HEADER_VALUE = re.compile(
    r"\\{0,8}[\"'`]?\s?(?:[:=]|,)\s{0,4}\\{0,8}[\"'`]?(?:[Bb]asic |[Bb]earer )?"
    r"(?P<v>[A-Za-z0-9+/=_.~:\-]{8,})"
)


def find(view: View) -> Iterator[Hit]:
    """Yield credentials in headers and cookies."""
    text, low = view.text, view.low
    for pattern, gate, judge in _GATED:
        if gate not in view.bag:
            continue
        for match in pattern.finditer(low):
            left, right = match.span("v")
            if judge(text[left:right]):
                yield left, right, "authorization"
    if "digest" in view.bag and "nonce" in view.bag:
        for match in _DIGEST.finditer(low):
            yield *match.span("v"), "authorization"
    for _left, right, name, _telling in view.names:
        yield from _named(text, right, name)
    for pattern, gate in (
        (_COOKIE, "cookie"),
        (_COOKIE_OPTION, "curl"),
        (_COOKIE_OPTION, "--cookie"),
    ):
        if gate in view.bag:
            for match in pattern.finditer(low):
                yield from _pairs(text, *match.span("v"))


def _named(text: str, right: int, name: str) -> Iterator[Hit]:
    """A header or a cookie that is known by its name."""
    if _HEADER_NAME.fullmatch(name):
        match = _HEADER_VALUE.match(text, right)
        if match is not None and _generated(match["v"]):
            yield *match.span("v"), "authorization"
    elif text.startswith("=", right) and _SESSION_NAME.fullmatch(name):
        match = _SESSION_VALUE.match(text, right)
        if match is not None and shapes.is_random(match["v"][:400]):
            yield *match.span("v"), "cookie"


def _generated(value: str) -> bool:
    return shapes.grade(value[:400]) == RANDOM or shapes.is_uuid(value)


def _credential(value: str) -> bool:
    return (
        _generated(value)
        or (shapes.grade(value[:400]) == PHRASE and not shapes.is_worded(value))
        or shapes.is_base64_pair(value)
        or _plain(value)
    )


def _token(value: str) -> bool:
    return _generated(value) or _plain(value)


def _plain(value: str) -> bool:
    """Long, with a digit, and neither an identifier nor an expression."""
    return (
        len(value) >= 20
        and any(c.isdigit() for c in value)
        and shapes.grade(value[:400]) != NOTHING
        and not shapes.is_worded(value)
    )


_GATED = (
    (_AUTHORIZATION, "authorization", _credential),
    (_BEARER, "bearer", _token),
    (_SSWS, "ssws", _token),
    (_BASIC, "basic", shapes.is_base64_pair),
    (_AWS4, "signature=", _token),
)


def _pairs(text: str, start: int, end: int) -> Iterator[Hit]:
    for pair in _PAIR.finditer(text, start, end):
        name, value = pair["n"].lower(), pair["v"]
        if name in _TRAITS or name.startswith(("_ga", "_gid", "_gcl", "_fb")):
            continue
        telling = any(p in name for p in ("sess", "sid", "auth", "csrf", "token", "jwt", "login"))
        grade = shapes.grade(value[:400])
        if grade == RANDOM or (telling and grade == PHRASE) or shapes.is_uuid(value):
            yield *pair.span("v"), "cookie"
