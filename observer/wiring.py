"""From folders and settings to the parts of an observer: the same for the process and its tools."""

from __future__ import annotations

import os
import sys
import time

from ..daemon.paths import Paths, make_private
from ..daemon.redact.client import RedactorClient
from ..daemon.redact.hmacs import load_key
from ..daemon.settings import ObserverSettings, Settings
from .asking import Asker, Endpoint
from .caller import ModelCaller
from .redacting import Redacting
from .store import ObserverStore


def endpoint_of(settings: ObserverSettings) -> Endpoint:
    return Endpoint(
        model=settings.model,
        api_base=settings.api_base or None,
        api_key=os.environ.get(settings.api_key_env),
        tokens_per_day=settings.tokens_per_day,
    )


def asker_of(paths: Paths, settings: Settings) -> Asker:
    store = ObserverStore(paths.state / "observer.db", load_key(paths.state / "reference.key"))
    caller = ModelCaller(settings.observer.python or sys.executable)
    return Asker(endpoint_of(settings.observer), store, caller, now_ms=now_ms)


def redacting_of(paths: Paths) -> Redacting:
    cache = paths.state / "redactor"
    make_private(cache)
    return Redacting(RedactorClient(cache_dir=cache, key=load_key(paths.state / "reference.key")))


def now_ms() -> int:
    return time.time_ns() // 1_000_000
