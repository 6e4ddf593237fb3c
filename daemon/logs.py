"""JSON log lines: one file per process and day below the state folder, 7 days × 5 MB, mode 0600.

    {"at":"2026-07-14T15:08:11.210Z","level":"warning","process":"viewer","pid":4711,
     "event":"gap","session":"pi-…","expected":12,"got":14}

Values are ids, counts and codes. Text from agents never belongs in a log; an exception's text may
quote some, so it is cut and anything token-like in it is masked before it is written.

structlog is imported at the first line written: it brings asyncio and 13 MB along, and a healthy
child writes nothing (its starts and stops are the supervisor's news).
"""

from __future__ import annotations

import os
import re
import time
import traceback
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, Final

LEVELS: Final = ("debug", "info", "warning", "error")
FILE_BYTES_MAX: Final = 5 << 20
ERROR_CHARS_MAX: Final = 300
_TOKEN: Final = re.compile(r"(?=[\w+/=.-]*\d[\w+/=.-]*\d[\w+/=.-]*\d)[\w+/=.-]{20,}")


def scrub(text: str) -> str:
    """Cuts a text from an exception and masks opaque tokens in it."""
    return _TOKEN.sub("[masked]", text)[:ERROR_CHARS_MAX]


class DailyFile:
    """Appends lines to `<process>.<date>.jsonl`; starts a new one each day and at half the limit.

    Half, because one older part (`….1`) is kept: together a day stays below FILE_BYTES_MAX.
    """

    def __init__(self, folder: Path, process: str, days: int) -> None:
        self._folder = folder
        self._process = process
        self._days = days
        self._day = ""
        self._fd = -1
        self._bytes = 0

    def write(self, line: bytes, day: str) -> None:
        if day != self._day:
            self._open(day)
            self._prune()
        elif self._bytes + len(line) > FILE_BYTES_MAX // 2:
            path = self._path(day)
            path.replace(path.with_name(path.name + ".1"))
            self._open(day)
        # One write call per line: O_APPEND keeps lines of two processes whole.
        self._bytes += os.write(self._fd, line)

    def _path(self, day: str) -> Path:
        return self._folder / f"{self._process}.{day}.jsonl"

    def _open(self, day: str) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._fd = os.open(self._path(day), flags, 0o600)
        self._bytes = os.fstat(self._fd).st_size
        self._day = day

    def _prune(self) -> None:
        days = sorted({path.name.split(".")[1] for path in self._own()}, reverse=True)
        for path in self._own():
            if path.name.split(".")[1] in days[self._days :]:
                path.unlink(missing_ok=True)

    def _own(self) -> list[Path]:
        return list(self._folder.glob(f"{self._process}.*.jsonl*"))


class Log:
    """What a process says about itself. `log.warning("gap", session=…, expected=…)`."""

    def __init__(self, folder: Path, process: str, *, level: str = "info", days: int = 7) -> None:
        self._file = DailyFile(folder, process, days)
        self._process = process
        self._threshold = LEVELS.index(level) if level in LEVELS else 1
        self._bound: Any = None

    def debug(self, event: str, **values: object) -> None:
        self._say("debug", event, values)

    def info(self, event: str, **values: object) -> None:
        self._say("info", event, values)

    def warning(self, event: str, **values: object) -> None:
        self._say("warning", event, values)

    def error(self, event: str, error: BaseException | None = None, **values: object) -> None:
        """With `error`, its type, scrubbed text and our own frames are added."""
        if error is not None:
            frames = traceback.extract_tb(error.__traceback__)[-8:]
            values["error"] = type(error).__name__
            values["said"] = scrub(str(error))
            values["where"] = [f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in frames]
        self._say("error", event, values)

    def _say(self, level: str, event: str, values: dict[str, object]) -> None:
        if LEVELS.index(level) < self._threshold:
            return
        if self._bound is None:
            self._bound = _structlog(self._file, self._process)
        getattr(self._bound, level)(event, **values)


def _structlog(file: DailyFile, process: str) -> Any:
    import structlog

    class Lines:
        """The end of structlog's chain: takes a finished line."""

        def msg(self, line: str) -> None:
            file.write(line.encode("ascii") + b"\n", time.strftime("%Y-%m-%d", time.gmtime()))

        debug = info = warning = error = msg

    def head_first(_: object, level: str, values: MutableMapping[str, Any]) -> dict[str, Any]:
        seconds, ns = divmod(time.time_ns(), 1_000_000_000)
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
        head = {
            "at": f"{at}.{ns // 1_000_000:03d}Z",
            "level": level,
            "process": process,
            "pid": os.getpid(),
        }
        return {**head, "event": values.pop("event"), **values}

    render = structlog.processors.JSONRenderer(ensure_ascii=True, default=str)
    return structlog.wrap_logger(Lines(), processors=[head_first, render])
