"""The static shell, read once into a table {path: (type, bytes)}: no request reaches a file system.

What is not in the table does not exist, whatever a path is spelt like.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from msgspec import Struct

TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml; charset=utf-8",
}


class Asset(Struct, frozen=True):
    type: str
    body: bytes


def load() -> dict[str, Asset]:
    """`/` is the page; everything else stands below `/static/` by its file name."""
    table: dict[str, Asset] = {}
    for file in files(__package__ or __name__).joinpath("static").iterdir():
        suffix = "." + file.name.rpartition(".")[2]
        if suffix in TYPES:
            path = "/" if file.name == "index.html" else f"/static/{file.name}"
            table[path] = Asset(TYPES[suffix], file.read_bytes())
    return table
