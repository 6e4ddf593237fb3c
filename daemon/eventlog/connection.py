"""How the log file is opened: every PRAGMA in one place, and every reason to refuse.

    writer   created 0600, WAL, synchronous=FULL, locked for life against a second writer
    reader   read-only, never creates, never checkpoints

Why FULL: in a simulated power cut NORMAL loses transactions that were already acknowledged; FULL
with group commit is as fast. Why a lock file beside the database and not the database itself:
closing any descriptor of the file would drop SQLite's own locks on it (POSIX semantics).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import apsw

from . import schema

BUSY_TIMEOUT_MS: Final = 5_000


class LogUnavailable(RuntimeError):
    """The log cannot be used as it is; the text says why and what to do."""


class NoLog(LogUnavailable):
    """There is no log file yet: nothing has ever been recorded here."""


# The order counts: page_size works before WAL only, secure_delete before the first row.
WRITER_PRAGMAS: Final = (
    "page_size = 8192",
    "secure_delete = ON",
    "journal_mode = WAL",
    "synchronous = FULL",
    "fullfsync = ON",  # macOS: fsync there does not reach the platter; elsewhere no effect
    "checkpoint_fullfsync = ON",
    "wal_autocheckpoint = 1000",
    "journal_size_limit = 67108864",
    "foreign_keys = ON",
    "recursive_triggers = ON",  # else INSERT OR REPLACE walks past the append-only triggers
    "trusted_schema = OFF",
    "mmap_size = 0",
    "temp_store = MEMORY",
)
READER_PRAGMAS: Final = ("query_only = ON", "trusted_schema = OFF", "mmap_size = 0")

# What a bug or a stray statement may never do on the writer's connection after migrations.
_FORBIDDEN: Final = frozenset({
    apsw.SQLITE_DROP_TABLE, apsw.SQLITE_DROP_TRIGGER, apsw.SQLITE_DROP_INDEX,
    apsw.SQLITE_ALTER_TABLE, apsw.SQLITE_ATTACH, apsw.SQLITE_DETACH,
})  # fmt: skip


def open_writer(path: Path, *, vfs: str | None = None) -> apsw.Connection:
    """Creates or migrates the file. Raises LogUnavailable. The caller holds the writer's lock."""
    check_sqlite()
    if vfs is None:
        _create_private(path)
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(str(path), flags=flags, vfs=vfs)
    _harden(connection)
    _check_identity(connection, path)
    for pragma in WRITER_PRAGMAS:
        connection.pragma(*_name_and_value(pragma))
    _migrate(connection)
    forbid_structure(connection)
    return connection


def open_reader(path: Path, *, vfs: str | None = None) -> apsw.Connection:
    """Raises NoLog if there is none, LogUnavailable if it is not ours to read."""
    check_sqlite()
    if vfs is None and not path.exists():
        raise NoLog(f"no log at {path}: nothing has been recorded yet")
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY, vfs=vfs)
    _harden(connection)
    _check_identity(connection, path)
    if connection.pragma("user_version") == 0:
        raise NoLog(f"no log at {path}: it has only just been created")
    for pragma in READER_PRAGMAS:
        connection.pragma(*_name_and_value(pragma))
    return connection


def check_sqlite(version: str = apsw.sqlite_lib_version()) -> None:
    if tuple(map(int, version.split("."))) < schema.SQLITE_VERSION_MIN:
        wanted = ".".join(map(str, schema.SQLITE_VERSION_MIN))
        raise LogUnavailable(
            f"SQLite {version} can corrupt a WAL database; {wanted} or newer is needed "
            f"(upgrade the Python package apsw)"
        )


def forbid_structure(connection: apsw.Connection) -> None:
    """No statement on this connection may change the structure from here on."""

    def decide(action: int, *_: str | None) -> int:
        return apsw.SQLITE_DENY if action in _FORBIDDEN else apsw.SQLITE_OK

    connection.authorizer = decide


def _create_private(path: Path) -> None:
    """Before SQLite sees it, so that it is 0600 from birth; SQLite gives -wal and -shm the same."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        os.close(os.open(path, flags, 0o600))
    except OSError as error:
        raise LogUnavailable(f"cannot open the log {path}: {error.strerror}") from error


def _harden(connection: apsw.Connection) -> None:
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)


def _check_identity(connection: apsw.Connection, path: Path) -> None:
    try:
        version = connection.pragma("user_version")
        application_id = connection.pragma("application_id")
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    except apsw.NotADBError as error:
        raise LogUnavailable(f"{path} is not a SQLite database; please look at it") from error
    if application_id != schema.APPLICATION_ID and (tables or application_id):
        raise LogUnavailable(f"{path} is a database of another program; please look at it")
    if version > schema.USER_VERSION:
        raise LogUnavailable(
            f"{path} was written by a newer Wayfinder (format {version}, this one knows "
            f"{schema.USER_VERSION}); please upgrade"
        )


def _migrate(connection: apsw.Connection) -> None:
    """One transaction per version, the version with it: a killed migration never happened."""
    for version in range(connection.pragma("user_version") + 1, schema.USER_VERSION + 1):
        with connection:
            connection.execute(schema.MIGRATIONS[version])
            connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {version}")
            connection.execute(
                "INSERT OR IGNORE INTO derivation VALUES (1, ?, 0)", (schema.DERIVED_VERSION,)
            )


def _name_and_value(pragma: str) -> tuple[str, str | int]:
    name, _, value = pragma.partition(" = ")
    return name, int(value) if value.isdigit() else value


def platform_note() -> str:
    """For `doctor`: what this machine's durability rests on."""
    return "F_FULLFSYNC" if sys.platform == "darwin" else "fdatasync"
