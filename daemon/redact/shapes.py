"""What a string looks like, asked without context: random, worded, an expression, a placeholder.

Pure functions over one short string. No rule decides here; rules ask here. `grade` is the
summary the assignment rules use:

    0 NOTHING   no secret whatever its name: placeholder, expression, path, type, date, version
    1 WORD      letters only, as a sentence or an identifier has them
    2 PHRASE    letters with digits or marks, as people make passwords
    3 RANDOM    as a generator makes them
"""

import binascii
import math
import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise

from .spans import MASK

NOTHING, WORD, PHRASE, RANDOM = range(4)

_PLACEHOLDER = re.compile(
    r"""(?ix)
    [*x.•…#_\-=?]+ | [0•*]{4,}                                       # blanked out
  | <[^>]{0,80}>? | \[[^\]]{0,80}\]? | \{[^}]{0,80}\}?  # <here>, [here], {here}
  | \{\{.* | \$\{.* | \$\(.* | \$\{?\w{1,80}\}? | %\w{1,40}%? | @\w{1,40}@ | \#\{.* # interpolated
  | (?:your|my|the|an?|insert|enter|add|put|use|some|any|new|old|this|our|its?)[-_ ].{0,80}
  | (?:example|sample|dummy|fake|mock|placeholder|redacted|masked|hidden|filtered|removed|sanitized
      |change[-_ ]?(?:me|it|this)|replace[-_ ]?(?:me|this|with)?|todo|tbd|fixme|none|null|nil
      |undefined|true|false|empty|unset|not[-_ ]?set|missing|invalid|unknown|default|required
      |optional|n/a|nan)(?:[-_ .!,;:].{0,40}|\d{0,2})
  | (?:x{4,}|\*{3,}|\.{3,}|_{3,}).{0,60} | .{0,12}(?:\*{3,}|x{6,}|X{6,}|…|•{3,}|\.{3})
  | (?:user|pass|passwd|password|pwd|secret|token|key|api[-_ ]?key|auth|foo|bar|baz|test)\d{0,1}
  | abc(?:123|def)? | 1234?5?6?7?8?9?0? | (.)\1{3,}
    """
)
# Types and algorithm names carry digits like a password does.
_TERM = re.compile(
    r"""(?ix)
    (?:u?int|float|utf|iso|sha|md|base|hs|rs|es|ps|aes|rc|crc|varchar|char|nvarchar|x|ed|curve|web
      |oauth|http|ipv|win|argon|pbkdf|scrypt|bcrypt|blake|ripemd|sm|gb|cp|big|k8s|s3|ec2|ssl|tls
      |v|h|p|t|n|e|test|user|key|step|part|page|phase|line|col|row|item|node|level|type|case|fig
      |gpt|claude|gemini|llama|qwen|o)
    [-_.]?\d{1,4}[a-z]{0,3}(?:[-_./]\w{1,24}){0,4}
    """
)
_EXPRESSION = re.compile(
    r"""(?x)
    [A-Za-z_$][\w$]*(?:(?:\.|\?\.|::|->)[A-Za-z_$][\w$]*)+(?<!\d\d)[!?;,:]*  # a.b, a::b, a->b
  | [A-Za-z_$][\w$.:<>]*[(\[].*                                    # call( subscript[
  | [!&*-]?[A-Za-z_$]+[!?]                                          # ident!
  | .*(?:=>|\(\)|\+\+|&&|\|\||===|!==|\?\?|\)\[|\]\(|\[\^|\\[bdswBDSW]).*
  | [({\[].* | .*[)}\]>][;,)]*
  | [-+\d.,:%/ eExX_]+(?:ms|s|px|em|rem|kb|mb|gb|k|m|%|h|d|min)?     # numbers, dates, sizes
  | \d{1,4}[-/.T:]\d{1,2}[-/.T:]\d.*                                # dates
  | v?\d+(?:\.\d+)+(?:[-+.]\w+)*                                    # versions
    """
)
_PATH = re.compile(
    r"""(?x)
    (?:\.{1,2}|~|[A-Za-z]:)?[/\\](?:[\w.@{}$*~ -]+[/\\])*[\w.@{}$*~ -]*   # /a/b, ./a, C:\a
  | (?:[\w.@-]{1,24}/){1,12}[\w.@-]*\.[A-Za-z]{1,5}\d?                # a/b.c
  | [\w-]+(?:\.[\w-]+)*\.(?:py|js|mjs|cjs|ts|tsx|jsx|json|ya?ml|toml|md|txt|rs|go|java|rb|php|sh
      |html?|css|svg|png|jpe?g|gif|lock|cfg|ini|log|c|h|cpp|hpp|cs|kt|swift|sql|xml|csv|pem|key
      |crt|cer|pub|env|example|com|org|net|io|dev|internal|local|test|app)
  | [a-z][a-z0-9+.-]{1,20}:// .* | (?:data|file|urn|arn|sha\d{1,3}|md5|blob):.*
  | \#[0-9A-Fa-f]{3,8} | 0x[0-9a-fA-F]{1,16} | [\w.+-]+@[\w-]+(?:\.[\w-]+)+
    """
)
# A sentence, not a password; and text between two strings, not in one (`"token: "+q);x="`).
_CJK = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af].*[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_INVERTED = re.compile(r"\+\s*[\w$.]+[;),\[(]|[),;:\]}]\s*[\w$(]+\W|\s")
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_HEX = re.compile(r"(?i)[0-9a-f]+")
_PIECES = re.compile(r"[A-Za-z0-9]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def entropy(token: str) -> float:
    """Shannon entropy in bits per character."""
    length = len(token)
    return -sum(n / length * math.log2(n / length) for n in Counter(token).values())


def _turns(piece: str) -> int:
    """How often the class of character changes; Capitalised and camelCase words turn seldom."""
    kinds = [0 if c.islower() else 1 if c.isupper() else 2 for c in piece]
    return sum(
        a != b and not (a == 1 and b == 0 and (i == 0 or kinds[i - 1] == 0))
        for i, (a, b) in enumerate(pairwise(kinds))
    )


@lru_cache(16384)
def is_random(token: str, least: int = 8) -> bool:
    """Whether a piece of `token` (cut at marks), `least` or more characters, looks generated."""
    return any(_random_piece(p) for p in _PIECES.findall(token) if len(p) >= least)


def _random_piece(piece: str) -> bool:
    length = len(piece)
    digits = sum(c.isdigit() for c in piece)
    letters = length - digits
    if _HEX.fullmatch(piece):
        return length >= 16 and digits >= 2 and letters >= 2 and len(set(piece)) >= 6
    turns = _turns(piece)
    if letters == 0:
        return False
    if digits == 0:
        return length >= 10 and (
            (length >= 12 and turns >= length * 0.25 and entropy(piece) > 2.8)
            or (turns > 0 and _vowels(piece) < length * 0.2)
        )
    mixed = any(c.islower() for c in piece) and any(c.isupper() for c in piece)
    if mixed:
        return turns >= max(3, length * 0.25) and entropy(piece) > 2.5
    return digits >= 2 and turns >= max(3, length * 0.2) and entropy(piece) > 2.5


def _vowels(piece: str) -> float:
    return sum(1.0 if c in "aeiouAEIOU" else 0.5 if c in "yY" else 0.0 for c in piece)


def is_uuid(token: str) -> bool:
    """Whether the token is a UUID: an identifier unless its name says otherwise."""
    return _UUID.fullmatch(token) is not None


def is_placeholder(value: str) -> bool:
    """`***`, `<password>`, `${DB_PASS}`, `changeme`: stands where a secret would."""
    return _PLACEHOLDER.fullmatch(value) is not None


def is_base64_pair(value: str) -> bool:
    """Whether the token is base64 of `user:password`; short ones look like a word."""
    body = value.rstrip("=")
    if not 8 <= len(body) <= 1024:
        return False
    try:
        plain = binascii.a2b_base64(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        return False
    return len(plain) >= 6 and b":" in plain[1:-1] and all(32 <= b < 127 for b in plain)


def is_worded(token: str) -> bool:
    """Whether the token is words joined by marks or camelCase, with at most a short number."""
    pieces = [w for p in _PIECES.findall(token) for w in _CAMEL.findall(p)]
    if not pieces or any(c in token for c in "!@#$%^&*+~"):
        return False
    words = [w for w in pieces if not w.isdigit()]
    return all(len(w) <= 2 for w in pieces if w.isdigit()) and bool(words) and len(words) <= 12


@lru_cache(16384)
def grade(value: str) -> int:
    """Grade a value, see the head of this file. `value` is at most a few hundred characters."""
    bare = MASK.sub("", value)
    if bare != value:
        # Beside a mask only a longer rest is worth another look.
        return NOTHING if len(bare) < 5 else grade(bare)
    if len(value) < 4 or _PLACEHOLDER.fullmatch(value) or _TERM.fullmatch(value):
        return NOTHING
    if _CJK.search(value) or _INVERTED.match(value):
        return NOTHING
    if value.endswith("!") and is_random(value[:-1]):
        return RANDOM
    if _EXPRESSION.fullmatch(value) or _PATH.fullmatch(value):
        return RANDOM if _random_despite(value) else NOTHING
    if is_random(value):
        return RANDOM
    if not any(c.isdigit() for c in value) and not any(c in value for c in "!@#$%^&*+~?"):
        return WORD
    if not any(c.isalpha() for c in value):
        return NOTHING
    return PHRASE


def _random_despite(value: str) -> bool:
    """Base64 may look like a path, a key like a call: long and dense text is a secret still."""
    longest = max(_PIECES.findall(value), key=len, default="")
    dense = len(value) >= 20 and sum(c.isalnum() for c in value) >= 0.85 * len(value)
    return dense and len(longest) >= 8 and is_random(longest) and " " not in value
