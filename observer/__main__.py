"""`python -P -m wayfinder.observer`, started by the supervisor when a model is configured."""

from __future__ import annotations

from ..daemon.child import Child, run_child
from ..daemon.loop import Loop
from .process import Observer
from .wiring import asker_of, redacting_of


def main(child: Child) -> None:
    loop = Loop()
    child.attach(loop)
    observer = Observer(
        child, loop, asker_of(child.paths, child.settings), redacting_of(child.paths)
    )
    child.ready()
    loop.run()
    observer.close()


if __name__ == "__main__":
    run_child(main)
