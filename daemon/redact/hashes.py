"""R11: password hashes, one-time-password seeds, seed phrases, password files, wallet keys."""

import re
from collections.abc import Iterator

from . import shapes
from .shapes import PHRASE, RANDOM
from .spans import Hit
from .view import View
from .words import words

_CRYPT = re.compile(
    r"\$(?:2[abxy]?\$\d\d\$[./A-Za-z0-9]{20,}|(?:1|5|6|7|y|gy|apr1|sha1|md5|P|H|"
    r"S)\$(?:rounds=\d+\$)?[./A-Za-z0-9$]{16,}"
    r"|argon2(?:id|i|d)\$[^\s\"'`:]{20,}|scrypt\$[^\s\"'`:,]{20,}|pbkdf2[\w-]*\$[^\s\"'`:,]{20,}|"
    r"bcrypt-sha256\$[^\s\"'`:]{20,})"
)
_NAMED = re.compile(
    r"\b(?:pbkdf2_sha\d+|pbkdf2:sha\d+|scrypt:\d+|argon2\$argon2\w*|bcrypt(?:_sha256)?\$|md5\$|"
    r"sha1\$|pbkdf2-sha\d+)[:$][^\s\"'`,;]{20,}"
    r"|\{(?:SSHA\d*|SHA\d*|SMD5|CRYPT|MD5|ARGON2|PBKDF2[\w-]*)\}[A-Za-z0-9+/=$.]{16,}"
    r"|\bSCRAM-SHA-(?:1|256)\$\d+:[^\s\"']{20,}"
)
_NAMED_GATES = (
    "pbkdf2", "scrypt:", "argon2$", "bcrypt", "md5$", "sha1$", "{ssha", "{sha", "{smd5", "{crypt",
    "{md5", "{argon2", "scram-sha",
)  # fmt: skip
_NTLM = re.compile(r"(?<![\w:])[\w.$@\\-]{1,64}:\d{1,8}:([0-9a-fA-F]{32}:[0-9a-fA-F]{32})(?=:)")
_OTPAUTH = re.compile(
    r"otpauth(?:-migration)?://[^\s\"'<>]{0,300}?[?&](?:secret|data)=([A-Za-z0-9%+/=_\-]{8,})"
)
_PGPASS = re.compile(
    r"(?m)^[\w.*\-]{1,80}:(?:\d{2,5}|\*):[\w*\-]{1,64}:[\w*.@\-]{1,64}:(\S{3,200})$"
)
_PHRASE = re.compile(
    r"(?:mnemonic|seed(?:[ _-]?(?:phrase|words?))?|(?:recovery|secret|backup|"
    r"wallet)[ _-]?(?:phrase|words?|seed)|"
    r"bip[- ]?39|助记词|助記詞|恢复短语)[^\n]{0,40}?[:=\s\"'「“](?:\d{1,2}[.)] ?)?"
    r"([a-z]{3,8}(?:(?:,? |\n| \d{1,2}[.)] ?)[a-z]{3,8}){11,23})\b"
)
_PLAIN_PHRASE = re.compile(
    r"(?m)(?:^|[\"'`:>=]\s{0,2})((?:[a-z]{3,8} ){11}(?:(?:[a-z]{3,8} ){12})?[a-z]{3,8})(?=\s*(?:$"
    r"|[\"'`]))"
)
_PHRASE_GATES = (
    "mnemonic", "seed", "phrase", "bip39", "bip-39", "wallet", "助记词", "助記詞", "恢复短语",
)  # fmt: skip
_WALLET = re.compile(r"0x[0-9a-f]{64}(?![0-9a-f])")
_WALLET_BEFORE = re.compile(r"(?:priv|secret|signer|deployer|wallet|mnemonic|\bpk\b)[^\n]{0,40}\Z")
# Endings of ordinary English that no word of a seed phrase list shares with a sentence.
_STOP = words("the and for with that this from are was were has have not you your can will its")


def find(view: View) -> Iterator[Hit]:
    """Yield hashes and seeds that are worth as much as the secret itself."""
    text, low = view.text, view.low
    if "$" in view.bag:
        for match in _CRYPT.finditer(text):
            if any(c.isdigit() for c in match[0][4:]):
                yield *match.span(), "hash"
    if view.has(*_NAMED_GATES):
        for match in _NAMED.finditer(text):
            yield *match.span(), "hash"
    if ":::" in view.bag:
        for match in _NTLM.finditer(text):
            yield *match.span(1), "hash"
    if "otpauth" in view.bag:
        for match in _OTPAUTH.finditer(text):
            yield *match.span(1), "hash"
    if view.dense.count(":") >= 4:
        for match in _PGPASS.finditer(text):
            value = match[1]
            grade = shapes.grade(value[:200])
            if grade == RANDOM or (grade >= PHRASE and not shapes.is_worded(value)):
                yield *match.span(1), "hash"
    if view.has(*_PHRASE_GATES):
        for match in _PHRASE.finditer(low):
            yield *match.span(1), "hash"
        for match in _PLAIN_PHRASE.finditer(text):
            words = match[1].split()
            if not _STOP.intersection(words) and len(set(words)) >= len(words) - 2:
                yield *match.span(1), "hash"
    if "0x" in view.dense.lower():
        for match in _WALLET.finditer(low):
            if _WALLET_BEFORE.search(low[max(0, match.start() - 80) : match.start()]):
                yield *match.span(), "hash"
