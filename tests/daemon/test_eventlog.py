"""The contract of the event log, over real SQLite files."""

from __future__ import annotations

import stat
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from wayfinder.daemon.eventlog import connection as opening
from wayfinder.daemon.eventlog import schema
from wayfinder.daemon.eventlog.connection import LogUnavailable, NoLog
from wayfinder.daemon.eventlog.order import Order, OutOfOrder
from wayfinder.daemon.eventlog.reader import Reader
from wayfinder.daemon.eventlog.writer import Writer
from wayfinder.daemon.paths import Paths
from wayfinder.reducer.session.seal import Cause, seal
from wayfinder.reducer.vocabulary.codec import encode
from wayfinder.reducer.vocabulary.event import Envelope
from wayfinder.reducer.vocabulary.patch import Actor
from wayfinder.reducer.vocabulary.payload import PatchCommitted, PathDeclared, PromptReceived
from wayfinder.reducer.vocabulary.terms import ActorType, Channel

SESSION = "pi-1"
DIGEST = "sha256:" + "0" * 64


def prompts(count: int, last_seq: int = 0, revision: int = 0, session: str = SESSION):
    """Events that stand alone."""
    cause = Cause(Channel.OBSERVED, Actor(ActorType.ADAPTER, "pi"), "obs_1")
    payloads = [PromptReceived(f"line {n}", position=n) for n in range(count)]
    return seal(payloads, cause, session_id=session, last_seq=last_seq,
                revision_before=revision, revision_after=revision, now_ms=1_000)  # fmt: skip


def batch(last_seq: int = 0, revision: int = 0, session: str = SESSION, cause: str = "patch_1"):
    """One patch: an opener and its closer."""
    payloads = [
        PathDeclared("patch_1", "key_1", DIGEST, op_count=0, position=0),
        PatchCommitted("patch_1", event_count=2, net_digest=DIGEST),
    ]
    actor = Actor(ActorType.AGENT, "main")
    return seal(payloads, Cause(Channel.DECLARED_PATH, actor, cause), session_id=session,
                last_seq=last_seq, revision_before=revision, revision_after=revision + 1,
                now_ms=2_000)  # fmt: skip


def written(writer: Writer, events: list[Envelope]) -> None:
    with writer.transaction():
        writer.append(events[0].session_id, events)


def test_what_was_appended_is_read_back_byte_for_byte(writer: Writer, paths: Paths) -> None:
    """Events come back in order, equal to what went in, through a second, read-only connection."""
    events = [*prompts(3), *batch(3), *prompts(700, 5, 1)]
    written(writer, events)
    reader = Reader.open(paths.database)
    assert [encode(e) for e in reader.events(SESSION)] == [encode(e) for e in events]
    assert [e.session_seq for e in reader.events(SESSION, 6, 8)] == [6, 7, 8]
    row = reader.session(SESSION)
    assert row is not None and (row.last_seq, row.revision) == (705, 1)
    reader.close()


@pytest.mark.parametrize(
    "bad",
    [
        prompts(1, last_seq=1),
        prompts(2)[:1] * 2,
        prompts(1, revision=1),
        batch()[:1],
        batch()[1:],
        [batch()[0], *prompts(1, 1)],
        [batch()[0], batch(cause="patch_2")[1]],
        [replace(prompts(1)[0], graph_revision_after=2)],
        [replace(prompts(1)[0], session_id="pi-2")],
        [replace(prompts(1)[0], kind="patch.committed")],
    ],
    ids=["gap", "repeat", "revision ahead", "open batch", "half batch", "event inside a batch",
         "two causes", "revision leap", "other session", "closer alone"],
)  # fmt: skip
def test_events_that_cannot_follow_are_refused_before_they_reach_the_file(
    writer: Writer, bad: list[Envelope]
) -> None:
    """A write that breaks the order raises, writes nothing, and leaves the log usable."""
    with pytest.raises(OutOfOrder), writer.transaction():
        writer.append(SESSION, bad)
    assert writer.read.sessions() == []
    written(writer, prompts(1))
    assert writer.read.last_seq(SESSION) == 1


def test_a_failed_transaction_leaves_nothing_behind(writer: Writer) -> None:
    """Whatever raises inside a transaction, none of it is in the file and numbers start anew."""
    with pytest.raises(RuntimeError, match="stop"), writer.transaction():
        writer.append(SESSION, prompts(2))
        writer.advance_stream(SESSION, 7, b"{}")
        raise RuntimeError("stop")
    assert writer.read.sessions() == []
    assert writer.read.stream(SESSION) == (0, "{}")
    written(writer, prompts(1))


@pytest.mark.parametrize("table", schema.APPEND_ONLY)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {t} SET session_key = 9",
        "DELETE FROM {t}",
        "INSERT OR REPLACE INTO {t} SELECT * FROM {t}",
        "DROP TABLE {t}",
        "DROP TRIGGER {t}_keeps_what_was_said",
        "ALTER TABLE {t} RENAME TO other",
    ],
)
def test_history_cannot_be_changed(writer: Writer, table: str, statement: str) -> None:
    """No statement on the writer's connection changes, deletes or replaces what was said."""
    with writer.transaction():
        writer.append(SESSION, prompts(1))
        writer.bind_answer(SESSION, "main", "key", DIGEST, b"{}")
        writer.record_rejection(SESSION, "main", 1, 1, "unknown_id", b"{}")
        writer.record_empty_update(SESSION, "main", 1, 1, DIGEST)
    with pytest.raises((apsw.ConstraintError, apsw.AuthError)), writer.transaction():
        writer.connection.execute(statement.format(t=table))


def test_a_changed_byte_is_found_when_it_is_read(writer: Writer, paths: Paths) -> None:
    """An event whose bytes are not those written is not shown, nor anything after it."""
    written(writer, prompts(3))
    writer.close()
    tampering = apsw.Connection(str(paths.database))
    tampering.execute("DROP TRIGGER net_events_keeps_what_was_said")
    tampering.execute(
        "UPDATE net_events SET body = replace(body, 'line 1', 'line 7') WHERE session_seq = 2"
    )
    tampering.close()
    reader = Reader.open(paths.database)
    seen: list[int] = []
    with pytest.raises(OutOfOrder, match="event 2"):
        seen.extend(e.session_seq for e in reader.events(SESSION))
    assert seen == [1]
    reader.close()


def test_a_missing_event_is_found_when_it_is_read(writer: Writer, paths: Paths) -> None:
    """A hole in the numbers ends the reading with an error that names it."""
    written(writer, prompts(3))
    writer.close()
    tampering = apsw.Connection(str(paths.database))
    tampering.execute("DROP TRIGGER net_events_keeps_what_was_kept")
    tampering.execute("DELETE FROM net_events WHERE session_seq = 3")
    tampering.close()
    reader = Reader.open(paths.database)
    with pytest.raises(OutOfOrder, match="event 3 of 3"):
        list(reader.events(SESSION))
    reader.close()


@given(cuts=st.lists(st.integers(1, 5), max_size=8), start=st.integers(1, 8))
@settings(max_examples=50, deadline=None)
def test_reading_may_begin_at_any_event(cuts: list[int], start: int) -> None:
    """The chain checks from any event on, however the events were batched when written."""
    order = Order(SESSION)
    events = [e for n, _ in enumerate(cuts) for e in batch(2 * n, n)]
    chains = [order.step(e, encode(e)) for e in events]
    if start > len(events):
        return
    resumed = Order(SESSION, start - 1, None, chains[start - 2] if start > 1 else b"")
    again = [resumed.step(e, encode(e)) for e in events[start - 1 :]]
    assert again == chains[start - 1 :]


def test_the_settings_of_a_connection_are_what_we_say(writer: Writer, paths: Paths) -> None:
    """Every PRAGMA reads back as written, and file and side files are 0600."""
    written(writer, prompts(1))
    wanted = {
        "journal_mode": "wal", "synchronous": 2, "page_size": 8192, "secure_delete": 1,
        "recursive_triggers": 1, "foreign_keys": 1, "trusted_schema": 0, "mmap_size": 0,
        "application_id": schema.APPLICATION_ID, "user_version": schema.USER_VERSION,
    }  # fmt: skip
    assert {name: writer.connection.pragma(name) for name in wanted} == wanted
    for suffix in ("", "-wal", "-shm", ".lock"):
        file = Path(f"{paths.database}{suffix}")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    tables = writer.connection.execute("PRAGMA table_list").fetchall()
    ours = {row[1]: row[5] for row in tables if not str(row[1]).startswith("sqlite_")}
    assert set(ours.values()) == {1}, "every table is STRICT"
    assert {"sessions", "net_events", "places", "transitions", "tokens", "episodes", "evidence",
            "patch_proposals", "human_corrections"} <= set(ours)  # fmt: skip


def test_two_writers_never_meet(writer: Writer, paths: Paths) -> None:
    """A second writer of the same file is refused, and told who holds it."""
    with pytest.raises(LogUnavailable, match="another process"):
        Writer(paths.database)


def test_old_sqlite_newer_files_and_foreign_files_are_refused(paths: Paths) -> None:
    """A library that corrupts, a format we do not know, a database that is not ours: refused."""
    with pytest.raises(LogUnavailable, match=r"3\.51\.2 can corrupt"):
        opening.check_sqlite("3.51.2")
    opening.check_sqlite("3.51.3")
    with pytest.raises(NoLog):
        Reader.open(paths.database)
    Writer(paths.database).close()
    future = apsw.Connection(str(paths.database))
    future.pragma("user_version", schema.USER_VERSION + 1)
    future.close()
    for opener in (Writer, Reader.open):
        with pytest.raises(LogUnavailable, match="newer Wayfinder"):
            opener(paths.database)
    other = apsw.Connection(str(paths.state / "other.db"))
    other.execute("CREATE TABLE t (x)")
    other.close()
    (paths.state / "text.db").write_text("not a database at all" * 100)
    for name, match in (("other.db", "another program"), ("text.db", "not a SQLite database")):
        with pytest.raises(LogUnavailable, match=match):
            Writer(paths.state / name)


def test_a_link_in_place_of_the_log_is_not_followed(paths: Paths) -> None:
    """The log is never written through a symbolic link."""
    (paths.state / "elsewhere").touch()
    paths.database.symlink_to(paths.state / "elsewhere")
    with pytest.raises(LogUnavailable, match="cannot open"):
        Writer(paths.database)


def test_a_backup_is_the_log_at_one_moment(writer: Writer, paths: Paths) -> None:
    """A copy taken while the writer goes on is sound, whole and 0600; it never overwrites."""
    written(writer, prompts(5))
    reader = Reader.open(paths.database)
    copy = paths.state / "copy.db"
    reader.backup(copy)
    written(writer, prompts(5, 5))
    restored = Reader.open(copy)
    assert [e.session_seq for e in restored.events(SESSION)] == [1, 2, 3, 4, 5]
    assert restored.check() == []
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        reader.backup(copy)
    restored.close()
    reader.close()


def test_answers_bind_once_and_proposals_stand_apart(writer: Writer) -> None:
    """A key is bound once; a proposal sent twice is one; a decision is made once."""
    with writer.transaction():
        writer.append(SESSION, prompts(1))
        writer.bind_answer(SESSION, "main", "k", DIGEST, b'{"status":"applied"}')
        writer.store_proposal(SESSION, "pr_1", "main", 5, 0, b'{"ops":[]}')
        writer.store_proposal(SESSION, "pr_1", "main", 6, 0, b'{"ops":[1]}')
        writer.decide_proposal(SESSION, "pr_1", "accepted", 7, "me")
        writer.decide_proposal(SESSION, "pr_1", "rejected", 8, "me")
    assert writer.read.answer(SESSION, "main", "k") == (DIGEST, '{"status":"applied"}')
    assert writer.read.answer(SESSION, "other", "k") is None
    (proposal,) = writer.read.proposals(SESSION)
    assert (proposal.at_ms, proposal.body, proposal.decision) == (5, '{"ops":[]}', "accepted")
    with pytest.raises(apsw.ConstraintError), writer.transaction():
        writer.bind_answer(SESSION, "main", "k", DIGEST, b"{}")


def test_a_purged_session_leaves_no_byte(writer: Writer, paths: Paths) -> None:
    """After a purge the words of the session are in none of our files; others are untouched."""
    word = "unmistakable"
    marked = replace(prompts(1)[0], payload=Raw(encode(PromptReceived(word, 0))))
    written(writer, [marked])
    written(writer, prompts(2, session="pi-2"))
    assert writer.purge(SESSION) == 1
    assert [row.session_id for row in writer.read.sessions()] == ["pi-2"]
    assert len(list(writer.read.events("pi-2"))) == 2
    for file in paths.state.iterdir():
        if file.is_file():
            assert word.encode() not in file.read_bytes(), file
    with pytest.raises(apsw.ConstraintError), writer.transaction():
        writer.connection.execute("DELETE FROM net_events")
