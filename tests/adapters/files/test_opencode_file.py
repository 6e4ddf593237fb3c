"""OpenCode: export documents and the live database, which must say the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from wayfinder.adapters.normalise.clean import Cleaner
from wayfinder.adapters.opencode import live
from wayfinder.adapters.opencode.file import FORMAT
from wayfinder.adapters.reader import Source, Stream
from wayfinder.daemon.redact.hmacs import References
from wayfinder.reducer.vocabulary.observation import (
    AnyObservation,
    Called,
    NoteCode,
    Noted,
    Planned,
    Prompted,
    Settled,
    SettleReason,
)
from wayfinder.reducer.vocabulary.terms import EpisodeKind, Outcome

OWN = "ses_0000000000000001"


def message(own: str, role: str, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": {"id": own, "sessionID": OWN, "role": role,
                     "time": {"created": 1000, "completed": 2000}, **info},
            "parts": [{"id": f"{own}_p{n}", "messageID": own, **part}
                      for n, part in enumerate(parts)]}  # fmt: skip


def tool(name: str, args: dict[str, Any], status: str = "completed", **state: Any) -> Any:
    return {"type": "tool", "tool": name, "callID": f"call_{name}",
            "state": {"status": status, "input": args, "time": {"start": 1100, "end": 1200},
                      **state}}  # fmt: skip


EXPORT: dict[str, Any] = {
    "info": {"id": OWN, "directory": "/home/dev/shop", "version": "1.18.0",
             "time": {"created": 900}},
    "messages": [
        message("msg_1", "user", {"type": "text", "text": "check the tests"}),
        message("msg_2", "assistant",
                {"type": "reasoning", "text": "hidden"},
                tool("bash", {"command": "npm test"}, output="1 failing", metadata={"exit": 1}),
                tool("read", {"filePath": "/x"}, "error", error="File not found: /x"),
                tool("todowrite", {"todos": [{"content": "mend", "status": "pending"}]}, output=""),
                finish="tool-calls"),
        message("msg_3", "assistant", {"type": "text", "text": "done"}, finish="stop"),
        message("msg_4", "user", {"type": "compaction"}),
        message("msg_5", "user", {"type": "text", "text": "go on"}),
        message("msg_6", "assistant", error={"name": "MessageAbortedError", "data": {}}),
    ],
}  # fmt: skip


def test_an_export_reads_whole(read: Any) -> None:
    """A failed command has the state completed; its exit code stands in the metadata."""
    found = read("opencode", [json.dumps(EXPORT, indent=2)], name="export.json")
    assert [p.line for p in found.of(Prompted)] == ["check the tests", "go on"]
    test, look, todo = found.of(Called)
    assert (test.kind, test.outcome) == (EpisodeKind.TEST, Outcome.FAILED)
    assert (look.outcome, todo.kind) == (Outcome.TOOL_ERROR, EpisodeKind.PLAN)
    assert [i.text for i in found.of(Planned)[0].items] == ["mend"]
    assert [n.code for n in found.of(Noted)] == [NoteCode.COMPACTION]
    assert [s.reason for s in found.of(Settled)] == [SettleReason.STOP, SettleReason.ABORTED]


def test_a_sanitised_command_has_an_unknown_end(read: Any) -> None:
    """Without a status nothing is claimed."""
    bash = tool("bash", {"redacted": "x"}, output="[redacted:x]", metadata={"redacted": "x"})
    export = {**EXPORT, "messages": [message("msg_1", "assistant", bash)]}
    (call,) = read("opencode", [json.dumps(export)], name="export.json").of(Called)
    assert call.outcome is Outcome.UNKNOWN


@pytest.fixture
def database(tmp_path: Path) -> apsw.Connection:
    opened = apsw.Connection(str(tmp_path / "opencode.db"))
    opened.execute("PRAGMA journal_mode=WAL")
    opened.execute("""
        CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, version TEXT,
                              time_created INTEGER, time_updated INTEGER);
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,
                              data TEXT);
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, data TEXT);
        CREATE TABLE event (id TEXT PRIMARY KEY, aggregate_id TEXT, seq INTEGER, type TEXT,
                            data TEXT)""")
    opened.execute(
        "INSERT INTO session VALUES (?, NULL, '/home/dev/shop', '1.18.0', 900, 5)", (OWN,)
    )
    opened.execute("INSERT INTO session VALUES ('ses_child', ?, '/x', '1', 900, 6)", (OWN,))
    return opened


class Writer:
    """Appends events as the program does: parts again and again while they change."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database
        self._seq = -1

    def put(self, kind: str, **data: Any) -> None:
        self._seq += 1
        row = (f"evt_{self._seq}", OWN, self._seq, f"{kind}.1", json.dumps(data))
        self._database.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?)", row)

    def all(self, export: dict[str, Any]) -> None:
        self.put("session.created", info=export["info"])
        for each in export["messages"]:
            begun = {k: v for k, v in each["info"].items() if k not in ("finish", "error")}
            self.put("message.updated", info=begun)
            for part in each["parts"]:
                if part["type"] == "tool":
                    state = {**part["state"], "status": "running"}
                    self.put("message.part.updated", part={**part, "state": state})
                self.put("message.part.updated", part=part)
            self.put("message.updated", info=each["info"])
            self.put("message.updated", info=each["info"])


@pytest.fixture
def stream_of(refs: References, cleaner: Cleaner) -> Callable[[apsw.Connection], Stream]:
    def opened(database: apsw.Connection) -> Stream:
        source = Source("opencode", Path(database.filename), OWN)
        return Stream(FORMAT.open_session(source, refs), cleaner)

    return opened


def all_of(stream: Stream) -> list[AnyObservation]:
    return [each for batch in stream.read(final=False) for each in batch]


def test_the_database_says_what_the_export_says(
    database: apsw.Connection, read: Any, stream_of: Any
) -> None:
    """Events, tables and document of one session give the same observations."""
    exported = read("opencode", [json.dumps(EXPORT)], name="export.json").observations
    for each in EXPORT["messages"]:
        info = {k: v for k, v in each["info"].items() if k != "id"}
        row = (each["info"]["id"], OWN, 1000, json.dumps(info))
        database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
        for part in each["parts"]:
            row = (part["id"], each["info"]["id"], json.dumps(part))
            database.execute("INSERT INTO part VALUES (?, ?, ?)", row)
    assert all_of(stream_of(database)) == exported
    Writer(database).all(EXPORT)
    assert all_of(stream_of(database)) == exported


def test_a_growing_database_is_tailed_without_writing_to_it(
    database: apsw.Connection, stream_of: Any
) -> None:
    """Each reading goes on where the last one ended; nothing is told twice."""
    writer, stream = Writer(database), stream_of(database)
    first = {**EXPORT, "messages": EXPORT["messages"][:2]}
    writer.all(first)
    early = all_of(stream)
    assert all_of(stream) == []
    for each in EXPORT["messages"][2:3]:
        writer.put("message.updated", info=each["info"])
    late = all_of(stream)
    assert [type(seen).__name__ for seen in late] == ["Settled"]
    assert late[0].position == early[-1].position + 1
    with live.connected(Path(database.filename)) as readonly, pytest.raises(apsw.ReadOnlyError):
        readonly.execute("DELETE FROM event")


def test_sessions_of_sub_agents_belong_to_their_parents(database: apsw.Connection) -> None:
    assert [s.session for s in live.sessions_of(Path(database.filename))] == [OWN]


def test_an_odd_row_is_skipped_and_counted(database: apsw.Connection, stream_of: Any) -> None:
    Writer(database).put("session.created", info=EXPORT["info"])
    database.execute("INSERT INTO event VALUES ('x', ?, 50, 'message.updated.1', '{oops')", (OWN,))
    stream = stream_of(database)
    assert len(all_of(stream)) == 1
    assert dict(stream.session.skips.lost) == {"odd_shape": 1}
