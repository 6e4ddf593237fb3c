"""R3: a telling name, a separator, a value. The most valuable rule, and the most dangerous one.

    export  DB_PASSWORD  =  "hunter…"
            ^name        ^separator  ^value

Find a keyword, widen it to the identifier, ask `keys` how telling it is, read the separator, take
the value, ask `shapes` what it looks like, and let the table `_ACCEPT` decide. The bounds on every
step (64 characters of name, 40 of space, 2,000 of value) keep the cost linear.
"""

import re
from collections.abc import Iterator

from .acceptance import APP_PASSWORD, Place
from .keys import KEY_BEFORE_IN_PROSE, MEDIUM, STRONG, WEAK
from .spans import Hit
from .vendors import wrapped
from .vetoes import vetoed
from .view import View

_VALUE_MAX = 2000
_BARE_MAX = 400  # what is looked at; an accepted value is then taken whole

_AFTER = re.compile(
    r"""(?x)
    (?P<close>\\{0,8}["'`]|\*\*|__)?[\])}]{0,2}
    (?:[ ](?:used|value|generated|created|received|returned|issued|obtained|found)(?=[ ]?[:=])
      |[ ](?:for|of|on)[ ][\w@.\-]{1,40}(?=[:：]))?
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
    (?:[ \t]{0,8}[|>][-+]?\d?[ \t]{0,8}\n)?[ \t]{0,40}(?:![\w/-]{1,30}[ ]{1,4})?
    (?:(?:new[ ])?(?:String(?:::from)?|SecretStr|Secret(?:String)?|Some|bytes|Buffer\.from|\[\]byte)
      \((?=["']))?
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
_WORD_BEFORE = re.compile(r"([A-Za-z]+)[ \t]\Z")
_SCHEME = re.compile(
    r"(?i)(?:bearer|basic|token|digest|api-?key|key|jwt|negotiate|pass|env|plain)[ :]{1,2}(?=\S)"
)


def find(view: View, loose: bool = False) -> Iterator[Hit]:
    """Yield the values that stand behind a telling name; `loose` is level 2."""
    text = view.text
    position = likely_to = 0
    for left, right, name, telling in view.names:
        if not telling or left < position:
            continue
        if telling == WEAK and _qualified(text, left, name):
            telling = MEDIUM
        hit = _value_of(text, left, right, name, telling, loose)
        if hit is None:
            continue
        start, end, quoted, sure = hit
        # A hit of level 2 alone must not hide one that level 1 finds inside it; but inside it no
        # second one of its kind is followed to its end, or a run of names would cost its square.
        if not sure and start < likely_to:
            continue
        end = end if quoted else _whole(text, start, end)
        position, likely_to = (end, likely_to) if sure else (position, end)
        yield start, end, "assignment"


def _qualified(text: str, left: int, name: str) -> bool:
    """`API key`, `private key`: the telling word stands before the name."""
    if name.lower() != "key":
        return False
    before = _WORD_BEFORE.search(text[max(0, left - 20) : left])
    return before is not None and before[1].lower() in KEY_BEFORE_IN_PROSE


def _value_of(
    text: str, left: int, right: int, name: str, telling: int, loose: bool
) -> tuple[int, int, bool, bool] | None:
    """Start and end of the value as far as it was looked at; whether it is quoted, and sure."""
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
        grouped = APP_PASSWORD.match(text, start)
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
    place = Place(text, left, name, how, bool(quote), bool(after["close"]), after.end(), end)
    sure = place.accepts(telling, value)
    if not sure and not (loose and place.is_likely(telling, value)):
        return None
    return start, end, bool(quote), sure


def _whole(text: str, start: int, end: int) -> int:
    """The end of a bare value beyond what was looked at, and over a line break."""
    if end - start >= _BARE_MAX - 8:
        whole = _BARE.match(text, start)
        end = whole.end() if whole is not None else end
    return wrapped(text, end)


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
