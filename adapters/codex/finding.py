"""Where rollouts lie, and what they look like from outside."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ..files import found
from ..reader import Source, compact

AGENT: Final = "codex"


def id_in(path: Path) -> str | None:
    found_id = re.search(
        r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\Z", path.stem
    )
    return found_id[1] if found_id else None


def recognises(head: bytes) -> bool:
    head = compact(head)
    first = head.lstrip()[:4000]
    if b'"type":"session_meta"' in first or b'"type":"thread.started"' in first:
        return True
    if b'"type":"event_msg"' in head and b'"payload":' in head:
        return True
    if b'"type":"response_item"' in head and b'"payload":' in head:
        return True
    return b'"instructions":' in first and b'"record_type":"state"' in head


def discover() -> Iterator[Source]:
    home = Path(os.environ.get("CODEX_HOME") or str(Path.home() / ".codex"))
    for folder in ("sessions", "archived_sessions"):
        yield from found(AGENT, home / folder, "**/rollout-*.jsonl", id_in)
