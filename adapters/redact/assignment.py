"""R3: a telling name, a separator, a value. The most valuable rule, and the most dangerous one.

    export  DB_PASSWORD  =  "hunter…"
            ^name        ^separator  ^value

Find a keyword, widen it to the identifier, ask `keys` how telling it is, read the separator, take
the value, ask `shapes` what it looks like, and let the table `_ACCEPT` decide. The bounds on every
step (64 characters of name, 40 of space, 2,000 of value) keep the cost linear.
"""

import re
from collections.abc import Iterator

from . import shapes
from .keys import MEDIUM, STRONG, WEAK, words_of
from .shapes import NOTHING, PHRASE, RANDOM, WORD
from .spans import Hit
from .vendors import wrapped
from .vetoes import names_a_secret, vetoed
from .view import View

_VALUE_MAX = 2000
_BARE_MAX = 400  # what is looked at; an accepted value is then taken whole

_AFTER = re.compile(
    r"""(?x)
    (?P<close>\\{0,8}["'`]|\*\*|__)?[\])}]{0,2}
    (?:[ \t]{0,8}(?::[ \t]{0,8})?                                      # a declared type
      (?:&(?:'static[ ])?str|(?:Optional|Final)\[\w{1,12}\]|(?:const[ ])?char[ ]?\*|std::string
        |[Ss]tr(?:ing)?|SecretStr|NSString[ ]?\*?|text|any|bytes|\[\]byte)\??(?=[ \t]{0,8}=))?
    [ \t]{0,40}
    (?: (?P<assign>=>|:=|\?=|\+=|={1,3}|!={1,2}|->|[：＝]|:(?![:/]))
      | (?P<cjk>的?(?:值|内容|內容)?[ \t]{0,4}
          (?:设置为|设为|改为|改成|应为|就是|为|是|為|等于|は|が|는|은|입니다)[ \t]{0,4}[:：]?)
      | (?P<prose>(?<=[ \t])(?:is|was|are|of|to|equals?|ist|es|est|será|changed[ ]to|set[ ]to|as)
          (?:[ ](?:now|set[ ]to|still|currently))?[ ]?:?(?=[ \t"'`]))
      | (?P<table>[|│┃║])
      | (?P<xml>>)
      | (?P<call>\()
      | (?P<comma>,)
      | (?P<space>(?<=[ \t]))
    )
    """
)
_OPEN = re.compile(
    r"""(?x)
    (?:[|>][-+]?\d?[ \t]{0,8}\n)?[ \t]{0,40}
    (?:(?:[bBrRfFuU]{1,2}|@|\$)(?=["']))?
    (?P<quote>\\{0,8}(?:\"\"\"|'''|["'`])|[“「『‘])?
    """
)
_CLOSING = {"“": "”", "「": "」", "『": "』", "‘": "’"}
_PLAIN_QUOTED = {
    q: re.compile(rf"(?:[^{q}\\\n]|\\[^\n]){{0,{_VALUE_MAX}}}") for q in ('"', "'", "`")
}
_BARE = re.compile(
    r"""(?x)
    (?: [^\s"'`<>|,;)\]}\\&，。；、）】」\u3000]++
      | \\(?![nrt"'\\u])
      | [,;)\]}&](?![\s"'`,;)\]}&\\]|\Z|[\w.$-]{1,40}[ ]?[=:])
    )++
    """
)
_SCHEME = re.compile(
    r"(?i)(?:bearer|basic|token|digest|api-?key|key|jwt|negotiate|pass|env|plain)[ :]{1,2}(?=\S)"
)
_FLAG = re.compile(r"--?[A-Za-z]")
_DIGITS = re.compile(r"\d{4,12}")
_ALLCAPS = re.compile(r"[A-Z][A-Z0-9_]*")
_ASKING = re.compile(
    r"(?i)(?:get|read|load|fetch|prompt|hash|verify|check|validate|find|require|ask|is|has|parse|"
    r"generate|create|decode|encode|encrypt|decrypt|delete|remove|list|describe|env|getenv|lookup)"
)
# Mail providers issue four groups of four letters.
_APP_PASSWORD = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}")
_HEX_PIECE = re.compile(r"(?<![A-Za-z0-9])[0-9a-f]{12,}(?![A-Za-z0-9])")
_PASSWORDLIKE = ("pass", "pwd", "pword", "口令", "密码", "密碼", "パスワード", "비밀번호", "пароль")


def find(view: View) -> Iterator[Hit]:
    """Yield the values that stand behind a telling name."""
    text, position = view.text, 0
    for left, right, name, telling in view.names:
        if not telling or left < position:
            continue
        hit = _value_of(text, left, right, name, telling)
        if hit is not None:
            position = hit[1]
            yield (*hit, "assignment")


def _value_of(text: str, left: int, right: int, name: str, telling: int) -> tuple[int, int] | None:
    after = _AFTER.match(text, right)
    if after is None or after.lastgroup is None:
        return None
    how = after.lastgroup
    if how == "close":  # a quoted name and nothing that separates
        return None
    opened = _OPEN.match(text, after.end())
    assert opened is not None  # every part of it is optional
    start, quote = opened.end(), opened["quote"]
    end = _end_of(text, start, quote)
    if end is None:
        quote, end = None, _bare_end(text, start)
        grouped = _APP_PASSWORD.match(text, start)
        if grouped is not None and telling == STRONG:
            end = grouped.end()
    value = text[start:end]
    scheme = _SCHEME.match(text, start)
    if scheme is not None and scheme.end() <= end + 1:
        start = scheme.end()
        end = end if quote and end > start else _bare_end(text, start)
        value, telling = text[start:end], max(telling, MEDIUM)
    if not value or vetoed(text, left, name, value):
        return None
    seen = _Seen(text, left, name, how, bool(quote), bool(after["close"]), after.end())
    if not seen.accepts(telling, value):
        return None
    if quote:
        return start, end
    if end - start >= _BARE_MAX - 8:
        whole = _BARE.match(text, start)
        end = whole.end() if whole is not None else end
    return start, wrapped(text, end)


def _end_of(text: str, start: int, quote: str | None) -> int | None:
    """Where the quoted value ends; None if it is not quoted or the quote never closes."""
    if not quote:
        return None
    pattern = _PLAIN_QUOTED.get(quote)
    if pattern is not None:
        match = pattern.match(text, start)
        end = match.end() if match else start
        return end if text.startswith(quote, end) else None
    end = text.find(_CLOSING.get(quote, quote), start, start + _VALUE_MAX)
    return None if end < 0 or ("\n" in text[start:end] and len(quote) < 3) else end


def _bare_end(text: str, start: int) -> int:
    match = _BARE.match(text, start, start + _BARE_MAX)
    if match is None:
        return start
    end = match.end()
    while end > start and text[end - 1] in ".,:;":
        end -= 1
    return end


class _Seen:
    """What surrounds one value: how it is separated, whether it is quoted, what it is called."""

    __slots__ = ("after_at", "how", "left", "name", "name_quoted", "quoted", "text")

    def __init__(
        self, text: str, left: int, name: str, how: str, quoted: bool, name_quoted: bool, at: int
    ) -> None:
        self.text, self.left, self.name, self.how = text, left, name, how
        self.quoted, self.name_quoted, self.after_at = quoted, name_quoted, at

    def accepts(self, telling: int, value: str) -> bool:
        grade = shapes.grade(value[:400])
        if grade == NOTHING:
            return telling == STRONG and self._code_number(value)
        if shapes.is_uuid(value):
            return telling >= MEDIUM and self.how in ("assign", "xml", "call", "cjk")
        if names_a_secret(value):
            return False
        return _ACCEPT[self.how](self, telling, grade, value)

    def _code_number(self, value: str) -> bool:
        """Digits alone are a secret under a name for a password or a one-time code."""
        if not _DIGITS.fullmatch(value) or self.how not in ("assign", "cjk", "space"):
            return False
        words = words_of(self.name)
        if self.how == "space" and not _FLAG.match(self.name):
            return False
        return any(
            w in ("otp", "totp", "pin", "mfa", "2fa") or w.startswith(_PASSWORDLIKE) for w in words
        ) and (words != ["pass"] and len(value) >= 4)

    def passwordlike(self) -> bool:
        return any(part in self.name.lower() for part in _PASSWORDLIKE)

    def env_style(self) -> bool:
        """`NAME=value` with the whole name in capitals: a shell or an env file, not code."""
        return bool(_ALLCAPS.fullmatch(self.name)) and self.text[self.after_at - 1] == "="

    def assign(self, telling: int, grade: int, value: str) -> bool:
        length = len(value)
        if telling == STRONG:
            if grade >= PHRASE:
                return length >= 5 and (
                    grade == RANDOM or not shapes.is_worded(value) or self._certain(value)
                )
            return self._word(value)
        if telling == MEDIUM:
            if grade == RANDOM:
                return length >= 8
            return (
                grade == PHRASE
                and length >= 10
                and not shapes.is_worded(value)
                and (self.quoted or self.env_style())
                and " " not in value
                and any(c.isdigit() for c in value)
            )
        return telling == WEAK and (_dense(value) or shapes.is_base64_pair(value))

    def _certain(self, value: str) -> bool:
        """Words with a number: a password where the place leaves no doubt, else an identifier."""
        if not any(c.isdigit() for c in value):
            return False
        return (
            self.quoted
            or self.env_style()
            or bool(_FLAG.match(self.name))
            or (self.passwordlike() and self._tight() and len(value) >= 8)
        )

    def _tight(self) -> bool:
        """`name=value` without a space, as in files and connection strings."""
        at = self.after_at
        return self.text[at - 1] == "=" and self.text[at - 2 : at - 1] not in ("=", " ", "!")

    def _word(self, value: str) -> bool:
        """Letters only. A password in an env file or a literal; a variable anywhere else."""
        if len(value) < 6 or not self.passwordlike():
            return False
        if _APP_PASSWORD.fullmatch(value):
            return True
        if " " in value:
            return "phrase" in self.name.lower() and self.quoted and 2 <= value.count(" ") + 1 <= 24
        if self.env_style() or (_FLAG.match(self.name) and self.text[self.after_at - 1] == "="):
            return value.islower() or not value.isupper()
        return False

    def prose(self, telling: int, grade: int, value: str) -> bool:
        if telling == STRONG and self.passwordlike():
            return grade >= PHRASE and not shapes.is_worded(value)
        return telling >= MEDIUM and grade == RANDOM and len(value) >= 12

    def table(self, telling: int, grade: int, value: str) -> bool:
        if telling == STRONG:
            named = self.name.isupper() and "_" in self.name and any(c.isdigit() for c in value)
            return grade == RANDOM or (grade == PHRASE and (named or not shapes.is_worded(value)))
        return telling == MEDIUM and grade == RANDOM and len(value) >= 8

    def xml(self, telling: int, grade: int, value: str) -> bool:
        tag = self.text[self.left - 1 : self.left] == "<" or self.name_quoted
        return tag and self.assign(telling, grade, value)

    def call(self, telling: int, grade: int, value: str) -> bool:
        if not self.quoted or _ASKING.match(self.name):
            return False
        return self.table(telling, grade, value)

    def comma(self, telling: int, grade: int, value: str) -> bool:
        return self.quoted and self.name_quoted and self.table(telling, grade, value)

    def space(self, telling: int, grade: int, value: str) -> bool:
        if _FLAG.match(self.name):
            if telling == STRONG:
                return grade >= PHRASE
            return telling == MEDIUM and (
                grade == RANDOM
                or (grade == PHRASE and len(value) >= 8 and not shapes.is_worded(value))
            )
        if telling == STRONG and self.passwordlike():
            if self.quoted:
                many = " " in value and "phrase" in self.name.lower()
                return many or (
                    grade >= PHRASE and " " not in value and not shapes.is_worded(value)
                )
            return phrased(value) or (grade == RANDOM and len(value) >= 10)
        named = "_" in self.name or "-" in self.name or self.name.isupper()
        return named and telling >= MEDIUM and grade == RANDOM and len(value) >= 16


def phrased(value: str) -> bool:
    """A human password that is unlikely to be a word of a sentence: letters, digits and a mark."""
    return (
        6 <= len(value) <= 64
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and any(c in "!@#$%^&*+~" for c in value)
    )


def _dense(value: str) -> bool:
    """For the weakest names (`key`, `auth`): long, mixed case, digits, and no identifier in sigh"
    "t."""
    return (
        len(value) >= 24
        and any(c.isupper() for c in value)
        and any(c.islower() for c in value)
        and sum(c.isdigit() for c in value) >= 3
        and not shapes.is_worded(value)
        and "/" not in value[:2]
        and shapes.is_random(value, 20)
        and not _HEX_PIECE.search(value)
    )


_ACCEPT = {
    how: getattr(_Seen, how)
    for how in ("assign", "prose", "table", "xml", "call", "comma", "space")
} | {"cjk": _Seen.prose}

__all__ = ["WORD", "find", "phrased"]
