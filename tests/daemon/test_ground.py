"""Paths, lock, settings, logs, lines, unix sockets and the loop: the ground all else stands on."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfinder.daemon import paths as module
from wayfinder.daemon.lines import Lines, LineTooLong
from wayfinder.daemon.lock import Held, Lock, holder
from wayfinder.daemon.logs import FILE_BYTES_MAX, DailyFile, Log
from wayfinder.daemon.loop import Loop
from wayfinder.daemon.paths import Paths, UnsafePath, prepare, resolve
from wayfinder.daemon.settings import BadSetting, Settings, load, value_of
from wayfinder.daemon.unixsock import UNSENT_BYTES_MAX, accept, dial, listen, peer_of


def test_folders_come_from_the_environment_first(short: Path) -> None:
    """Each folder can be named; the others keep their place."""
    run, state = short / "r", short / "s"
    found = resolve({"WAYFINDER_RUN_DIR": str(run), "WAYFINDER_STATE_DIR": str(state)})
    assert (found.run, found.state) == (run, state)
    assert found.config.name == "wayfinder"


def test_a_folder_that_is_not_ours_alone_is_refused(short: Path) -> None:
    """Too open, a link, a file in its place, too long a path: refused with a sentence."""
    state, config = short / "state", short / "config"
    (short / "open").mkdir(mode=0o755)
    (short / "link").symlink_to(short / "open")
    (short / "file").touch()
    for name, word in (("open", "mode 700"), ("link", "not a link"), ("file", "must be a folder")):
        with pytest.raises(UnsafePath, match=word):
            prepare(Paths(short / name, state, config))
    with pytest.raises(UnsafePath, match="shorter one"):
        prepare(Paths(short / ("x" * module.SOCKET_PATH_BYTES_MAX), state, config))


def test_only_our_own_stale_socket_is_removed(paths: Paths) -> None:
    """A left-over socket makes way for a new one; a file in its place is never deleted."""
    listen(paths, "human.sock").close()
    listen(paths, "human.sock").close()
    paths.socket("agent.sock").write_text("precious")
    with pytest.raises(UnsafePath, match="in the way"):
        listen(paths, "agent.sock")
    assert paths.socket("agent.sock").read_text() == "precious"


def test_one_holder_at_a_time_even_after_a_kill(paths: Paths) -> None:
    """The lock names its holder, refuses a second, and is free the moment its holder dies."""
    code = "import sys; from wayfinder.daemon.lock import Lock; from pathlib import Path; "
    code += "held = Lock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    other = subprocess.Popen(
        [sys.executable, "-P", "-c", code, str(paths.lock)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert other.stdout is not None and other.stdout.readline() == b"held\n"
    assert holder(paths.lock) == other.pid
    with pytest.raises(Held, match=str(other.pid)):
        Lock(paths.lock)
    other.kill()
    other.communicate()
    assert holder(paths.lock) is None
    Lock(paths.lock).release()


def test_settings_are_layered_and_say_where_they_come_from(paths: Paths) -> None:
    """Default, then file, then environment; the source of each value is told."""
    paths.config.mkdir()
    paths.settings.write_text("declared_path = false\n[supervisor]\nrestart_limit = 3\n")
    loaded = load(paths.settings, {
        "WAYFINDER_SUPERVISOR_RESTART_LIMIT": "5",
        "WAYFINDER_DECLARED_PATH_OFF_PROJECTS": "shop, blog",
    })  # fmt: skip
    assert loaded.settings.declared_path is False
    assert value_of(loaded.settings, "supervisor.restart_limit") == 5
    assert loaded.settings.declared_path_off_projects == ("shop", "blog")
    assert loaded.sources["declared_path"] == str(paths.settings)
    assert loaded.sources["supervisor.restart_limit"].startswith("environment WAYFINDER_")
    assert loaded.sources["log_level"] == "default"
    assert load(paths.state / "none.toml", {}).settings == Settings()


@pytest.mark.parametrize(
    ("text", "environ", "word"),
    [
        ("[supervisor]\nrestart_limits = 3\n", {}, r"unknown setting 'supervisor\.restart_limits'"),
        ("[supervisor]\nrestart_limit = 0\n", {}, "supervisor.restart_limit"),
        ("declared_path = [", {}, "wayfinder.toml"),
        ("", {"WAYFINDER_SUPERVISOR_RESTART_LIMIT": "many"}, "environment"),
    ],
)
def test_a_wrong_setting_is_named(paths: Paths, text: str, environ, word: str) -> None:
    """A misspelt name and an unusable value are errors that say where they stand."""
    paths.config.mkdir()
    paths.settings.write_text(text)
    with pytest.raises(BadSetting, match=word):
        load(paths.settings, environ)


def test_a_log_line_is_one_line_of_ascii_json(paths: Paths) -> None:
    """Line ends, separators and escapes inside values stay inside their record; tokens in an
    exception's text are masked and the text is cut."""
    log = Log(paths.logs, "viewer")
    token = "abc123" * 8
    try:
        raise ValueError(f"bad {token}\nnext\u2028\x1b[2J " + "x " * 400)
    except ValueError as error:
        log.error("crashed", error, session="pi-1")
    log.debug("unseen")
    (file,) = paths.logs.glob("viewer.*.jsonl")
    (line,) = file.read_bytes().splitlines()
    assert line.isascii() and b"\x1b" not in line
    said = json.loads(line)
    assert list(said)[:5] == ["at", "level", "process", "pid", "event"]
    assert (said["error"], said["session"]) == ("ValueError", "pi-1")
    assert token not in said["said"] and len(said["said"]) <= 300
    assert file.stat().st_mode & 0o777 == 0o600


def test_logs_stay_small_and_go_after_a_week(paths: Paths) -> None:
    """A day's lines stay below 5 MB with the newest kept; only seven days are kept."""
    file = DailyFile(paths.logs, "viewer", days=7)
    line = b"x" * (1 << 20) + b"\n"
    for _ in range(12):
        file.write(line, "2026-07-01")
    kept = list(paths.logs.glob("viewer.2026-07-01.jsonl*"))
    assert sum(path.stat().st_size for path in kept) <= FILE_BYTES_MAX
    for day in range(2, 12):
        file.write(b"last\n", f"2026-07-{day:02d}")
    days = sorted(path.name.split(".")[1] for path in paths.logs.glob("viewer.*"))
    assert days == [f"2026-07-{day:02d}" for day in range(5, 12)]


@settings(deadline=None)
@given(st.lists(st.binary(max_size=20).map(lambda b: b.replace(b"\n", b"")), max_size=10),
       st.integers(1, 7))  # fmt: skip
def test_lines_do_not_depend_on_how_bytes_arrive(texts: list[bytes], step: int) -> None:
    """However a stream is cut, the same whole lines come out."""
    stream = b"".join(text + b"\n" for text in texts)
    lines = Lines(64)
    got = [line for i in range(0, len(stream), step) for line in lines.feed(stream[i : i + step])]
    assert got == [text for text in texts if text]


def test_an_endless_line_is_cut_off() -> None:
    """A line over the bound is an error before it is whole, and when it is."""
    with pytest.raises(LineTooLong):
        Lines(8).feed(b"123456789")
    with pytest.raises(LineTooLong):
        Lines(8).feed(b"123456789\n")
    assert Lines(8).feed(b"12345678\n") == [b"12345678"]


def test_a_peer_that_does_not_read_is_cut_off(paths: Paths) -> None:
    """What waits for a peer is bounded; the peer is known by the kernel's word."""
    listener = listen(paths, "human.sock")
    assert accept(listener) is None
    caller = dial(paths, "human.sock")
    link = accept(listener)
    assert link is not None
    assert (link.peer.pid, link.peer.uid) == (os.getpid(), os.geteuid())
    assert peer_of(caller).pid == os.getpid()
    for _ in range(2 + UNSENT_BYTES_MAX // (1 << 20) * 2):
        link.send(b"x" * (1 << 20))
    assert link.closed
    caller.close()
    listener.close()


def test_a_loop_serves_sources_and_timers_in_their_turn() -> None:
    """Readable sources call back, timers run when due and in order, a forgotten source is quiet."""
    loop = Loop()
    left, right = socket.socketpair()
    seen: list[str] = []
    loop.watch(left.fileno(), lambda: seen.append(left.recv(10).decode()))
    right.send(b"a")
    loop.turn(1000)
    assert seen == ["a"]
    loop.after(2, lambda: seen.append("second"))
    loop.after(1, lambda: seen.append("first"))
    loop.after(3, loop.stop)
    loop.run()
    assert seen == ["a", "first", "second"]
    loop.forget(left.fileno())
    right.send(b"b")
    loop.turn(0)
    assert seen == ["a", "first", "second"]
    left.close()
    right.close()
