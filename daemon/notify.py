"""systemd's readiness protocol: one datagram per message to $NOTIFY_SOCKET.

    READY=1\nSTATUS=text    WATCHDOG=1    STOPPING=1

Silent where no such socket is named (launchd, a terminal, tests).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping


class Notifier:
    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        address = environ.get("NOTIFY_SOCKET", "")
        # "@name" is systemd's spelling of an abstract socket.
        self._address = "\0" + address[1:] if address.startswith("@") else address
        watchdog_us = environ.get("WATCHDOG_USEC", "")
        self.watchdog_ms = int(watchdog_us) // 1000 if watchdog_us.isdigit() else None

    def send(self, **variables: str) -> None:
        """`send(READY="1", STATUS="…")`. A manager that is gone must not take us along."""
        if not self._address:
            return
        message = "\n".join(f"{name}={value}" for name, value in variables.items())
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            try:
                sender.sendto(message.encode(), socket.MSG_DONTWAIT, self._address)
            except OSError:
                return
