"""A real adapter and segmenter for each test; see tests/support/live_world.py."""

from live_world import make_world, rules, world

__all__ = ["make_world", "rules", "world"]
