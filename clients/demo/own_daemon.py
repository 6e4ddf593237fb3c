"""A wayfinderd of one's own: short run folder, own state, gone afterwards.

For the demo and for tests. A daemon the person is running has other folders and is not touched.
"""

from __future__ import annotations

import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from ...daemon.paths import Paths, resolve

START_S: Final = 60.0
STOP_S: Final = 20.0
_PR_SET_PDEATHSIG: Final = 1


class NotStarted(Exception):
    """The daemon did not come up; the text holds what its log says."""


class OwnDaemon:
    """`with OwnDaemon() as daemon: daemon.sock …`. The folder is removed unless `keep`."""

    def __init__(self, folder: Path | None = None, *, keep: bool = False) -> None:
        # The temporary folder may be deep on some systems; a socket's path may not be.
        self.folder = folder or Path(tempfile.mkdtemp(prefix="wf-"))
        self.keep = keep
        self._popen: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The person's own, but every WAYFINDER_ setting is ours."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("WAYFINDER_")}
        return kept | {
            f"WAYFINDER_{kind.upper()}_DIR": str(self.folder / kind)
            for kind in ("run", "state", "config")
        }

    @property
    def paths(self) -> Paths:
        return resolve(self.environment)

    @property
    def sock(self) -> Path:
        return self.paths.socket("agent.sock")

    @property
    def pid(self) -> int:
        assert self._popen is not None
        return self._popen.pid

    def __enter__(self) -> OwnDaemon:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Returns when it says that it is ready. Raises NotStarted. Also after a kill, again."""
        read, write = os.pipe()
        command = [sys.executable, "-P", "-m", "wayfinder.daemon", "--foreground"]
        self._popen = subprocess.Popen(
            [*command, f"--ready-fd={write}"],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(write,),
            start_new_session=True,  # Ctrl-C reaches us first; we stop it in order
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,
        )
        os.close(write)
        try:
            readable, _, _ = select.select([read], [], [], START_S)
            if not readable or not os.read(read, 500):
                raise NotStarted(f"wayfinderd did not start; {self._last_words()}")
        finally:
            os.close(read)

    def stop(self) -> None:
        if self._popen is None:
            return
        self._popen.terminate()
        try:
            self._popen.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        self._popen = None

    def close(self) -> None:
        self.stop()
        if not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _last_words(self) -> str:
        logs = sorted((self.folder / "state" / "logs").glob("*"))
        said = [line for log in logs for line in log.read_text("utf-8").splitlines()[-3:]]
        return "its log says: " + " | ".join(said[-9:]) if said else "it wrote no log"


def _die_with_parent() -> None:
    """In the child: if the demo is killed outright, its daemon must not stay behind."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
