from __future__ import annotations

import os
import pty
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from wayfinder.daemon.who import Kin, Peer, Standing, judge, line_of, peer_of, who

ME = Peer(100, os.geteuid())
SHELL = Kin(99, "zsh", terminal=True)
CLI = Kin(100, "wayfinder", terminal=True)

CONNECT = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.recv(1)"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[socket.socket]:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "human.sock"))
    listener.listen(1)
    listener.settimeout(20)
    yield listener
    listener.close()


def _connected(
    listener: socket.socket, env: dict[str, str], stdin: int | None = None
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    child = subprocess.Popen(
        [sys.executable, "-c", CONNECT, listener.getsockname()],
        env=env,
        stdin=stdin,
        start_new_session=True,
    )
    return child, listener.accept()[0]


def test_a_person_at_a_terminal_is_confirmed() -> None:
    """A process with a terminal and no agent about it is taken for a person."""
    assert judge(ME, [CLI, SHELL], agents=()).standing is Standing.CONFIRMED


def test_a_descendant_of_a_connected_agent_is_refused() -> None:
    """Whatever else it shows, a caller below a connected agent is no person."""
    caller = judge(ME, [CLI, SHELL, Kin(7, "node", terminal=True)], agents={7}, page={100})
    assert (caller.standing, caller.reason) == (Standing.REFUSED, "descends_from_agent")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ((), "not_readable"),
        ((Kin(100, "", readable=False),), "not_readable"),
        ((Kin(100, "wayfinder", ("AI_AGENT",), terminal=True), SHELL), "agent_environment"),
        ((CLI, Kin(99, "bash", ("PI_SESSION_ID",))), "agent_environment"),
        ((CLI, SHELL, Kin(5, "claude", terminal=True)), "agent_program"),
        ((Kin(100, "wayfinder"), SHELL), "no_terminal"),
    ],
)
def test_doubt_leaves_it_unconfirmed(line: tuple[Kin, ...], reason: str) -> None:
    """Marks, names, a missing terminal or an unreadable process need a click in the page."""
    caller = judge(ME, line, agents=())
    assert (caller.standing, caller.reason) == (Standing.UNCONFIRMED, reason)


def test_our_own_page_speaks_for_a_person() -> None:
    """The web client has no terminal; its sign-in is the proof."""
    caller = judge(ME, [Kin(100, "python", ())], agents=(), page={100})
    assert (caller.standing, caller.reason) == (Standing.CONFIRMED, "page")


def test_the_kernel_names_the_peer() -> None:
    """Credentials come from the socket, not from what is written to it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        assert peer_of(ours) == Peer(os.getpid(), os.geteuid())


def test_a_real_child_of_an_agent_is_refused(server: socket.socket) -> None:
    """This test process plays the agent: its child connects and is turned away."""
    child, connection = _connected(server, {})
    with child, connection:
        caller = who(connection, agents={os.getpid()})
        connection.close()
    assert (caller.standing, caller.pid) == (Standing.REFUSED, child.pid)


def test_real_agent_marks_are_found_in_the_environment(server: socket.socket) -> None:
    """The marks an agent leaves in its commands' environment are read from the live process."""
    child, connection = _connected(server, {"PI_CODING_AGENT": "true"})
    with child, connection:
        kin = line_of(child.pid)[0]
        connection.close()
    assert kin.marks == ("PI_CODING_AGENT",)


def test_a_detached_process_has_no_terminal(server: socket.socket) -> None:
    """A command an agent runs detached shows no terminal."""
    child, connection = _connected(server, {}, subprocess.DEVNULL)
    with child, connection:
        kin = line_of(child.pid)[0]
        connection.close()
    assert not kin.terminal


def test_a_real_terminal_is_seen() -> None:
    """A process on a pseudo-terminal shows one; the docstring says what that is worth."""
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover
        os.execvp("cat", ["cat"])
    try:
        os.write(terminal, b"x\n")
        said = b""
        while said.count(b"x") < 2:  # the terminal's echo, then cat's own
            said += os.read(terminal, 16)
        assert line_of(pid)[0].terminal
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)


def test_a_process_younger_than_the_connection_is_not_the_caller() -> None:
    """A reused pid is not taken for the process that connected."""
    assert line_of(os.getpid(), accepted_at_s=0.0) == ()
