"""Writes golden logs that do not exist yet: `python tests/golden/write.py`.

A log that exists is never written anew: it says what an old session means, for ever. If a change
is meant to alter decisions, the new behaviour is a new story; if it alters the fold, it belongs
behind a new logic version, and the old log must still arrive at its old digest.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from golden_stories import STORIES, told  # noqa: E402

from wayfinder.reducer.net.digest import evidence_digest, net_digest  # noqa: E402
from wayfinder.reducer.vocabulary.codec import encode  # noqa: E402


def main() -> None:
    for name in STORIES:
        log = HERE / f"{name}.jsonl"
        if log.exists():
            continue
        teller = told(name)
        log.write_bytes(b"".join(encode(envelope) + b"\n" for envelope in teller.log))
        digests = {"net": net_digest(teller.net), "evidence": evidence_digest(teller.net)}
        log.with_suffix(".digest").write_text(json.dumps(digests, indent=1) + "\n")
        print(f"wrote {log.name}: {len(teller.log)} events")


if __name__ == "__main__":
    main()
