"""`python -m wayfinder.adapters.importer [--agent NAME] [--json] [--discover] [--dry-run] FILE…`

Without `--dry-run` the running adapter reads the files and they become sessions; with it they are
read here and nothing is stored. Per file one line, then what Wayfinder would have said. Exit 0;
1 if a file could not be read; 2 on a wrong call; 3 if no daemon is running.
"""

from __future__ import annotations

import argparse
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from ...daemon.lines import Lines
from ...daemon.paths import UnsafePath, resolve
from ...daemon.redact.hmacs import KeyFileError
from ...daemon.unixsock import dial
from ...reducer.vocabulary.codec import encode
from ..normalise.clean import Cleaner
from ..privacy import Privacy, open_privacy
from ..reader import Source
from . import say
from .formats import BY_AGENT, NotASession, discovered, sources
from .frames import LINE_BYTES_MAX, AnyFromWorker, End, Import, Progress, Told, from_worker, line
from .reading import Reading, failed
from .result import Result

SOCKET: Final = "agent.sock"
REQUEST_CHARS: Final = 8_000
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_NO_DAEMON: Final = 3
Shown = Callable[[str, int, int], None]  # file, bytes done, bytes


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    files = [Path(file).absolute() for file in options.files]
    if not files and not options.discover:
        print("no files: name some, or --discover", file=sys.stderr)
        return EXIT_USAGE
    with _progress(options.json) as shown:
        try:
            results = (
                _here(files, options, shown) if options.dry_run else _there(files, options, shown)
            )
            failures = sum([_tell(result, options.json) for result in results])
        except (KeyFileError, UnsafePath) as error:
            print(f"cannot import: {error}", file=sys.stderr)
            return EXIT_USAGE
        except OSError as error:
            print(f"no daemon answers ({error}); start it, or use --dry-run", file=sys.stderr)
            return EXIT_NO_DAEMON
    return EXIT_FAILED if failures else 0


def _options(arguments: list[str] | None) -> Any:
    parser = argparse.ArgumentParser(prog="import", description="Read past sessions.")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--agent", choices=sorted(BY_AGENT), help="skip recognition")
    parser.add_argument("--json", action="store_true", help="one result per line")
    parser.add_argument("--discover", action="store_true", help="this machine's sessions")
    parser.add_argument("--dry-run", action="store_true", help="store nothing")
    parser.add_argument("--follow", action="store_true", help="go on as the files grow")
    return parser.parse_args(arguments)


def _here(files: list[Path], options: Any, shown: Shown) -> Iterator[Result]:
    """Read in this process; only the redactor's worker beside it."""
    paths = resolve()
    paths.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    privacy = open_privacy(paths)
    cleaner = Cleaner(privacy.redactor)
    for path in files:
        try:
            for source in sources(path, options.agent):
                yield _read(source, privacy, cleaner, shown)
        except (NotASession, OSError) as error:
            yield failed(path, error)
    if options.discover:
        for source in discovered(options.agent):
            yield _read(source, privacy, cleaner, shown)


def _read(source: Source, privacy: Privacy, cleaner: Cleaner, shown: Shown) -> Result:
    try:
        reading = Reading(source, cleaner, privacy.refs)
        reading.prepare()
        for _ in reading.batches():
            shown(source.path.name, reading.offset, reading.bytes)
        return reading.result()
    except (NotASession, OSError) as error:
        return failed(source.path, error)


def _there(files: list[Path], options: Any, shown: Shown) -> Iterator[Result]:
    """Ask the running adapter. Raises OSError if there is none."""
    connected = dial(resolve(), SOCKET)
    try:
        for some in _portions(files):
            request = Import(
                files=some, agent=options.agent, discover=options.discover, follow=options.follow
            )
            connected.sendall(line(request))
            yield from _results(connected, shown)
    finally:
        connected.close()


def _portions(files: list[Path]) -> Iterator[tuple[str, ...]]:
    """Frames of a few KiB: the first one must fit what a hello may be."""
    some: list[str] = []
    for path in map(str, files):
        if some and sum(map(len, some)) + len(path) > REQUEST_CHARS:
            yield tuple(some)
            some = []
        some.append(path)
    yield tuple(some)


def _results(connected: socket.socket, shown: Shown) -> Iterator[Result]:
    """Until the end of one request."""
    for frame in _frames(connected):
        if isinstance(frame, Progress):
            shown(Path(frame.file).name, frame.done, frame.size)
        elif isinstance(frame, Told):
            yield frame.result
        elif isinstance(frame, End):
            if frame.why:
                print(frame.why, file=sys.stderr)
            return


class _Error(msgspec.Struct):
    t: str = ""
    code: str = ""
    expected: str = ""


def _frames(connected: socket.socket) -> Iterator[AnyFromWorker]:
    lines = Lines(LINE_BYTES_MAX)
    while data := connected.recv(1 << 16):
        for raw in lines.feed(data):
            head = msgspec.json.decode(raw, type=_Error)
            if head.t == "error":
                raise ConnectionRefusedError(f"{head.code}: expected {head.expected}")
            yield from_worker.decode(raw)
    raise ConnectionResetError("the adapter closed the connection")


def _tell(result: Result, as_json: bool) -> bool:
    """True if the file could not be read."""
    if as_json:
        sys.stdout.write(encode(result).decode() + "\n")
    else:
        print("\n".join([say.line(result), *say.report(result)]))
    sys.stdout.flush()
    return result.error is not None


class _progress:
    """A bar on standard error, only where a person looks at it."""

    def __init__(self, as_json: bool) -> None:
        self._wanted = sys.stderr.isatty() and not as_json
        self._bar: Any = None

    def __enter__(self) -> Shown:
        if not self._wanted:
            return lambda _file, _done, _size: None
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        task = self._bar.add_task("")

        def shown(file: str, done: int, size: int) -> None:
            self._bar.update(task, description=say.safe(file)[:60], completed=done, total=size)

        return shown

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


if __name__ == "__main__":
    sys.exit(main())
