"""One session's frames, each sharing with the one before whatever is the same.

A node, an episode or a piece of evidence that did not change is the very same JSON object, so that
`merge.diff` steps over it: a change costs what changed, in a net of any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ...reducer.attention.look import Look
from ...reducer.attention.scene import Scenery
from ...reducer.attention.view import View
from ...reducer.session.state import Session
from ..eventlog.reader import Proposal
from ..messages import Live
from .merge import Json, plain
from .outside import outside_of

_NAMES = dict(zip(View.__struct_fields__, View.__struct_encode_fields__, strict=True))
_APART = frozenset({"scene", "episodes", "evidence"})


class Frames:
    """For one session and one viewer. Drop it together with the session it drew."""

    def __init__(self, viewer: str) -> None:
        self._viewer = viewer
        self._scenery = Scenery()
        self._last: dict[str, dict[str, tuple[Struct, Json]]] = {}

    def frame(
        self, session: Session, row: Struct | None, live: Live, waiting: Sequence[Proposal]
    ) -> Json:
        """What every client is kept in step with. The view is worded in English; `zh` holds the
        same texts in Chinese."""
        outside = outside_of(session, waiting, asking=live.waiting is not None)
        look = Look(session, viewer=self._viewer, outside=outside, scenery=self._scenery)
        chinese = {_NAMES[name]: value for name, value in look.texts("zh").items()}
        return {
            "session": plain(row),
            "live": plain(live),
            "seq": session.seq,
            "view": self._view(look.view("en")),
            "zh": plain(chinese),
        }

    def _view(self, view: View) -> Json:
        said: dict[str, Any] = {
            _NAMES[name]: getattr(view, name)
            for name in View.__struct_fields__
            if name not in _APART
        }
        scene = view.scene
        return {
            **plain(said),
            "scene": {
                name: self._shared(name, getattr(scene, name))
                for name in ("places", "steps", "arcs", "tokens")
            },
            "episodes": self._shared("episodes", view.episodes),
            "evidence": self._shared("evidence", view.evidence),
        }

    def _shared(self, name: str, structs: dict[str, Any]) -> Json:
        last = self._last.get(name, {})
        now: dict[str, tuple[Struct, Json]] = {}
        for key, struct in structs.items():
            known = last.get(key)
            same = known is not None and (known[0] is struct or known[0] == struct)
            now[key] = known if same and known is not None else (struct, plain(struct))
        self._last[name] = now
        return {key: json for key, (_, json) in now.items()}
