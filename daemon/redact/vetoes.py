"""What looks like a secret's assignment and is none. Precision is decided here.

Each veto was found on real sessions: test reports (`--- PASS: TestX`), code that hands a variable
on, translations, form fields. A veto looks at the place and the name, `shapes.grade` at the value.
"""

import re

from .keys import words_of
from .words import words

_SECRET_WORDS = words(
    "password passwd passphrase pwd secret secrets token tokens key keys credential "
    "credentials auth hash hashed apikey cookie session jwt bearer login user username "
    "authorization oauth 密码 口令 密钥 令牌"
)
_BEFORE = re.compile(
    r"(?:--- |=== |\b(?:type|import|from|class|def|func|function|interface)[ \t])\Z"
)
_COMPARED = re.compile(r"\b(?:typeof|instanceof)\s*\Z")


def names_a_secret(value: str) -> bool:
    """`password: hashedPassword2`, `token=newToken`: the value is a name itself."""
    if any(c in value for c in "!@#$%^&*+/=~?"):
        return False
    words = words_of(value)
    longest = max((len(w) for w in words), default=0)
    return (
        0 < len(words) <= 6
        and any(w in _SECRET_WORDS for w in words)
        and all(len(w) <= 2 for w in words if w.isdigit())
        and longest > 2
        and sum(w.isdigit() for w in words) <= 1
    )


def vetoed(text: str, left: int, name: str, value: str) -> bool:
    """Whether the place where the name stands rules out a secret."""
    before = text[max(0, left - 12) : left]
    if _BEFORE.search(before) or _COMPARED.search(before):
        return True
    if value.startswith(("http://", "https://", "//")):
        return True
    # `data-token-id="…"`, `token.type = "…"`: the value belongs to the last word.
    return name.endswith((".id", ".type", ".name", ".length", ".kind", ".test"))
