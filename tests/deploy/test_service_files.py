"""The service files: accepted by the managers' own tools, and gone without a trace."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from wayfinder.daemon.service import install, manager, remove, rendered

HARDENING = ("NoNewPrivileges=yes", "UMask=0077", "RestrictAddressFamilies=", "Type=notify")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """systemd-analyze verify finds nothing to say about the unit as it is installed."""
    unit = tmp_path / "wayfinderd.service"
    unit.write_text(rendered("systemd/wayfinderd.service"))
    command = ["systemd-analyze", "verify", "--user", "--man=no", str(unit)]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    about_us = [line for line in run.stderr.splitlines() if "wayfinderd" in line]
    assert about_us == []
    assert run.returncode == 0, run.stderr


def test_the_unit_is_hardened() -> None:
    """The unit notifies, hides its files from others, and cannot gain rights."""
    text = rendered("systemd/wayfinderd.service")
    for directive in HARDENING:
        assert directive in text
    assert "@" not in text.replace("@PYTHON@", "@")


@pytest.mark.parametrize("python", [sys.executable, "/opt/my python/100%/bin/python & co"])
def test_launchd_s_file_is_a_property_list(python: str) -> None:
    """The agent's file parses, starts the foreground daemon, and restarts it only on failure."""
    agent = plistlib.loads(rendered("launchd/wayfinderd.plist", python).encode())
    assert agent["ProgramArguments"] == [python, "-P", "-m", "wayfinder.daemon", "--foreground"]
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert agent["Umask"] == 0o077


@pytest.mark.parametrize("platform", ["linux", "darwin"])
@pytest.mark.parametrize("theirs", [None, ".config/systemd/user/other.service"])
def test_removing_leaves_nothing(tmp_path: Path, platform: str, theirs: str | None) -> None:
    """Install, then remove: files and folders below the home folder are those from before."""
    if theirs:
        (tmp_path / theirs).parent.mkdir(parents=True)
        (tmp_path / theirs).touch()
    before = sorted(tmp_path.rglob("*"))
    chosen = manager({"HOME": str(tmp_path)}, platform)
    assert str(chosen.target) in install(chosen)
    assert chosen.target.exists()
    assert "your sessions stay" in remove(chosen)
    assert tmp_path.is_dir()
    assert sorted(tmp_path.rglob("*")) == before
    assert "nothing to remove" in remove(chosen)


def test_removing_keeps_a_chosen_config_folder(tmp_path: Path) -> None:
    """A config folder that the person named stays, even if it is empty then."""
    config = tmp_path / "config"
    config.mkdir()
    chosen = manager({"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(config)}, "linux")
    install(chosen)
    remove(chosen)
    assert list(tmp_path.rglob("*")) == [config]
