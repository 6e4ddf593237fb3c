"""R8: secrets on command lines, where the program says which word is one.

Options with a telling name (`--password x`) are the assignment rule's; here are the ones whose
meaning only the program knows (`-p`, `-a`, `-u user:password`), and SQL.

In the table `<W>` is one shell word (bare or quoted), `<S>` what separates an option from its
value (also between members of a JSON array), and `<R>` the rest of a line up to an option.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from . import shapes
from .shapes import NOTHING, PHRASE, WORD
from .spans import Hit
from .view import View

_WORD = (
    r"""(?:\\{0,4}(?P<q>["'])(?P<v>[^"'\\\n]{1,200})\\{0,4}(?P=q)"""
    r"""|(?P<w>[^\s"'`|&;<>\\,)]{1,200}))"""
)
_SEP = r"""(?:\s+|=|\\{0,4}["']\s*,\s*(?=\\{0,4}["']))"""
_REST = r"(?:(?![;|&]{1,2}\s)[^\n]){0,300}?"


class Command(NamedTuple):
    """`needs`: all of these occur in the lowered text; `least`: the lowest grade of the value."""

    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    least: int


def _row(needs: str, pattern: str, least: int = WORD) -> Command:
    for mark, meaning in (("<W>", _WORD), ("<S>", _SEP), ("<R>", _REST)):
        pattern = pattern.replace(mark, meaning)
    return Command(tuple(needs.split("&")), re.compile(pattern, re.IGNORECASE), least)


TABLE = (
    # databases
    _row(
        "mysql",
        r"\bmysql(?:dump|admin|import|check|show|sh)?\b<R>\s-p(?!\s|ort|rotocol)(?:<W>)",
    ),
    _row("mariadb", r"\bmariadb(?:-\w+)?\b<R>\s-p(?!\s|ort|rotocol)(?:<W>)"),
    _row("mysqladmin", r"\bmysqladmin\b<R>\spassword\s+<W>"),
    _row("redis-cli", r"\bredis-cli\b<R>\s(?:-a|--pass)<S><W>"),
    _row("mongo", r"\bmongo(?:sh|dump|restore|export|import)?\b<R>\s-p\s+<W>"),
    _row("sqlcmd", r"\b(?:sqlcmd|bcp|osql)\b<R>\s-P\s*<W>"),
    _row("ldap", r"\bldap(?:search|modify|add|delete|whoami|passwd)\b<R>\s-w\s+<W>"),
    _row("requirepass", r"\brequirepass\s+<W>"),
    _row("masterauth", r"\bmasterauth\s+<W>"),
    _row("auth default ", r"\bAUTH\s+default\s+<W>", PHRASE),
    _row("redis&auth ", r"(?:\n|> ?)AUTH\s+<W>", PHRASE),
    _row(
        "identified",
        r"\bIDENTIFIED\s+(?:WITH\s+\S+\s+)?(?:BY|AS)\s+(?:PASSWORD\s+)?(?P<q>['\"])(?P<v>[^'\"\n]"
        r"{3,200})",
    ),
    _row("identified by", r"\bIDENTIFIED BY <W>", PHRASE),
    _row(
        "password",
        r"\b(?:WITH|ENCRYPTED|SET|USER\s+\S+|ROLE\s+\S+|LOGIN)\s+PASSWORD\s*"
        r"(?:=|FOR\s+\S+\s*=|=\s*PASSWORD\()?\s*\\{0,4}'(?P<w>[^'\\\n]{3,200})",
    ),
    _row("password('", r"\bPASSWORD\('(?P<w>[^'\n]{4,200})'", PHRASE),
    _row("createuser(", r"createUser\(\{?[^{}\n]{0,120}?pwd:\s*[\"'](?P<w>[^\"']{3,200})[\"']"),
    _row("db.auth", r"db\.auth\(\s*[\"'][^\"']{1,64}[\"']\s*,\s*[\"'](?P<w>[^\"']{3,200})[\"']"),
    # logging in
    _row(
        " login",
        r"\b(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|registry)\s+login\b<R>"
        r"\s(?:-p|--password)<S><W>",
    ),
    _row("az login", r"\baz\s+login\b<R>\s-p\s+<W>"),
    _row("vault login", r"\bvault\s+login\s+(?!-)<W>", PHRASE),
    _row("vault operator unseal", r"\bvault\s+operator\s+unseal\s+(?!-)<W>", PHRASE),
    _row("vault kv put", r"\bvault\s+kv\s+put\s+\S+\s+\w+=<W>", PHRASE),
    _row("twine", r"\btwine\s+upload\b<R>\s-p\s+<W>"),
    _row("ngrok", r"\bngrok\s+(?:config\s+add-)?auth-?token\s+<W>", PHRASE),
    _row(
        "extraheader",
        r"extraheader[= ]\S{0,4}(?:authorization|private-token):\s*(?:basic|bearer)?\s*<W>",
        PHRASE,
    ),
    _row("with-token", r"--with-token\s*<<<\s*<W>", PHRASE),
    _row(
        "curl",
        r"\bcurl\b<R>\s(?:-u|--user|-U|--proxy-user)<S>\\{0,4}[\"']?[^\s:\"'\\]{1,64}:"
        r"(?P<w>[^\s\"'`|&;<>\\]{3,200})",
    ),
    _row(
        " -",
        r" -{1,2}(?:u|user|a|auth|creds?|basic)[ =]\\{0,4}[\"']?[\w.@+-]{1,64}:"
        r"(?P<w>[^\s\"'`|&;<>\\/]{5,200})",
        PHRASE,
    ),
    _row("lftp", r"\blftp\b<R>\s-u\s+[^\s,]+,(?P<w>[^\s\"'|&;]{4,200})"),
    _row(
        "user &pass ", r"\bUSER\s+\S{1,64}\r?\n(?:[^\n]{0,80}\n)?[^\n]{0,4}PASS\s+(?P<w>\S{3,200})"
    ),
    _row("net use", r"\bnet\s+use\s+\S+(?:\s+\S+)?\s+(?!/)<W>\s+/user", PHRASE),
    _row("net user", r"\bnet\s+user\s+\S+\s+(?!/)<W>(?=\s|$)", PHRASE),
    # remote shells and machines
    _row("sshpass", r"\bsshpass\s+-p\s*<W>"),
    _row("-pw", r"\b(?:plink|pscp|psftp|putty)\b<R>\s-pw\s+<W>"),
    _row("ipmitool", r"\bipmitool\b<R>\s-P\s+<W>"),
    _row("freerdp", r"\bx?freerdp\w*\b<R>\s/p:<W>"),
    _row("rdesktop", r"\brdesktop\b<R>\s-p\s+<W>"),
    _row(
        "%&-u",
        r"\b(?:smbclient|rpcclient|smbmap|net|nxc|crackmapexec|mount\.cifs|wmic|smbget)\b<R>"
        r"\s-U\s*['\"]?[\w\\.-]+%(?P<w>[^\s\"'|&;]{4,200})",
    ),
    _row("smbclient", r"\bsmbclient\s+\S+\s+<W>(?=\s+-)", PHRASE),
    _row("nmcli", r"\bnmcli\b<R>\spassword\s+<W>"),
    _row("wpa_passphrase", r"\bwpa_passphrase\s+\S+\s+<W>"),
    # files and keys
    _row(
        "htpasswd",
        r"\bhtpasswd\s+-[a-z]*b[a-z]*(?:\s+-\w+)*(?:\s+(?!-)\S+){1,2}?\s+<W>"
        r"(?=\s*(?:$|[\n;|&>\"']))",
    ),
    _row("openssl", r"\bopenssl\b<R>\s-(?:k|K|passin|passout|pass)\s+(?:pass:)?<W>", PHRASE),
    _row("pass:", r"(?<![\w:])pass:(?P<w>[^\s\"'`|&;<>\\]{4,200})", PHRASE),
    _row("zip ", r"\b(?:un)?zip\b<R>\s-P\s+<W>", PHRASE),
    _row("7z", r"\b7za?\b<R>\s-p<W>", PHRASE),
    _row("rar ", r"\b(?:un)?rar\b<R>\s-h?p<W>", PHRASE),
    _row("keypass", r"\s-(?:src|dest)?keypass\s+<W>"),
    _row("storepass", r"\s-(?:src|dest)?storepass\s+<W>"),
    _row("securestring", r"ConvertTo-SecureString\s+(?:-String\s+)?<W>"),
    # handed over on standard input
    _row(
        "echo ",
        r"\becho\s+(?:-\w+\s+)?<W>\s*\|\s*(?:sudo\s+-\w*S|docker\s+login|podman\s+login|gh\s+auth|"
        r"helm\s+registry|su\b|kinit|cryptsetup)",
    ),
    _row("-stdin", r"\b(?:echo|printf)\s+(?:-\w+\s+|'%s'\s+)?<W>\s*\|\s*[^\n|]{0,120}--\w+-stdin"),
    _row("chpasswd", r"[\w.-]+:(?P<w>[^\s\"'|:]{4,200})[\"']?\s*\|\s*(?:sudo\s+)?chpasswd"),
    _row("chpasswd", r"\bchpasswd\b[^\n]{0,40}<<<\s*[\"']?[\w.-]+:(?P<w>[^\s\"'|:]{4,200})"),
    _row("passwd&print", r"\bprintf?\s+[\"']?(?P<w>[^\s\"'\\]{6,80})\\n(?P=w)"),
    _row(
        "expect&send",
        r"expect[^\n]{0,120}(?:assword|assphrase|asscode)[^\n]{0,60}?[\n;{]\s*(?:exp_)?send\s+"
        r"(?:--?\s+)?\\{0,4}[\"'](?P<w>[^\"'\\\n]{3,200})",
    ),
    _row(
        "sendline(",
        r"(?:assword|assphrase)[^\n]{0,40}\n[^\n]{0,40}sendline\(\s*[\"'](?P<w>[^\"'\n]{3,200})",
    ),
)

# Rows by their first need, so that each word is looked for once; words in the bag, phrases in
# the text.
_BY_WORD: dict[str, list[Command]] = {}
_BY_PHRASE: dict[str, list[Command]] = {}
for _command in TABLE:
    _gates = _BY_PHRASE if " " in _command.needs[0] else _BY_WORD
    _gates.setdefault(_command.needs[0], []).append(_command)


def find(view: View) -> Iterator[Hit]:
    """Yield the words that a program or a statement takes as a secret."""
    text, low = view.text, view.low
    if " " not in low and ":" not in low:
        return
    for gates, where in ((_BY_WORD, view.bag), (_BY_PHRASE, low)):
        for gate in filter(where.__contains__, gates):
            for row in gates[gate]:
                if all(need in low for need in row.needs[1:]):
                    yield from _of_row(text, row)


def _of_row(text: str, row: Command) -> Iterator[Hit]:
    for match in row.pattern.finditer(text):
        groups = match.groupdict()
        name = "v" if groups.get("v") else "w"
        value = groups.get(name)
        if not value:
            continue
        grade = shapes.grade(value[:400])
        worth = grade >= max(row.least, WORD) and not value.startswith(("$", "-", "<", "{"))
        number = grade == NOTHING and row.least == WORD and value.isdigit() and len(value) >= 4
        if worth or number:
            yield *match.span(name), "command"
