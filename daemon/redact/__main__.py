"""`python -m wayfinder.daemon.redact [--level 1|2] [--json] [--state DIR]`: stdin, redacted.

The real path, worker and all, so that people and tests see what would be stored. Exit 0; exit 3 if
the text had to be dropped.
"""

import argparse
import sys
from pathlib import Path

from ..paths import UnsafePath, make_private, resolve
from .client import RedactorClient
from .hmacs import KeyFileError, load_key
from .report import render
from .spans import DROPPED_TEXT

EXIT_DROPPED = 3
CACHE_FOLDER = "redact"
KEY_FILE = "reference.key"


def main(arguments: list[str] | None = None) -> int:
    """Read stdin, print what would be stored."""
    parser = argparse.ArgumentParser(prog="redact", description="Show what would be stored.")
    parser.add_argument("--level", type=int, choices=(1, 2), default=2)
    parser.add_argument("--json", action="store_true", help="text and spans as one line of JSON")
    parser.add_argument("--state", type=Path, help="folder for the key and the compiled rules")
    options = parser.parse_args(arguments)
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    level = 1 if options.level == 1 else 2
    with _client(options.state) as client:
        redacted = client.redact_many([text], level)[0]
    sys.stdout.write(render(redacted, level, options.json))
    return EXIT_DROPPED if redacted.text == DROPPED_TEXT else 0


def _client(state: Path | None) -> RedactorClient:
    """With the installation's key and cache if they can be used, else without; it says why."""
    folder = state if state is not None else resolve().state
    try:
        make_private(folder)
        return RedactorClient(cache_dir=folder / CACHE_FOLDER, key=load_key(folder / KEY_FILE))
    except (UnsafePath, KeyFileError, OSError) as error:
        sys.stderr.write(f"redact: no key and no cache: {error}\n")
        return RedactorClient()


if __name__ == "__main__":
    sys.exit(main())
