"""A real adapter and segmenter for each module; see tests/support/live_world.py."""

from live_world import _world, make_world, rules, world

__all__ = ["_world", "make_world", "rules", "world"]
