"""Tables, triggers and versions of the log file. Read with any SQLite: bodies are JSON text.

Rules for editors of this file:
* `USER_VERSION` grows with every change; `MIGRATIONS` says how to get there from the one before.
* Nothing here removes a column or changes its meaning: an older file stays readable for ever.
* A derived table may be changed freely: raise `DERIVED_VERSION`, and it is built anew.
"""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x57464C31  # "WFL1": `file` and we know the file by it
USER_VERSION: Final = 1
DERIVED_VERSION: Final = 1
# 3.7.0 to 3.51.2 can lose writes when two connections checkpoint at once (the WAL-reset bug).
SQLITE_VERSION_MIN: Final = (3, 51, 3)

# Why rowid tables with an integer session key: measured 25 % faster than a text key in the unique
# index and half the size of WITHOUT ROWID, which is wrong for rows this big.
PRIMARY: Final = """
CREATE TABLE sessions (
    session_key     INTEGER PRIMARY KEY,
    session_id      TEXT NOT NULL UNIQUE,
    -- The head of its events; moves in the transaction that appends them.
    last_seq        INTEGER NOT NULL DEFAULT 0,
    revision        INTEGER NOT NULL DEFAULT 0,
    chain           BLOB NOT NULL DEFAULT x'',
    last_ts         TEXT NOT NULL DEFAULT '',
    -- For the list of sessions, so that nothing need be folded for it.
    started_ts      TEXT NOT NULL DEFAULT '',
    agent           TEXT NOT NULL DEFAULT '',
    project         TEXT,
    parent_id       TEXT,
    title           TEXT,
    title_level     TEXT,
    settled         TEXT
) STRICT;
CREATE INDEX sessions_by_time ON sessions (last_ts);

CREATE TABLE net_events (
    position        INTEGER PRIMARY KEY AUTOINCREMENT,
    session_key     INTEGER NOT NULL REFERENCES sessions,
    session_seq     INTEGER NOT NULL,
    kind            TEXT NOT NULL,
    chain           BLOB NOT NULL,
    body            TEXT NOT NULL,
    UNIQUE (session_key, session_seq)
) STRICT;

-- The inbox: how far each session's observation stream is committed.
CREATE TABLE streams (
    session_key     INTEGER PRIMARY KEY REFERENCES sessions,
    to_position     INTEGER NOT NULL,
    resume          TEXT NOT NULL
) STRICT;

-- Only applied patches bind a key; the same key and ops get the first answer again.
CREATE TABLE answers (
    session_key     INTEGER NOT NULL REFERENCES sessions,
    agent_id        TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    ops_digest      TEXT NOT NULL,
    body            TEXT NOT NULL,
    UNIQUE (session_key, agent_id, idempotency_key)
) STRICT;

CREATE TABLE patch_proposals (
    position        INTEGER PRIMARY KEY AUTOINCREMENT,
    session_key     INTEGER NOT NULL REFERENCES sessions,
    proposal_id     TEXT NOT NULL,
    agent_id        TEXT NOT NULL,
    at_ms           INTEGER NOT NULL,
    base_revision   INTEGER NOT NULL,
    body            TEXT NOT NULL,
    decision        TEXT,               -- accepted, rejected; NULL: waiting
    decided_at_ms   INTEGER,
    decided_by      TEXT,
    UNIQUE (session_key, proposal_id)
) STRICT;

-- Declared but not applied: what the usefulness of declarations is measured from.
CREATE TABLE rejections (
    position        INTEGER PRIMARY KEY AUTOINCREMENT,
    session_key     INTEGER NOT NULL REFERENCES sessions,
    agent_id        TEXT NOT NULL,
    at_ms           INTEGER NOT NULL,
    stream_position INTEGER NOT NULL,
    code            TEXT NOT NULL,
    body            TEXT NOT NULL
) STRICT;

CREATE TABLE empty_updates (
    position        INTEGER PRIMARY KEY AUTOINCREMENT,
    session_key     INTEGER NOT NULL REFERENCES sessions,
    agent_id        TEXT NOT NULL,
    at_ms           INTEGER NOT NULL,
    stream_position INTEGER NOT NULL,
    ops_digest      TEXT NOT NULL
) STRICT;

CREATE TABLE derivation (
    one             INTEGER PRIMARY KEY CHECK (one = 1),
    version         INTEGER NOT NULL,
    through_position INTEGER NOT NULL
) STRICT;
"""

# INSERT OR REPLACE deletes without asking a DELETE trigger unless recursive_triggers is on.
APPEND_ONLY: Final = ("net_events", "rejections", "empty_updates", "answers")
TRIGGERS: Final = "".join(
    f"""
CREATE TRIGGER {table}_keeps_what_was_{word} BEFORE {verb} ON {table}
BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END;
"""
    for table in APPEND_ONLY
    for verb, word in (("UPDATE", "said"), ("DELETE", "kept"))
)

DERIVED: Final = """
CREATE TABLE places (
    session_key INTEGER NOT NULL, place_id TEXT NOT NULL, type TEXT NOT NULL, label TEXT NOT NULL,
    state TEXT NOT NULL, gate_state TEXT, changed_revision INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (session_key, place_id)
) STRICT;
CREATE TABLE transitions (
    session_key INTEGER NOT NULL, transition_id TEXT NOT NULL, type TEXT NOT NULL,
    intent TEXT NOT NULL, state TEXT NOT NULL, changed_revision INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session_key, transition_id)
) STRICT;
CREATE TABLE tokens (
    session_key INTEGER NOT NULL, token_id TEXT NOT NULL, agent_id TEXT NOT NULL,
    place_id TEXT NOT NULL, reserved_by TEXT, status TEXT NOT NULL,
    PRIMARY KEY (session_key, token_id)
) STRICT;
CREATE TABLE episodes (
    session_key INTEGER NOT NULL, episode_id TEXT NOT NULL, session_seq INTEGER NOT NULL,
    from_position INTEGER NOT NULL, to_position INTEGER NOT NULL, kind TEXT NOT NULL,
    outcome TEXT NOT NULL, transition_id TEXT, ended_at INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (session_key, episode_id)
) STRICT;
CREATE TABLE evidence (
    session_key INTEGER NOT NULL, evidence_id TEXT NOT NULL, session_seq INTEGER NOT NULL,
    target_id TEXT NOT NULL, type TEXT NOT NULL, result TEXT, observed_at INTEGER NOT NULL,
    summary TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (session_key, evidence_id)
) STRICT;
CREATE TABLE human_corrections (
    session_key INTEGER NOT NULL, correction_id TEXT NOT NULL, session_seq INTEGER NOT NULL,
    type TEXT NOT NULL, target_id TEXT, text TEXT, undone_by TEXT, body TEXT NOT NULL,
    PRIMARY KEY (session_key, correction_id)
) STRICT;
"""
DERIVED_TABLES: Final = (
    "places", "transitions", "tokens", "episodes", "evidence", "human_corrections",
)  # fmt: skip

# version → the statements that lead to it from the one before.
MIGRATIONS: Final[dict[int, str]] = {1: PRIMARY + TRIGGERS + DERIVED}
