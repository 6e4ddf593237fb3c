"""R9: name and value that travel apart: JSON pairs, XML, setters, tuples, prompts, code numbers.

Where a telling name decides, the patterns are anchored at the names already found; each looks at
a bounded piece of text before or behind the name.
"""

import re
from collections.abc import Iterator

from . import shapes
from .keys import MEDIUM, STRONG
from .shapes import PHRASE, RANDOM, WORD
from .spans import Hit
from .vetoes import names_a_secret
from .view import Name, View

_Q = r"\\{0,8}[\"']"
_NAMES = (
    r"(?:name|key|id|variable|field|header|property|option|k|parameter|param|env|label|title|type)"
)
_VALUES = (
    r"(?:value|val|v|secret|content|data|default|plaintext|cleartext|secretString|initialValue|"
    r"result)"
)
# {"name": K, …, "value": V}: what stands before K, and what may stand between K and V.
_NAMED_BEFORE = re.compile(rf"(?i)\b{_NAMES}{_Q}?\s{{0,4}}[:=]\s{{0,4}}(?:{_Q})?\Z")
_VALUE_AFTER = re.compile(
    rf"(?i)(?:{_Q})?(?:[^\"'\n<>]{{0,40}}{_Q}[^\"'\n\\]{{0,60}}{_Q}){{0,8}}?[^\"'<>\n\w]{{0,40}}"
    rf"(?:\n\s{{0,40}})?{_Q}?\b{_VALUES}{_Q}?\s{{0,4}}[:=]\s{{0,4}}"
    rf"(?:(?P<q>{_Q})(?P<v>[^\"'\\\n]{{4,2000}})|(?P<w>[^\s\"',;}}\\]{{4,2000}}))"
)
# {"value": V, "name": K}
_VALUE_BEFORE = re.compile(
    rf"(?i){_Q}{_VALUES}{_Q}\s{{0,4}}:\s{{0,4}}{_Q}(?P<v>[^\"'\\\n]{{4,400}}){_Q}\s{{0,4}},\s{{0,"
    rf"80}}"
    rf"{_Q}{_NAMES}{_Q}\s{{0,4}}:\s{{0,4}}{_Q}\Z"
)
# "db_password": {"sensitive": true, …, "value": V}
_NESTED_HEAD = re.compile(rf"(?:{_Q})?\s{{0,4}}[:=]?\s{{0,4}}\{{")
_NESTED_VALUE = re.compile(
    rf"(?i)\b{_VALUES}(?:{_Q})?\s{{0,4}}[:=]\s{{0,4}}{_Q}(?P<v>[^\"'\\\n]{{4,2000}})"
)
_NESTED_MAX = 300
_BRACE = re.compile(r"[{}]")
_XML_AFTER = re.compile(
    r"(?:[ \t][^<>]{0,200})?>\s{0,40}(?:<!\[CDATA\[)?(?P<v>[^<\s][^<]{2,400}?)\s{0,40}(?:\]\]>)?</"
)
_XML_BEFORE = re.compile(r"<(?:\w{1,20}:)?\Z")
_ATTRIBUTE_BEFORE = re.compile(
    r"(?i)<[^<>]{1,120}\b(?:name|key|id|property)=[\"'](?:[\w.\-/:]{0,40})\Z"
)
_ATTRIBUTE_AFTER = re.compile(
    r"(?i)[\"'][^<>]{0,120}?(?:\bvalue=[\"'](?P<v>[^\"'<>]{3,400})[\"']|"
    r">\s{0,40}(?:<\w+>)?(?P<w>[^<\s][^<]{2,400}?)</)"
)
# setenv("NAME", "value") and its kin
_SETTER_BEFORE = re.compile(
    r"(?i)(?:set\w{0,16}|put\w{0,8}|define|add\w{0,12}|append|insert|env|header|with\w{0,12}|"
    r"config|"
    r"from\w{0,12})\(\s{0,8}\\{0,4}[\"']\Z"
)
_SETTER_AFTER = re.compile(
    r"\\{0,4}[\"']\s{0,4},\s{0,8}\\{0,4}[\"'](?P<v>[^\"'\n\\]{4,2000})\\{0,4}[\"']"
)
# By the character before a name: what may follow it, what must stand before it, how far back.
_QUOTED = (
    (_VALUE_AFTER, _NAMED_BEFORE, 32),
    (_ATTRIBUTE_AFTER, _ATTRIBUTE_BEFORE, 200),
    (_SETTER_AFTER, _SETTER_BEFORE, 32),
)
_ELEMENT = ((_XML_AFTER, _XML_BEFORE, 24),)
_PLAIN = ((_VALUE_AFTER, _NAMED_BEFORE, 32),)
_ANCHORED = {
    '"': _QUOTED,
    "'": _QUOTED,
    "/": _QUOTED[1:2],
    "<": _ELEMENT,
    ":": _ELEMENT + _PLAIN,
    "=": _PLAIN,
    " ": _PLAIN,
}

# User and password handed over together: ("user", "password").
_TUPLE = re.compile(
    r"(?:auth\w{0,16}|credentials?|login|signin|connect)\s{0,4}[=(]\s{0,4}[(\[]?"
    r"\s{0,40}(?:\w+\s{0,4}[=:]\s{0,4})?\\{0,4}[\"'][^\"'\n\\]{1,80}\\{0,4}[\"']\s{0,4},\s{0,40}"
    r"(?:\w+\s{0,4}[=:]\s{0,4})?\\{0,4}[\"'](?P<v>[^\"'\n\\]{3,200})\\{0,4}[\"']"
)
# The first of two literals is an account everybody knows; `PDO($dsn, 'root', '…')`.
_ACCOUNT = re.compile(
    r"[\"'](?:root|admin|administrator|sa|postgres|system|sysdba|ubuntu|deploy|ec2-user|service|"
    r"guest|"
    r"dbadmin|dbuser|mysql)\\{0,4}[\"']\s{0,4},\s{0,8}\\{0,4}[\"'](?P<v>[^\"'\n\\]{5,200})\\{0,4}"
    r"[\"']"
)
_HASHED = re.compile(
    r"(?:bcrypt|argon2\w*|scrypt|passlib|pwd_context|hasher)\.\w{0,24}\(\s{0,4}b?[\"'](?P<v>[^\"'"
    r"\n\\]{5,200})"
)
_NETRC = re.compile(r"machine\s+\S+\s+login\s+\S+\s+(?:account\s+\S+\s+)?password\s+(?P<v>\S+)")
_CODE = re.compile(r"(?:code|pin)s?\b[^\n\d]{0,24}(?<!\w)(?P<v>\d{4,8}|\d{3}[ -]\d{3})(?!\w)")
_CODE_BEFORE = re.compile(
    r"(?:verification|security|one[- ]?time|2fa|mfa|two[- ]factor|otp|sms|authenticator|login|"
    r"confirmation|access|backup|recovery|pass)[- ]?(?:pass)?\Z"
)
_CODE_CJK = re.compile(r"(?:验证码|校验码|动态码|动态口令)[^\n\d]{0,12}(?P<v>\d{4,8})(?!\d)")
_PROMPT = re.compile(
    r"(?:password|passphrase|密码|口令)(?: for [^\n:]{1,64})?[:：][ \t]*\r?\n[ \t>$]{0,4}"
    r"(?P<v>\S{6,64})(?=\s|$)"
)
_JWK = re.compile(
    rf"{_Q}(?:d|p|q|dp|dq|qi|k|oth){_Q}\s{{0,4}}:\s{{0,4}}{_Q}(?P<v>[A-Za-z0-9_\-]{{16,}})"
)
_USER_THEN = re.compile(
    r"(?:user(?:name)?|login|account|账号|用户名?)(?:\s?[:：=]\s?|\s)[\w.@-]{1,40}"
    r"(?:\s*[，、；]\s*|\s+[/|]\s+|[,;]\s+)(?:pass(?:word|wd)?|pwd|pw|密码|口令)?\s*[:：]?\s*"
    r"(?P<v>[^\s,，。;；/\"'`<>]{6,64})"
)
_OPENED = (' "', ':"', " '", ":'")
_COOKIE_TRAIT = re.compile(r"(?i)httponly|samesite|\"(?:path|domain|secure|expires)\"|cookie")


def find(view: View) -> Iterator[Hit]:
    """Yield values whose name stands in another member, element or argument."""
    text, low = view.text, view.low
    for name in view.names:
        if name.telling >= MEDIUM:
            yield from _anchored(text, name)
        elif text[name.left - 2 : name.left] in _OPENED and "sess" in name.name.lower():
            yield from _session_pair(text, name)
    for gates, pattern, judge in _GATED if text.isascii() else _GATED + _GATED_CJK:
        if view.has(*gates):
            for match in pattern.finditer(low):
                left, right = match.span("v")
                if judge(text[left:right]):
                    yield left, right, "carrier"
    if view.has("code", "pin"):
        for match in _CODE.finditer(low):
            if _CODE_BEFORE.search(low[max(0, match.start() - 24) : match.start()]):
                yield *match.span("v"), "carrier"
    if "kty" in view.bag:
        for match in _JWK.finditer(text):
            yield *match.span("v"), "carrier"


def _anchored(text: str, name: Name) -> Iterator[Hit]:
    left, right, _, telling = name
    before = text[left - 1 : left]
    if before != " " or text[left - 2 : left - 1] in (":", "="):
        for after, needed, reach in _ANCHORED.get(before, ()):
            if needed.search(text[max(0, left - reach) : left]) is None:
                continue
            match = after.match(text, right)
            if match is not None:
                group = "v" if match["v"] is not None else "w"
                if _hidden(match[group], telling):
                    yield *match.span(group), "carrier"
    if "{" in text[right : right + 12]:
        yield from _nested(text, right, telling)
    if before in ("'", '"') and _NAMED_BEFORE.search(text[max(0, left - 32) : left]):
        floor = max(0, left - 560)
        match = _VALUE_BEFORE.search(text[floor:left])
        if match is not None and _hidden(match["v"], telling):
            yield floor + match.start("v"), floor + match.end("v"), "carrier"


def _nested(text: str, right: int, telling: int) -> Iterator[Hit]:
    """The value inside the object that belongs to the name."""
    head = _NESTED_HEAD.match(text, right)
    if head is None:
        return
    inside = _BRACE.split(text[head.end() : head.end() + _NESTED_MAX], maxsplit=1)[0]
    match = _NESTED_VALUE.search(inside)
    if match is not None and _hidden(match["v"], telling):
        yield head.end() + match.start("v"), head.end() + match.end("v"), "carrier"


def _session_pair(text: str, name: Name) -> Iterator[Hit]:
    """A recorded cookie: {"name": "session_id", "value": V, "httpOnly": true}."""
    if _NAMED_BEFORE.search(text[max(0, name.left - 32) : name.left]) is None:
        return
    match = _VALUE_AFTER.match(text, name.right)
    if match is not None and _COOKIE_TRAIT.search(text[match.end() : match.end() + 200]):
        group = "v" if match["v"] is not None else "w"
        if shapes.is_random(match[group][:400], 16):
            yield *match.span(group), "carrier"


def _hidden(value: str, telling: int) -> bool:
    grade = shapes.grade(value[:400])
    if shapes.is_uuid(value) or (grade == RANDOM and " " not in value):
        return True
    if grade != PHRASE or names_a_secret(value) or " " in value:
        return False
    if telling == STRONG:
        return any(c.isdigit() for c in value) or not shapes.is_worded(value)
    return len(value) >= 10 and any(c.isdigit() for c in value) and not shapes.is_worded(value)


def _handed(value: str) -> bool:
    return shapes.grade(value) >= PHRASE and not shapes.is_worded(value)


def _handed_surely(value: str) -> bool:
    return shapes.grade(value) >= PHRASE and (
        not shapes.is_worded(value) or sum(c.isdigit() for c in value) >= 2
    )


def _after_machine(value: str) -> bool:
    return shapes.grade(value) >= WORD or shapes.is_uuid(value)


def _typed(value: str) -> bool:
    """As typed at a prompt: letters with digits and a mark, or generated."""
    marks = any(c in "!@#$%^&*+~" for c in value)
    digits = any(c.isdigit() for c in value)
    return (
        shapes.grade(value) >= PHRASE
        and digits
        and (marks or shapes.is_random(value) or _mixed_words(value))
    )


def _mixed_words(value: str) -> bool:
    """`copper.Orbit72`: words of both cases, joined, with a number behind them."""
    joined = any(c in "._-" for c in value)
    return joined and value[-2:].isdigit() and any(c.isupper() for c in value) and len(value) >= 8


def _always(value: str) -> bool:
    return value != ""


_GATED = (
    (("auth", "credential", "login(", "signin(", "connect("), _TUPLE, _handed),
    (
        ("root", "admin", "sa'", 'sa"', "postgres", "system", "deploy", "guest"),
        _ACCOUNT,
        _handed_surely,
    ),
    (("bcrypt", "argon2", "scrypt", "passlib", "hasher", "pwd_context"), _HASHED, _handed_surely),
    (("machine",), _NETRC, _after_machine),
    (("password:", "passphrase"), _PROMPT, _typed),
    (("user", "login"), _USER_THEN, _typed),
)
_GATED_CJK = (
    (("验证码", "校验码", "动态"), _CODE_CJK, _always),
    (("密码", "口令"), _PROMPT, _typed),
    (("账号", "用户"), _USER_THEN, _typed),
)
