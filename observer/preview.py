"""`python -m wayfinder.observer.preview [SESSION] [--episode ID] [--json]`: what would be sent.

Prints the whole request for one episode, redacted as it would be. Nothing is sent.
"""

from __future__ import annotations

import argparse
import json
import sys

from ..daemon.eventlog.connection import LogUnavailable
from ..daemon.eventlog.reader import Reader
from ..daemon.paths import resolve
from ..daemon.sessions import Sessions
from .process import question_of
from .wiring import redacting_of


def main() -> int:
    parser = argparse.ArgumentParser(prog="wayfinder observer preview")
    parser.add_argument("session", nargs="?")
    parser.add_argument("--episode")
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    paths = resolve()
    try:
        reader = Reader.open(paths.database)
    except LogUnavailable as error:
        print(error, file=sys.stderr)
        return 1
    rows = reader.sessions()
    row = next((r for r in rows if not options.session or options.session in r.session_id), None)
    session = Sessions(reader).get(row.session_id) if row else None
    episodes = list(session.episodes.values()) if session else []
    wanted = [r for r in episodes if options.episode in (None, r.episode.episode_id)]
    if session is None or not wanted:
        print("no such session, or no such episode in it", file=sys.stderr)
        return 1
    redacting = redacting_of(paths)
    request = question_of(session, wanted[-1], redacting).request
    redacting.close()
    if options.as_json:
        print(json.dumps({"messages": request.messages, "schema": request.schema}))
        return 0
    print(
        f"{session.session_id}, episode {wanted[-1].episode.episode_id}: {request.chars} characters"
    )
    for message in request.messages:
        print(f"\n[{message['role']}]\n{json.dumps(message['content'], ensure_ascii=True)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
