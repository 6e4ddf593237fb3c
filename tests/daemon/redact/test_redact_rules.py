"""Each rule masks what it is for. Every secret here is made at run time from pieces."""

import base64
import random
import string

import pytest

from wayfinder.daemon.redact import engine

ALNUM = string.ascii_letters + string.digits
RANDOM = random.Random(20)


def token(length: int = 32) -> str:
    """As a generator makes them; the letters in front make sure that no word appears by chance."""
    return "q7" + "".join(RANDOM.choice(ALNUM) for _ in range(length - 2))


def hexes(length: int) -> str:
    return "a1" + "".join(RANDOM.choice("0123456789abcdef") for _ in range(length - 2))


HUMAN = "Walnut" + "-" + str(31 * 61) + "!"
WORDED = "meadow" + str(40 * 40 + 1)
UUID = "-".join(hexes(n) for n in (8, 4, 4, 4, 12))
KEY_LINES = "\n".join(base64.b64encode(RANDOM.randbytes(48)).decode() for _ in range(6))
PEM = "-----BEGIN RSA PRIVATE" + " KEY-----\n" + KEY_LINES + "\n-----END RSA PRIVATE" + " KEY-----"


def residue(text: str, secret: str, level: engine.Level = 1) -> int:
    """The longest run of the secret's characters that is still in the text."""
    start = text.index(secret)
    left = bytearray(b"1" * len(secret))
    for span in engine.redact(text, level).spans:
        low, high = max(span.start - start, 0), min(span.end - start, len(secret))
        if low < high:
            left[low:high] = b"0" * (high - low)
    return max(len(run) for run in bytes(left).split(b"0"))


VENDORS = {
    "cloud key id": "AK" + "IA" + "QWERTZ2345UIOPAS",
    "code hosting": "gh" + "p_" + token(36),
    "code hosting, fine": "github" + "_pat_" + token(60),
    "forge": "gl" + "pat-" + token(20),
    "model": "sk" + "-ant-api03-" + token(80),
    "model, short": "sk" + "-" + token(32),
    "chat": "xo" + "xb-" + "1234567890123-" + token(24),
    "payment": "sk" + "_live_" + token(24),
    "search": "AI" + "za" + token(35),
    "packages": "npm" + "_" + token(36),
    "mail": "SG" + "." + token(22) + "." + token(43),
    "bot": "12345678" + ":AA" + token(33),
    "droplets": "dop" + "_v1_" + hexes(64),
    "vault": "hv" + "s." + token(40),
    "web token": "ey" + "J" + token(30) + ".ey" + "J" + token(40) + "." + token(43),
    "unknown issuer": "acme" + "_live_" + token(28),
    "hook": "https://hooks.slack.com/services/" + "T0AB12CD3/B0AB12CD3/" + token(24),
}


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize("around", ["{}", "using {} now", '"{}"', "x={}&y=1", "|{}|", "({})"])
def test_issued_tokens_are_masked_without_any_name_beside_them(name: str, around: str) -> None:
    """R1: a token that says whose it is needs no name."""
    secret = VENDORS[name].removeprefix("https://hooks.slack.com/services/")
    assert residue(around.format(VENDORS[name]), secret) <= 4


KEYED = r"""
DB_PASSWORD={h}
export API_TOKEN='{t}'
"password": "{h}"
\\"password\\": \\"{h}\\"
password: {h}
spring.datasource.password={w}
Pwd={w};
:password => "{h}",
const DB_PASS: &str = "{w}";
password := "{w}"
let password = String::from("{h}");
os.environ["DB_PASS"] = "{h}"
$env:DB_PASSWORD = "{w}"
setenv DB_PASSWORD {w}
ENV POSTGRES_PASSWORD {w}
--password {h}
--token={t}
"--token", "{t}"
The admin password is {h}
[sudo] password for bob: {h}
Your API key is {t}
Token used: {t}
client_secret: {t}
x-api-key: {t}
access_token={t}&expires=3600
数据库口令为 {h}
密码：{h}，请勿外传
令牌：{t}
パスワード: {h}
비밀번호: {h}
mot de passe : {h}
contraseña: {h}
| ADMIN_PASSWORD | {h} |
<password>{h}</password>
setPassword("{h}")
define('DB_PASSWORD', '{h}');
password: |\n  {h}
HEROKU_API_KEY={u}
//registry.internal/:_authToken={u}
"otp": "{n}"
MAIL_PASSWORD={a}
"""
FORMS = [line.replace("\\n", "\n") for line in KEYED.strip("\n").split("\n")]


@pytest.mark.parametrize("form", FORMS)
def test_a_value_behind_a_telling_name_is_masked(form: str) -> None:
    """R3: name, separator, value, in the spellings of shells, files, code and languages."""
    values = {
        "h": HUMAN, "w": WORDED, "t": token(), "u": UUID, "n": str(7 * 23456),
        "a": "gqxw wtct gjcx pxxc",
    }  # fmt: skip
    (name,) = [key for key in values if "{" + key + "}" in form]
    assert residue(form.replace("{" + name + "}", values[name]), values[name]) <= 4


OTHERS = r"""
Authorization: Bearer {t}
> Authorization: Basic {b}
authorization: token {x}
Cookie: theme=dark; sessionid={t}
Set-Cookie: connect.sid=s%3A{t}; Path=/
postgres://app:{h}@db.internal:5432/app
https://{t}@git.internal/r.git
root:{h}@tcp(127.0.0.1:3306)/app
https://x.blob.core.windows.net/b?sv=1&sig={t}
https://app.example.com/cb?code={t}
curl -u ci-bot:{h} https://ci.internal/
mysql -uroot -p{h} app
sshpass -p '{h}' ssh bob@host
redis-cli -h cache -a {h} ping
docker login -u bob -p {h} reg.internal
CREATE USER app IDENTIFIED BY '{h}';
ALTER USER app WITH PASSWORD '{h}';
echo "{h}" | sudo -S true
smbclient //srv/share -U bob%{h}
openssl rsa -in k.pem -passin pass:{h}
{"name": "DB_PASSWORD", "value": "{h}"}
{"value": "{h}", "name": "DB_PASSWORD"}
- name: DB_PASSWORD\n  value: {t}
"db_password": {"sensitive": true, "value": "{t}"}
<add key="PaymentApiKey" value="{t}" />
requests.get(url, auth=("bob", "{h}"))
new PDO($dsn, 'root', '{h}');
user,email,password\nbob,bob@example.com,{w}
| user | password |\n|---|---|\n| bob | {w} |
INSERT INTO users (email, password) VALUES ('a@example.com', '{w}');
machine git.internal login bob password {w}
db.internal:5432:app:app:{t}
your verification code is {n}
otpauth://totp/Acme:bob?secret={s}&issuer=Acme
root:$6$saltsalt${t}{t}:19700:0:99999:7:::
seed phrase: {m}
$ cat config/master.key\n{x}
token in base64: {e}
callback?x=1&cred={p}
"""


@pytest.mark.parametrize("form", [f.replace("\\n", "\n") for f in OTHERS.strip("\n").split("\n")])
def test_secrets_are_masked_where_their_place_tells(form: str) -> None:
    """R4–R11 and R13: headers, cookies, URLs, commands, carriers, tables, codes, encodings."""
    issued = VENDORS["code hosting"]
    values = {
        "h": HUMAN, "w": WORDED, "t": token(), "x": hexes(40), "n": str(7 * 23456),
        "b": base64.b64encode(b"dev:" + HUMAN.encode()).decode(),
        "s": "SL5SMFIBMGU5Z4CL" + "AHASU2VL4E4YTB4E",
        "m": "gadget orbit velvet maple canyon tiger lunar basket copper walnut river falcon",
        "e": base64.b64encode(f"GITHUB={issued}".encode()).decode(),
        "p": issued.replace("_", "%5F"),
    }  # fmt: skip
    for name, value in values.items():
        mark = "{" + name + "}"
        if mark in form:
            assert residue(form.replace(mark, value), value) <= max(4, len(value) // 10)


@pytest.mark.parametrize("cut", ["whole", "end", "head"])
@pytest.mark.parametrize("form", ["plain", "escaped", "indented"])
def test_a_private_key_is_masked_whole_or_cut(form: str, cut: str) -> None:
    """R2: plain, escaped or indented; without its END, or without its BEGIN."""
    lines = PEM.split("\n")
    block = {"whole": lines, "end": lines[:4], "head": lines[2:]}[cut]
    joiner = {"plain": "\n", "escaped": "\\n", "indented": "\n    "}[form]
    if (form, cut) == ("escaped", "head"):
        pytest.skip("an escaped tail is one run with no line of its own")
    text = "$ cat key\n" + joiner.join(block) + "\n... [truncated]\n"
    for line in block:
        assert residue(text, line) <= 4


HARMLESS = """
--- PASS: TestPasswordReset (0.01s)
const apiKey = process.env.STRIPE_SECRET_KEY!;
if (!token) throw new Error('no token');
password VARCHAR(255) NOT NULL, api_token CHAR(64)
{"password": "Password", "new_password": "New password"}
{"password":"密码","passwordTooShort":"密码长度不能少于 8 位"}
max_tokens=4096, stop_token=<|im_end|>, primary_key=True
"prompt_tokens": 2989, "completion_tokens": 426
password: ${{ secrets.DB_PASSWORD }}
token: $(cat /run/secrets/token)
api_key=<redacted:openai>
API_TOKEN=xxxxxxxxxxxxxxxxxxxx
SECRET_KEY=changeme
def check(password: str, hashed: str) -> bool:
password = getpass.getpass("Password: ")
<input id="password" type="password" autocomplete="current-password" />
"sessionID": "ses_0922c7a27ffesprkDLUo8I7EY3"
cache key: node-cache-Linux-x64-npm-{x}
commit {x}
integrity sha512-{t}==
https://github.com/acme/app/blob/{x}/src/main.ts#L10
postgres://user:password@localhost/db
The refresh token is lost between the middleware and the handler.
"""


@pytest.mark.parametrize("form", HARMLESS.strip().split("\n"))
def test_code_reports_and_translations_are_left_alone(form: str) -> None:
    """The vetoes: what only looks like a secret's assignment stays readable at level 1."""
    text = form.replace("{x}", hexes(40)).replace("{t}", token(86))
    assert engine.redact(text, 1).text == text


@pytest.mark.parametrize(
    "marker",
    ["gitleaks:allow", "pragma: allowlist secret", "kingfisher:ignore", "nosec", "noqa: S105"],
)
@pytest.mark.parametrize("level", [1, 2])
def test_inline_allow_markers_have_no_effect(marker: str, level: engine.Level) -> None:
    """The text is written by whoever made the output, so it cannot switch the redactor off."""
    secret = VENDORS["payment"]
    assert residue(f'key = "{secret}"  # {marker}', secret, level) == 0


@pytest.mark.parametrize(
    "joint", ["\x1b[0m", "\x1b[33m", "\u200b", "\u00ad", "\u2060", "\x00", "\\u001b[0m"]
)
@pytest.mark.parametrize("at", [3, 12, 30])
def test_what_no_reader_sees_does_not_split_a_secret(joint: str, at: int) -> None:
    """R0: terminal codes and invisible characters inside a token are masked with it."""
    whole = VENDORS["code hosting"]
    split = whole[:at] + joint + whole[at:]
    assert residue(f"GITHUB_TOKEN={split}", split) <= 4


def test_a_token_broken_by_a_line_end_is_masked_on_both_lines() -> None:
    """R1: one line break inside a token does not save its second half."""
    whole = VENDORS["code hosting"]
    broken = whole[:20] + "\n" + whole[20:]
    assert residue(f"GITHUB_TOKEN={broken}\nnext line\n", broken) <= 4


def test_level_two_masks_every_opaque_token() -> None:
    """R12: a token that no rule knows is readable at level 1 and masked at level 2."""
    text = f"the run {token(28)} was fine"
    assert engine.redact(text, 1).text == text
    assert engine.redact(text, 2).text == "the run [opaque] was fine"


def test_a_fingerprint_is_the_same_for_the_same_token_and_key() -> None:
    """Opaque tokens can be recognised again within one install, and nowhere else."""
    value = token(28)
    one, two = engine.Engine(key=b"k" * 32), engine.Engine(key=b"l" * 32)
    masked = one.redact(f"a {value} b {value}", 2).text.split()
    assert masked[1] == masked[3] != "[opaque]"
    assert two.redact(value, 2).text not in masked
