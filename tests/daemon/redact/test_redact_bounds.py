"""Size and time: what is too much is cut or dropped, and nobody waits."""

import pytest

from wayfinder.daemon.redact import engine
from wayfinder.daemon.redact.caps import FIELD_BYTES_MAX
from wayfinder.daemon.redact.client import RedactorClient
from wayfinder.daemon.redact.spans import DROPPED_TEXT

SIZE = FIELD_BYTES_MAX - 256
HOSTILE = {
    "names": "password=",
    "spaced names": "password= ",
    "quotes": 'password="',
    "escapes": '\\"a\\":\\"',
    "open keys": "-----BEGIN RSA PRIVATE KEY-----\n" + "QUJD" * 16 + "\n",
    "begins": "-----BEGIN RSA PRIVATE KEY-----\n",
    "ends": "-----END RSA PRIVATE KEY-----\n",
    "headers of web tokens": "eyJ",
    "one letter": "a",
    "two cases": "aA1",
    "backslashes": "\\",
    "percents": "%41",
    "spaces": " ",
    "line ends": "\n",
    "terminal codes": "\x1b]",
    "commas": ",",
    "userinfo": "://a:b@",
    "hosts": "a.b@c.d",
    "curl": "curl -u ",
    "mysql": "mysql ",
    "pairs": '{"name":"password",',
    "objects": "password:{",
    "elements": "<password>",
    "cookies": "cookie: a=b;",
    "bearers": "bearer ",
    "prompts": "$ cat .env\n",
    "phrases": "seed abandon ",
    "headings": "user,password\n",
    "hex": "deadbeef01",
    "expects": "expect assword send ",
    "masks": "password=[redacted:vendor]a",
    "cjk": "密码是",
    "inserts": "insert into a (password) values (",
    "setters": 'setPassword("',
    "codes": "security code ",
}


@pytest.fixture(scope="module")
def patient() -> object:
    """A worker with far more processor time than any linear rule needs, far less than others."""
    with RedactorClient(second_opinion=False, cpu_ms=25_000, wall_s=120) as client:
        yield client


@pytest.mark.parametrize("name", HOSTILE)
def test_no_repetition_of_a_hostile_piece_is_more_than_linear(
    name: str, patient: RedactorClient
) -> None:
    """A field at the cap, full of one piece, is answered and not dropped."""
    piece = HOSTILE[name]
    text = piece * (SIZE // len(piece.encode()))
    (answer,) = patient.redact_many([text], 2)
    assert answer.text != DROPPED_TEXT


@pytest.mark.parametrize("offset", range(-48, 49, 3))
def test_a_secret_on_a_cut_edge_leaves_no_half_behind(offset: int) -> None:
    """The token that touches the edge goes with the middle."""
    secret = "gh" + "p_" + "a1B2c3D4e5F6" * 3
    head = 192 * 1024 - 64
    text = "x " * ((head + offset) // 2) + secret + " y" * (SIZE // 2)
    answer = engine.redact(text, 1)
    assert not any(secret[i : i + 5] in answer.text for i in range(len(secret) - 5))
    assert [span.rule for span in answer.spans if span.rule == "cut"] == ["cut"]
    assert len(answer.text.encode()) <= FIELD_BYTES_MAX


def test_a_field_within_the_cap_is_never_cut() -> None:
    """The cap counts bytes of UTF-8, and the last one is still within it."""
    assert engine.redact("é" * (FIELD_BYTES_MAX // 2), 1).spans == ()
    assert engine.redact("é" * (FIELD_BYTES_MAX // 2 + 1), 1).spans[0].rule == "cut"


def test_the_whole_of_an_endless_key_is_masked() -> None:
    """R2: a key block that fills the field has no END and leaves no line."""
    lines = "\n".join(f"{i:04d}" + "QUJD" * 15 for i in range(3000))
    answer = engine.redact("-----BEGIN RSA PRIVATE" + " KEY-----\n" + lines, 1)
    assert answer.text == "[redacted:private-key]"
