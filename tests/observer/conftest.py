"""The redactor's compiled rules, made once a run; see tests/support/live_world.py."""

from live_world import rules

__all__ = ["rules"]
