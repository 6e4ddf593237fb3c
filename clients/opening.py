"""Opening the page: has its process started, and asks it for a link that works once."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from ..daemon.control import NotRunning, ask_open
from ..daemon.paths import Paths
from .human import DaemonAway, connect
from .web.door import Opened, ask_page

PATIENCE_S: Final = 20.0
POLL_S: Final = 0.05


def open_page(paths: Paths, *, start: bool, say: Callable[[str], None]) -> Opened:
    """Raises DaemonAway; PermissionError if this caller may not open a page."""
    try:
        ask_open(paths)
    except NotRunning:
        connect(paths, start=start, say=say).close()
        ask_open(paths)
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return ask_page(paths)
        except (FileNotFoundError, ConnectionError) as error:
            if time.monotonic() > deadline:
                raise DaemonAway("the page did not start; `wayfinderd status` tells why") from error
            ask_open(paths)  # again: the one before may have been on its way out
            time.sleep(POLL_S)
