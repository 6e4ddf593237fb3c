"""Random nets against judges that are not ours: `make oracle`.

Sets up `.venv-oracle` once, tells stories with the product (`stories.py`), and lets pm4py and
SNAKES replay them (`judge.py`, in that environment, without the product). Prints what was
compared; exit code 1 at the first difference, with the seed that shows it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENVIRONMENT = ROOT / ".venv-oracle"
PYTHON = ENVIRONMENT / "bin" / "python"
REQUIREMENTS = HERE / "requirements.txt"


def prepared() -> None:
    stamp = ENVIRONMENT / ".ready"
    if stamp.exists() and stamp.read_text() == REQUIREMENTS.read_text():
        return
    print("setting up .venv-oracle (once, about a minute)", flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", str(REQUIREMENTS)], check=True)
    stamp.write_text(REQUIREMENTS.read_text())


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--nets", type=int, default=1000)
    asked.add_argument("--seed", type=int, default=1)
    options = asked.parse_args()
    prepared()
    with tempfile.TemporaryDirectory(prefix="wayfinder-oracle-") as folder:
        stories = Path(folder) / "stories.jsonl"
        with stories.open("w", encoding="utf-8") as out:
            command = [str(HERE / "stories.py"), str(options.nets), str(options.seed)]
            subprocess.run([sys.executable, *command], check=True, stdout=out)
        return subprocess.run([str(PYTHON), str(HERE / "judge.py"), str(stories)]).returncode


if __name__ == "__main__":
    sys.exit(main())
