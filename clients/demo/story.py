"""What a person sees go by while the recording plays: one short line per turn of the story."""

from __future__ import annotations

from typing import Any, Final

LINE_CHARS_MAX: Final = 72
Frame = dict[str, Any]


class Story:
    """Feeds on frames in order; says `(who, what)` where something is worth a line.

    `who` is declared (the agent's own word), observed (what its tools did) or asked.
    """

    def __init__(self) -> None:
        self._intents: dict[str, str] = {}
        self._commands: dict[str, str] = {}

    def lines(self, frame: Frame) -> list[tuple[str, str]]:
        if frame["t"] == "patch":
            said = (self._declared(op) for op in frame["patch"]["ops"])
            return [("declared", _short(line)) for line in said if line]
        tell = _EVENTS.get(frame["ev"])
        return [tell(self, frame)] if tell else []

    def _declared(self, op: Frame) -> str:
        kind = op["op"]
        if kind == "create_transition":
            self._intents[op["transitionId"]] = op["intent"]
        elif kind == "create_place" and op["type"] == "Goal":
            return f"goal: {op['label']}"
        elif kind == "activate_transition":
            return f"now: {self._intents.get(op['transitionId'], op['transitionId'])}"
        elif kind == "fail_transition":
            return f"failed: {self._intents.get(op['transitionId'], op['transitionId'])}"
        elif kind == "supersede_transition":
            return f"gave up, because: {op['reason']}"
        return ""

    def asked(self, frame: Frame) -> tuple[str, str]:
        return "asked", _short(frame["text"])

    def started(self, frame: Frame) -> tuple[str, str]:
        args = frame.get("args", {})
        what = args.get("command") or f"{frame['tool']} {args.get('path', '')}"
        self._commands[frame["callId"]] = what
        return "observed", _short(what)

    def ended(self, frame: Frame) -> tuple[str, str]:
        if not frame["isError"]:
            return "", ""
        return "observed", _short(f"failed: {self._commands.get(frame['callId'], frame['tool'])}")


_EVENTS: Final = {"prompt": Story.asked, "call_start": Story.started, "call_end": Story.ended}


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LINE_CHARS_MAX else line[: LINE_CHARS_MAX - 1] + "…"
