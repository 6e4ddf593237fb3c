"""What the page's server answers to whom, spoken to by raw sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from page_world import PageWorld, raw, request

from wayfinder.clients.web.guard import CSP, Guard

PAGE = Path(__file__).parents[3] / "clients" / "web" / "static"
GET_ROUTES = (
    "/api/stream?session=pi-1",
    "/api/view?session=pi-1&at=3",
    "/api/moments?session=pi-1",
    "/api/proposals?session=pi-1",
    "/api/search?q=goal",
)
POST_ROUTES = ("/api/understand", "/api/correct", "/api/confirm", "/api/focus")


@pytest.fixture(scope="module")
def world() -> Iterator[PageWorld]:
    made = PageWorld()
    made.open("restore the login")
    made.sign_in()
    yield made
    made.close()


def answer(
    world: PageWorld, method: str, path: str, headers: list[tuple[str, str]], body: bytes = b""
):
    if body or method == "POST":
        headers = [*headers, ("Content-Length", str(len(body)))]
    status, said, text = raw(world.port, request(method, path, headers) + body)
    return status, said, json.loads(text) if text.startswith(b"{") else text


def test_the_shell_holds_no_data_and_needs_no_token(world: PageWorld) -> None:
    """Without a token one gets the page's files, each with every header, and nothing else."""
    for path in (
        "/",
        *(f"/static/{file.name}" for file in PAGE.iterdir() if file.suffix != ".html"),
    ):
        status, headers, body = answer(world, "GET", path, [("Host", world.host)])
        assert status == 200, path
        assert headers["content-security-policy"] == CSP.lower()
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert not [name for name in headers if name.startswith("access-control-")]
        assert "server" not in headers
        assert b"restore the login" not in body


@pytest.mark.parametrize("path", (*GET_ROUTES, *POST_ROUTES))
def test_every_route_with_data_needs_the_token(world: PageWorld, path: str) -> None:
    """No token, a wrong one, one in the address, a doubled header, a cookie: 401 everywhere."""
    method = "POST" if path in POST_ROUTES else "GET"
    base = [("Host", world.host), ("Origin", f"http://{world.host}"),
            ("Content-Type", "application/json")]  # fmt: skip
    good = f"Bearer {world.token}"
    wrong = [
        [],
        [("Authorization", "Bearer wrong")],
        [("Authorization", good), ("Authorization", good)],
        [("Authorization", world.token)],
        [("Authorization", good.lower())],
        [("Cookie", f"token={world.token}")],
    ]
    for more in wrong:
        status, _, said = answer(
            world, method, path, [*base, *more], b"{}" if method == "POST" else b""
        )
        assert (status, said["code"]) == (401, "token"), more
    asked = f"{path}{'&' if '?' in path else '?'}token={quote(world.token)}"
    assert answer(world, method, asked, base, b"{}" if method == "POST" else b"")[0] == 401


def hosts(port: int) -> list[list[tuple[str, str]]]:
    mine = f"127.0.0.1:{port}"
    return [
        [],
        [("Host", "")],
        [("Host", f":{port}")],
        [("Host", "127.0.0.1")],
        [("Host", f"127.0.0.1:{port + 1}")],
        [("Host", f"evil.example:{port}")],
        [("Host", f"127.0.0.1.evil.example:{port}")],
        [("Host", f"localhost.:{port}")],
        [("Host", f"0.0.0.0:{port}")],
        [("Host", f"127.1:{port}")],
        [("Host", f"{mine}@evil.example")],
        [("Host", mine), ("Host", mine)],
        [("Host", mine), ("Host", f"evil.example:{port}")],
        [("Host", f"LOCALHOST:{port}")],
    ]


@pytest.mark.parametrize("number", range(14))
def test_only_our_own_names_are_answered(world: PageWorld, number: int) -> None:
    """DNS rebinding: any Host but ours is refused, also with its own Origin and a good token."""
    headers = hosts(world.port)[number]
    named = next((value for _, value in headers), "")
    for more in ([], [("Origin", f"http://{named}")]):
        sent = [*headers, *more, ("Authorization", f"Bearer {world.token}")]
        for path in ("/", "/api/moments?session=pi-1"):
            status, _, body = answer(world, "GET", path, sent)
            assert status in (400, 403), (sent, status)
            assert b"restore" not in (body if isinstance(body, bytes) else b"")


@pytest.mark.parametrize(
    "origin", ["null", "http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1:1",
               "http://127.0.0.1:{port}.evil.example", "http://127.0.0.1:{port}/", "file://"]
)  # fmt: skip
def test_no_other_origin_is_answered(world: PageWorld, origin: str) -> None:
    """Any web page may call loopback; an Origin that is not exactly ours gets 403, token or not."""
    sent = [
        ("Host", world.host),
        ("Origin", origin.replace("{port}", str(world.port))),
        ("Content-Type", "application/json"),
        ("Authorization", f"Bearer {world.token}"),
    ]
    for method, path in (
        ("GET", "/"),
        ("GET", GET_ROUTES[2]),
        ("POST", "/api/correct"),
        ("POST", "/api/session"),
    ):
        status, headers, _ = answer(world, method, path, sent, b"{}" if method == "POST" else b"")
        assert status == 403
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("site", ["cross-site", "same-site", "weird"])
def test_a_browser_that_says_it_comes_from_elsewhere_is_refused(
    world: PageWorld, site: str
) -> None:
    """Fetch metadata of another site gets 403."""
    sent = [
        ("Host", world.host),
        ("Sec-Fetch-Site", site),
        ("Authorization", f"Bearer {world.token}"),
    ]
    assert answer(world, "GET", GET_ROUTES[2], sent)[0] == 403


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "",
        "application/json; charset=x",
    ],
)
def test_a_form_cannot_correct(world: PageWorld, kind: str) -> None:
    """A POST that needs no preflight is refused before anything is read of it."""
    sent = [("Host", world.host), ("Origin", f"http://{world.host}"), ("Content-Type", kind),
            ("Authorization", f"Bearer {world.token}")]  # fmt: skip
    body = b'{"session":"pi-1","text":"stop"}'
    assert answer(world, "POST", "/api/correct", sent, body)[0] == 415
    assert (
        answer(world, "POST", "/api/correct", [s for s in sent if s[0] != "Origin"], body)[0] == 403
    )
    assert answer(world, "GET", "/api/correct", [sent[0], sent[3]])[0] in (404, 405)


@pytest.mark.parametrize(
    "method", ["OPTIONS", "HEAD", "PUT", "DELETE", "TRACE", "CONNECT", "PATCH"]
)
def test_other_methods_do_nothing(world: PageWorld, method: str) -> None:
    """Only GET and POST exist; a preflight gets no permission."""
    sent = [("Host", world.host), ("Authorization", f"Bearer {world.token}")]
    status, headers, _ = answer(world, method, "/api/correct", sent)
    assert status in (400, 404, 405)
    assert not [name for name in headers if name.startswith("access-control-")]


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/%2e%2e%2fapp.py",
        "/static/..%5capp.py",
        "/static/main.js%00.css",
        "/static//main.js",
        "/static/./main.js",
        "/static-evil/x",
        "/app.py",
        "/static/",
        "/%2fetc/passwd",
        "//etc/passwd",
        "/.git/config",
    ],
)
def test_no_path_reaches_a_file(world: PageWorld, path: str) -> None:
    """Assets are a frozen table: every other spelling of a path is 404."""
    assert answer(world, "GET", path, [("Host", world.host)])[0] == 404


def test_a_code_works_once(world: PageWorld) -> None:
    """The link's code is exchanged for one token; again, or another code, is 401."""
    code = world.page().url.partition("#c=")[2]
    assert world.post("/api/session", {"code": code})[0] == 200
    assert world.post("/api/session", {"code": code})[0] == 401
    assert world.post("/api/session", {"code": "x" * 43})[0] == 401
    assert world.post("/api/session", {})[0] == 401


@pytest.mark.parametrize(
    "body", [b"", b"[1]", b"{", b'{"code":' + b"[" * 5000, b"\xff", b'{"a":NaN}']
)
def test_bad_json_is_a_clear_400(world: PageWorld, body: bytes) -> None:
    """Whatever stands in a body, the answer is one JSON error and the server goes on."""
    sent = [
        ("Host", world.host),
        ("Origin", f"http://{world.host}"),
        ("Content-Type", "application/json"),
    ]
    status, _, said = answer(world, "POST", "/api/session", sent, body)
    assert (status, said["code"]) == (400, "malformed")


def test_a_huge_body_is_cut_off(world: PageWorld) -> None:
    """More than 64 KiB is refused while it comes in."""
    sent = [
        ("Host", world.host),
        ("Origin", f"http://{world.host}"),
        ("Content-Type", "application/json"),
    ]
    body = b'{"code":"' + b"x" * (80 << 10) + b'"}'
    assert answer(world, "POST", "/api/session", sent, body)[0] == 413


def test_secrets_are_in_no_log(world: PageWorld) -> None:
    """Neither a code nor a token stands in anything that was written to disk."""
    code = world.page().url.partition("#c=")[2]
    assert world.post("/api/session", {"code": code})[0] == 200
    world.get(f"/api/search?q={quote('findme-canary')}")
    written = b"".join(f.read_bytes() for f in world.paths.state.rglob("*") if f.is_file())
    for secret in (code, world.token, "findme-canary"):
        assert secret.encode() not in written


def test_the_port_is_on_loopback_only(world: PageWorld) -> None:
    """Nobody outside this machine can even connect."""
    import psutil

    pid = world.processes["wayfinder.clients.web"].popen.pid
    listening = [c for c in psutil.Process(pid).net_connections("inet") if c.status == "LISTEN"]
    assert [c.laddr.ip for c in listening] == ["127.0.0.1"]


def test_the_guard_knows_three_names() -> None:
    """127.0.0.1, localhost and [::1], each with the port."""
    guard = Guard(8000)
    for name in (b"127.0.0.1:8000", b"localhost:8000", b"[::1]:8000"):
        assert guard.refuse("GET", "/", [(b"host", name)]) is None
