"""One figure beside its peer's, and how figures are taken.

Absolute figures are of the machine and the minute; what is promised are ratios of medians, taken
round by round in one run, so that a slow moment is everybody's.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Sequence

from msgspec import Struct


class Result(Struct, frozen=True):
    """`ratio` is ours / peer's: below 1 is better for a time, above 1 for a rate. `spread` is
    (largest - smallest) / median over our rounds, or (p99 - p50) / p50 for latencies."""

    name: str
    unit: str
    ours: float
    peer: str | None = None
    peer_value: float | None = None
    ratio: float | None = None
    spread: float | None = None


def beside(
    name: str, unit: str, ours: float, peer: str, peer_value: float, spread: float | None = None
) -> Result:
    return Result(name, unit, ours, peer, peer_value, ours / peer_value, spread)


def interleaved(
    rounds: dict[str, Callable[[], float]], times: int = 7
) -> dict[str, Sequence[float]]:
    """Each round runs everyone once; the values of each, in order of the rounds."""
    seen: dict[str, list[float]] = {name: [] for name in rounds}
    for _ in range(times):
        for name, run in rounds.items():
            gc.collect()
            seen[name].append(run())
    return {name: tuple(values) for name, values in seen.items()}


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that `percent` of them do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def spread(values: Sequence[float]) -> float:
    return (max(values) - min(values)) / statistics.median(values)
