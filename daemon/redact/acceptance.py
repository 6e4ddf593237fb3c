"""Is the value behind a telling name a secret? One function for each way they can be separated.

    assign  =  :  :=  =>  ->        call   name("…")        comma  "name", "…"
    xml     <name>…</name>          table  name | …         space  --name …   name …
    prose   name is …   name to …   cjk    名为 …   名：…

The same value is a secret in one place and an identifier in another: `password=meadow31` in a
settings file, `password: meadow31` in an object of code. What tells them apart is the separator,
the quotes, the spelling of the name, and what follows on the line.
"""

import re
from typing import NamedTuple

from . import shapes
from .keys import MEDIUM, STRONG, WEAK, words_of
from .shapes import NOTHING, PHRASE, RANDOM
from .vetoes import names_a_secret

_FLAG = re.compile(r"--?[A-Za-z]")
_ALLCAPS = re.compile(r"[A-Z][A-Z0-9_]*")
_DIGITS = re.compile(r"\d{4,12}")
# Mail providers issue four groups of four letters.
APP_PASSWORD = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}")
_ASKING = re.compile(
    r"(?i)(?:get|read|load|fetch|prompt|hash|verify|check|validate|find|require|ask|is|has|parse|"
    r"generate|create|decode|encode|encrypt|decrypt|delete|remove|list|describe|env|getenv|lookup)"
)
_SETTING_BEFORE = re.compile(
    r"(?:^|[\s;&\"'`+])(?:setenv|env|arg|export|set|setx|-e)\s+\Z", re.IGNORECASE
)
_LINE_END = re.compile(r"[ \t]*(?:\r?\n|\\+n|\Z|[，。；、,;](?:\s|\Z)|#|[\"'`]\s*(?:\n|\Z))")
_HEX_PIECE = re.compile(r"(?<![A-Za-z0-9])[0-9a-f]{12,}(?![A-Za-z0-9])")
_PASSWORDLIKE = (
    "pass", "pwd", "pword", "口令", "密码", "密碼", "パスワード", "비밀번호",
    "пароль", "senha", "contrase", "kennwort",
)  # fmt: skip
_CODES = ("otp", "totp", "pin", "mfa", "2fa")


class Place(NamedTuple):
    """What surrounds one value. `after`: where the separator ended; `end`: where the value does."""

    text: str
    left: int
    name: str
    how: str
    quoted: bool
    name_quoted: bool
    after: int
    end: int

    def accepts(self, telling: int, value: str) -> bool:
        """Whether the value is a secret here."""
        grade = shapes.grade(value[:400])
        if grade == NOTHING:
            return telling == STRONG and self._number(value)
        if shapes.is_uuid(value):
            return telling >= MEDIUM and self.how in ("assign", "xml", "call", "cjk")
        if names_a_secret(value):
            return False
        return _ACCEPT[self.how](self, telling, grade, value)

    def _number(self, value: str) -> bool:
        """Digits alone are a secret under a name for a password or a one-time code."""
        if not _DIGITS.fullmatch(value) or self.how not in ("assign", "cjk", "space"):
            return False
        if self.how == "space" and not self._flag():
            return False
        words = words_of(self.name)
        coded = any(w in _CODES or w.startswith(_PASSWORDLIKE) for w in words)
        return coded and words != ["pass"]

    def is_likely(self, telling: int, value: str) -> bool:
        """Level 2 would rather mask: a strong name, a value set apart from code."""
        grade = shapes.grade(value[:400])
        if (
            grade == NOTHING
            or " " in value
            or names_a_secret(value)
            or self.how not in ("assign", "cjk", "xml", "call", "prose")
        ):
            return False
        if telling == MEDIUM:
            return grade >= PHRASE and len(value) >= 8 and not shapes.is_worded(value)
        apart = self.quoted or self._tight() or self._closes_line()
        return telling == STRONG and self._passwordlike() and apart and len(value) >= 6

    def _passwordlike(self) -> bool:
        low = self.name.lower()
        return any(part in low for part in _PASSWORDLIKE)

    def _flag(self) -> bool:
        return _FLAG.match(self.name) is not None

    def _env_style(self) -> bool:
        """`NAME=value` with the whole name in capitals: a shell or an env file, not code."""
        return bool(_ALLCAPS.fullmatch(self.name)) and self.text[self.after - 1] == "="

    def _tight(self) -> bool:
        """`name=value` without a space, as in files and connection strings."""
        at = self.after
        return self.text[at - 1] == "=" and self.text[at - 2 : at - 1] not in ("=", " ", "!")

    def _closes_line(self) -> bool:
        """Nothing of the sentence or the expression follows."""
        return _LINE_END.match(self.text, self.end) is not None

    def _human(self, value: str) -> bool:
        """Words with a number: a password where the place leaves no doubt, else an identifier."""
        digits = sum(c.isdigit() for c in value)
        if digits == 0:
            return False
        if self.quoted or self._env_style() or self._flag():
            return True
        if not self._passwordlike() or len(value) < 8:
            return False
        return self._tight() or (digits >= 2 and self._closes_line())

    def _assign(self, telling: int, grade: int, value: str) -> bool:
        if telling == STRONG:
            if grade < PHRASE:
                return self._word(value)
            sure = grade == RANDOM or not shapes.is_worded(value) or self._human(value)
            return len(value) >= 5 and sure
        if telling == MEDIUM:
            if grade == RANDOM:
                return len(value) >= 8
            return self._short_token(value)
        if self.name.lower().endswith("pass"):
            return (
                (self.quoted or self._tight()) and len(value) >= 6 and self._human_or_marked(value)
            )
        return telling == WEAK and (_dense(value) or shapes.is_base64_pair(value))

    def _short_token(self, value: str) -> bool:
        return (
            shapes.grade(value[:400]) == PHRASE
            and len(value) >= 10
            and not shapes.is_worded(value)
            and (self.quoted or self._env_style())
            and " " not in value
            and any(c.isdigit() for c in value)
        )

    def _human_or_marked(self, value: str) -> bool:
        digits = sum(c.isdigit() for c in value)
        return digits >= 2 and any(c.isalpha() for c in value) and " " not in value

    def _word(self, value: str) -> bool:
        """Letters only. A password in an env file or a literal; a variable anywhere else."""
        if len(value) < 6 or not self._passwordlike():
            return False
        if APP_PASSWORD.fullmatch(value):
            return True
        if " " in value:
            return "phrase" in self.name.lower() and self.quoted and 1 <= value.count(" ") < 24
        if self._env_style() or (self._flag() and self.text[self.after - 1] == "="):
            return not value.isupper()
        return False

    def _prose(self, telling: int, grade: int, value: str) -> bool:
        if telling == STRONG and self._passwordlike():
            if grade < PHRASE:
                return False
            return not shapes.is_worded(value) or (self.how == "cjk" and self._human(value))
        return telling >= MEDIUM and grade == RANDOM and len(value) >= 12

    def _table(self, telling: int, grade: int, value: str) -> bool:
        if telling == STRONG:
            named = self.name.isupper() and "_" in self.name and any(c.isdigit() for c in value)
            return grade == RANDOM or (
                grade == PHRASE and (named or self.quoted or not shapes.is_worded(value))
            )
        return telling == MEDIUM and grade == RANDOM and len(value) >= 8

    def _xml(self, telling: int, grade: int, value: str) -> bool:
        tag = self.text[self.left - 1 : self.left] == "<" or self.name_quoted
        return tag and self._assign(telling, grade, value)

    def _call(self, telling: int, grade: int, value: str) -> bool:
        if not self.quoted or _ASKING.match(self.name):
            return False
        return self._table(telling, grade, value)

    def _comma(self, telling: int, grade: int, value: str) -> bool:
        both = self.quoted and self.name_quoted and " " not in value
        return both and self._table(telling, grade, value)

    def _space(self, telling: int, grade: int, value: str) -> bool:
        if self._flag():
            if telling == STRONG:
                return grade >= PHRASE
            short = grade == PHRASE and len(value) >= 8 and not shapes.is_worded(value)
            return telling == MEDIUM and (grade == RANDOM or short)
        if telling == STRONG and self._passwordlike():
            if self.quoted:
                many = " " in value and "phrase" in self.name.lower()
                return many or (grade >= PHRASE and " " not in value)
            return (
                phrased(value)
                or (grade == RANDOM and len(value) >= 10)
                or (grade == PHRASE and self._set_here(value))
            )
        named = "_" in self.name or "-" in self.name or self.name.isupper()
        return named and telling >= MEDIUM and grade == RANDOM and len(value) >= 16

    def _set_here(self, value: str) -> bool:
        """`setenv DB_PASSWORD …`, and names in a script that writes no spaces around words."""
        digits = sum(c.isdigit() for c in value)
        if digits < 2 or len(value) < 8:
            return False
        if not self.name.isascii():
            return self._closes_line()
        return _SETTING_BEFORE.search(self.text[max(0, self.left - 16) : self.left]) is not None


def phrased(value: str) -> bool:
    """A human password that is unlikely to be a word of a sentence: letters, digits and a mark."""
    return (
        6 <= len(value) <= 64
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and any(c in "!@#$%^&*+~" for c in value)
    )


def _dense(value: str) -> bool:
    """For the weakest names (`key`, `auth`): long, mixed case, digits, and no identifier."""
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
    "assign": Place._assign,  # pyright: ignore[reportPrivateUsage]
    "prose": Place._prose,  # pyright: ignore[reportPrivateUsage]
    "cjk": Place._prose,  # pyright: ignore[reportPrivateUsage]
    "table": Place._table,  # pyright: ignore[reportPrivateUsage]
    "xml": Place._xml,  # pyright: ignore[reportPrivateUsage]
    "call": Place._call,  # pyright: ignore[reportPrivateUsage]
    "comma": Place._comma,  # pyright: ignore[reportPrivateUsage]
    "space": Place._space,  # pyright: ignore[reportPrivateUsage]
}
