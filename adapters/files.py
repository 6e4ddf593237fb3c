"""Finding session files on this machine: shared by the folders of all agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from .reader import Source


def found(
    agent: str, folder: Path, pattern: str, id_in: Callable[[Path], str | None]
) -> Iterator[Source]:
    """Plain files below `folder` that match, newest first. What cannot be looked at is left out."""
    sources: list[Source] = []
    try:
        for path in folder.glob(pattern):
            try:
                status = path.stat()
            except OSError:
                continue
            if path.is_file():
                sources.append(Source(agent, path, id_in(path), status.st_mtime, status.st_size))
    except OSError:
        pass
    yield from sorted(sources, key=lambda source: -source.modified)
