"""What it costs: memory of each process, the idle daemon, its start, and the cold `brief`."""

from __future__ import annotations

import os
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
IDLE_S = 20.0


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


def pss_mib(pid: int) -> float:
    """What it really holds: shared pages are divided among those that share them."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle() -> list[Result]:
    """A daemon nobody talks to: all its processes together, after they have come to rest."""
    with OwnDaemon() as daemon:
        time.sleep(2)  # imports and first checks are part of the start, not of idling
        pids = [p.pid for p in ask_status(daemon.paths).processes if p.pid]
        before, begun = sum(map(cpu_s, pids)), time.perf_counter()
        time.sleep(IDLE_S)
        share = (sum(map(cpu_s, pids)) - before) / (time.perf_counter() - begun)
        held = sum(map(pss_mib, pids))
    return [
        Result("idle CPU of the whole daemon", "% of one core", share * 100),
        Result("idle PSS of all processes", "MiB", held),
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
    results = [*start(), *idle()]
    with OwnDaemon() as daemon:
        Feed(daemon.sock, load(), base_ms=time.time_ns() // 1_000_000, speed=20).play()
        return [*results, *memory(daemon), *cold_brief(daemon)]
