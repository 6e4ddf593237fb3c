"""What the observer remembers over restarts: breaker, budget, the mode an endpoint accepts, cache.

One small SQLite file of its own in the state folder. Prompts are never stored: the cache's key is
HMAC(model, schema version, prompt), its value the validated reply.
"""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from typing import Final, TypeVar

import apsw
import msgspec

CACHE_ROWS_MAX: Final = 2_000
T = TypeVar("T")

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS memory(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS answers(
  key TEXT PRIMARY KEY, value TEXT NOT NULL, used_at_ms INTEGER NOT NULL) STRICT;
"""


class ObserverStore:
    def __init__(self, path: Path, key: bytes) -> None:
        """`key` is the install's HMAC key; without it a cache entry says nothing of its prompt."""
        self._db = apsw.Connection(str(path))
        self._db.execute(
            "PRAGMA journal_mode=WAL; PRAGMA secure_delete=ON; PRAGMA busy_timeout=500"
        )
        self._db.execute(_SCHEMA)
        self._key = key

    def recall(self, name: str, type_: type[T], default: T) -> T:
        row = self._db.execute("SELECT value FROM memory WHERE name = ?", (name,)).fetchone()
        return default if row is None else msgspec.json.decode(str(row[0]), type=type_)

    def remember(self, name: str, value: object) -> None:
        encoded = msgspec.json.encode(value).decode()
        self._db.execute("INSERT OR REPLACE INTO memory VALUES(?, ?)", (name, encoded))

    def cache_key(self, model: str, material: bytes) -> str:
        return hmac.new(self._key, b"wf1|observer|" + model.encode() + b"|" + material,
                        hashlib.sha256).hexdigest()  # fmt: skip

    def cached(self, key: str) -> str | None:
        row = self._db.execute("SELECT value FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def cache(self, key: str, value: str, now_ms: int) -> None:
        with self._db:
            self._db.execute("INSERT OR REPLACE INTO answers VALUES(?, ?, ?)", (key, value, now_ms))
            self._db.execute(
                "DELETE FROM answers WHERE key IN (SELECT key FROM answers "
                "ORDER BY used_at_ms DESC LIMIT -1 OFFSET ?)",
                (CACHE_ROWS_MAX,),
            )

    def close(self) -> None:
        self._db.close()
