"""Desktop notifications in a page of code: says when a session begins to need you, once.

    python docs/examples/notify.py            every session, until Ctrl-C

Frames come when something changed. Rank 1 of WATCH: a person decides there.
"""

from __future__ import annotations

import subprocess
import threading

from wayfinder.clients.follow import NoView, follow


def tell(title: str, text: str) -> None:
    # A list, no shell; `--` ends the options: texts come from agents and may hold anything.
    subprocess.run(["notify-send", "--app-name=Wayfinder", "--", title, text], check=False)


def watch(session_id: str) -> None:
    told: set[str] = set()
    try:
        for frame in follow(session_id):
            view = frame["view"]
            needs = {w["line"]["text"] for w in view["watches"] if w["rank"] == 1}
            for text in sorted(needs - told):
                tell(view["northStar"]["text"], text)
            told = needs
    except NoView:
        return  # it was deleted


if __name__ == "__main__":
    known: set[str] = set()
    for sessions in follow():
        for new in sessions.keys() - known:
            threading.Thread(target=watch, args=(new,), daemon=True).start()
        known |= sessions.keys()
