"""The spool: nothing taken twice, nothing lost on kill -9, nothing kept longer than needed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)

from wayfinder.adapters.spool import PULL_MAX, Spool
from wayfinder.adapters.spooled import Errand
from wayfinder.reducer.vocabulary.observation import Gap, NoteCode, Noted, Opened, SessionInfo

INFO = SessionInfo(session_id="pi-s1", agent="pi")
S = INFO.session_id


def note(position: int) -> Noted:
    return Noted(position, position * 10, NoteCode.MODE)


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    opened = Spool(tmp_path / "spool.db")
    opened.remember(INFO, live=True)
    yield opened
    opened.close()


def test_the_file_is_private(spool: Spool, tmp_path: Path) -> None:
    """Only the owner can read the spool and its journal, whatever the umask was."""
    spool.append(S, [note(1)])
    spool.commit()
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_positions_have_no_holes(spool: Spool) -> None:
    """An observation that does not continue the session's positions is refused."""
    spool.append(S, [note(1), note(2)])
    with pytest.raises(ValueError, match="expected position 3, got 5"):
        spool.append(S, [note(5)])


def test_the_counter_outlives_trimming(spool: Spool) -> None:
    """After everything is committed and trimmed, positions go on where they were."""
    spool.append(S, [note(1), note(2)])
    spool.trim(S, before=3)
    assert (spool.last_position(S), spool.depth()) == (2, 0)
    spool.append(S, [note(3)])
    pulled = spool.pull(S, 3)
    assert pulled is not None
    assert pulled.observations == (note(3),)


def test_a_pull_is_bounded_and_says_that_more_comes(spool: Spool) -> None:
    """One pull gives at most one frame's worth; `open` stays true while more stands behind it."""
    spool.append(S, [note(n) for n in range(1, PULL_MAX + 10)])
    spool.close_session(S)
    first = spool.pull(S, 1)
    assert first is not None
    assert (len(first.observations), first.open) == (PULL_MAX, True)
    rest = spool.pull(S, PULL_MAX + 1)
    assert rest is not None
    assert (len(rest.observations), rest.open) == (9, False)


def test_trimmed_history_comes_back_as_gaps(spool: Spool) -> None:
    """If the event log was lost, what was trimmed is told as missing, position by position."""
    spool.append(S, [note(n) for n in range(1, 5)])
    spool.trim(S, before=4)
    pulled = spool.pull(S, 1)
    assert pulled is not None
    assert [type(o) for o in pulled.observations] == [Opened, Gap, Gap, Noted]
    assert [o.position for o in pulled.observations] == [1, 2, 3, 4]


def test_errands_wait_for_answer_and_delivery(spool: Spool) -> None:
    """A patch is kept until the reconciler answered and the agent got the answer."""
    row = spool.put_errand(Errand(S, "i1", "patch", "c1", 4, b'{"ops":[]}'))
    assert [errand.id for errand in spool.oldest_unanswered(9)] == [row]
    assert spool.has_errand("i1", "c1")
    spool.answered(row, b'{"status":"unchanged"}')
    (kept,) = spool.errands("i1")
    assert (kept.id, kept.body, kept.answer) == (row, b"", b'{"status":"unchanged"}')
    spool.delivered(row)
    assert spool.errands("i1") == []


def test_of_one_session_only_the_oldest_patch_goes(spool: Spool) -> None:
    """Patches of one session are given out one after the other; receipts do not wait."""
    first, second = (spool.put_errand(Errand(S, "i1", "patch", c, 4, b"{}")) for c in "ab")
    receipt = spool.put_errand(Errand(S, "i1", "receipt", "r", 4, b"{}"))
    assert [e.id for e in spool.oldest_unanswered(9)] == [first, receipt]
    assert [spool.is_oldest(row) for row in (first, second, receipt)] == [True, False, True]
    spool.answered(first, b"{}")
    oldest = spool.oldest_of(S)
    assert oldest is not None
    assert (oldest.id, spool.is_oldest(second)) == (second, True)


def test_what_follows_a_patch_waits_for_its_answer(spool: Spool) -> None:
    """Nothing from a patch's place on is handed out before the patch is answered."""
    spool.append(S, [note(n) for n in range(1, 6)])
    spool.close_session(S)
    row = spool.put_errand(Errand(S, "i1", "patch", "c1", 3, b"{}"))
    held = spool.pull(S, 1)
    assert held is not None
    assert ([o.position for o in held.observations], held.open) == ([1, 2], True)
    nothing = spool.pull(S, 3)
    assert nothing is not None
    assert (nothing.observations, nothing.open) == ((), True)
    spool.answered(row, b"{}")
    freed = spool.pull(S, 3)
    assert freed is not None
    assert ([o.position for o in freed.observations], freed.open) == ([3, 4, 5], False)


def test_forget_leaves_nothing(spool: Spool, tmp_path: Path) -> None:
    """A purged session stands in no table and in no byte of the file."""
    marker = Noted(1, 7, NoteCode.SUBAGENT)
    spool.append(S, [marker])
    spool.accept("instance-of-s1", S, 3)
    spool.commit()
    spool.forget(S)
    spool.close()
    raw = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"subagent" not in raw
    assert b"instance-of-s1" not in raw


_WRITER = """
import sys
from pathlib import Path
from wayfinder.adapters.spool import Spool
from wayfinder.reducer.vocabulary.observation import Noted, NoteCode, SessionInfo
spool = Spool(Path(sys.argv[1]))
spool.remember(SessionInfo(session_id="pi-s1", agent="pi"), live=True)
while True:
    at = spool.last_position("pi-s1") + 1
    assert spool.accepted("i1") == at - 1
    spool.append("pi-s1", [Noted(at, at, NoteCode.MODE)])
    spool.accept("i1", "pi-s1", at)
    spool.commit()
    print(at, flush=True)
"""


def test_kill_9_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """Killed in the middle, again and again: all that was acknowledged is there, once, in order."""
    path = tmp_path / "spool.db"
    acked = 0
    for _ in range(4):
        writer = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        for _ in range(40):
            acked = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
        writer.stdout.close()
        writer.wait()
        spool = Spool(path)
        stored = spool.pull(S, 1)
        assert stored is not None
        assert [o.position for o in stored.observations] == list(
            range(1, spool.last_position(S) + 1)
        )
        assert spool.accepted("i1") == spool.last_position(S) >= acked
        spool.close()


class SpoolModel(RuleBasedStateMachine):
    """Against a plain list: appends, trims, restarts and pulls in any order."""

    @initialize()
    def begin(self) -> None:
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "spool.db"
        self.spool = Spool(self.path)
        self.spool.remember(INFO, live=True)
        self.spool.commit()
        self.last, self.trimmed = 0, 0

    @rule(count=st.integers(1, 5))
    def append(self, count: int) -> None:
        self.spool.append(S, [note(self.last + n) for n in range(1, count + 1)])
        self.last += count
        self.spool.commit()

    @rule(count=st.integers(1, 5))
    def abandon(self, count: int) -> None:
        self.spool.append(S, [note(self.last + n) for n in range(1, count + 1)])
        self.spool.rollback()

    @rule(data=st.data())
    def trim(self, data: st.DataObject) -> None:
        self.trimmed = data.draw(st.integers(self.trimmed, self.last))
        self.spool.trim(S, before=self.trimmed + 1)

    @rule()
    def restart(self) -> None:
        self.spool.close()
        self.spool = Spool(self.path)

    @invariant()
    def all_there(self) -> None:
        if not hasattr(self, "spool"):
            return
        pulled = self.spool.pull(S, self.trimmed + 1)
        assert pulled is not None
        assert [o.position for o in pulled.observations] == list(
            range(self.trimmed + 1, self.last + 1)
        )

    def teardown(self) -> None:
        if hasattr(self, "spool"):
            self.spool.close()
            self.folder.cleanup()


TestSpoolModel = SpoolModel.TestCase
TestSpoolModel.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(1, 9), max_size=9))
def test_numbers_only_grow(seqs: list[int]) -> None:
    """Whatever order numbers are accepted in, the highest stands."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        spool = Spool(Path(folder) / "s.db")
        for seq in seqs:
            spool.accept("i", S, seq)
        assert spool.accepted("i") == max(seqs, default=0)
        spool.close()
