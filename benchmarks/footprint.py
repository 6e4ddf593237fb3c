"""What it costs to have it: memory of each process, time to start, and the cold `brief`."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from wayfinder.clients.demo.feed import Feed
from wayfinder.clients.demo.own_daemon import OwnDaemon
from wayfinder.clients.demo.recording import load
from wayfinder.daemon.control import ask_status

from .result import Result, beside, interleaved, median, spread

BARE = "print(open('/proc/self/statm').read().split()[1])"
MIB = 1 << 20


def bare_rss_mib() -> float:
    pages = subprocess.run([sys.executable, "-c", BARE], capture_output=True, check=True).stdout
    return int(pages) * 4096 / MIB


def memory(daemon: OwnDaemon) -> list[Result]:
    """After one real session has gone through all of them."""
    bare = bare_rss_mib()
    return [
        beside(f"memory of the {p.name}", "MiB", p.rss_bytes / MIB, "bare Python", bare)
        for p in ask_status(daemon.paths).processes
        if p.rss_bytes
    ]


def timed(command: list[str], environment: dict[str, str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, env=environment, capture_output=True, check=True)
    return (time.perf_counter() - begun) * 1_000


def cold_brief(daemon: OwnDaemon) -> list[Result]:
    wayfinder = str(Path(sys.executable).with_name("wayfinder"))
    environment = daemon.environment
    seen = interleaved({
        "brief": lambda: timed([wayfinder, "brief"], environment),
        "pass": lambda: timed([sys.executable, "-c", "pass"], environment),
    })  # fmt: skip
    ours, peer = median(seen["brief"]), median(seen["pass"])
    return [beside("cold `wayfinder brief`", "ms", ours, "python -c pass", peer,
                   spread(seen["brief"]))]  # fmt: skip


def start() -> list[Result]:
    spent = []
    for _ in range(3):
        daemon = OwnDaemon()
        begun = time.perf_counter()
        with daemon:
            spent.append((time.perf_counter() - begun) * 1_000)
    return [Result("wayfinderd, start until ready", "ms", median(spent), spread=spread(spent))]


def run() -> list[Result]:
    results = start()
    with OwnDaemon() as daemon:
        Feed(daemon.sock, load(), base_ms=time.time_ns() // 1_000_000, speed=20).play()
        return [*results, *memory(daemon), *cold_brief(daemon)]
