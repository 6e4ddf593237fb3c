"""Every setting: one struct, filled from defaults, then wayfinder.toml, then the environment.

    supervisor.restart_limit = 8        in the file: [supervisor] restart_limit = 8
                                        in the environment: WAYFINDER_SUPERVISOR_RESTART_LIMIT=8

`Sources` says for each value where it came from (`wayfinder config` prints it). An unknown name in
the file is an error that lists the known ones: a misspelt setting must not be silently ignored.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, cast

import msgspec
from msgspec import Meta, Struct

Positive = Annotated[int, Meta(ge=1, le=86_400_000)]
Days = Annotated[int, Meta(ge=1, le=36_500)]
PREFIX: Final = "WAYFINDER_"
Tree = dict[str, Any]  # as a TOML file nests it


class _Group(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class SupervisorSettings(_Group, frozen=True):
    """The numbers every supervisor needs. A child that lived `stable_after_ms` is forgiven."""

    backoff_ms_min: Positive = 100
    backoff_ms_max: Positive = 10_000
    stable_after_ms: Positive = 10_000
    restart_limit: Positive = 10
    start_timeout_ms: Positive = 20_000
    stop_grace_ms: Positive = 5_000
    ping_every_ms: Positive = 2_000
    hung_after_ms: Positive = 30_000
    processes: tuple[str, ...] = ()  # empty: all that exist


class RetentionSettings(_Group, frozen=True):
    episodes_days: Days = 30
    summaries_days: Days = 90
    logs_days: Days = 7


class ObserverSettings(_Group, frozen=True):
    """Off while `model` is empty. `model` in litellm's spelling, e.g. ollama_chat/qwen3; the key is
    read from the environment variable named by `api_key_env`. `python`: an interpreter with the
    observer extra, if it is not this one."""

    model: str = ""
    api_base: str = ""
    api_key_env: str = "WAYFINDER_OBSERVER_KEY"
    tokens_per_day: Annotated[int, Meta(ge=0, le=2**53 - 1)] = 200_000
    python: str = ""


class Settings(_Group, frozen=True):
    declared_path: bool = True  # False: the tool is not offered, nothing nags (RULES 40)
    declared_path_off_projects: tuple[str, ...] = ()
    log_level: str = "info"
    supervisor: SupervisorSettings = SupervisorSettings()
    retention: RetentionSettings = RetentionSettings()
    observer: ObserverSettings = ObserverSettings()


class BadSetting(ValueError):
    """A value or name that cannot be used. The text names its place and what would be right."""


class Loaded(Struct, frozen=True):
    """The settings, and for each dotted name where its value comes from."""

    settings: Settings
    sources: dict[str, str]


def load(file: Path, environ: Mapping[str, str] = os.environ) -> Loaded:
    """Raises BadSetting. A missing file is no error."""
    tree = _read_toml(file)
    known = dict(_leaves(Settings()))
    sources = dict.fromkeys(known, "default")
    for name, _ in _leaves_of_tree(tree):
        if name not in known:
            raise BadSetting(f"{file}: unknown setting {name!r}; known: {', '.join(known)}")
        sources[name] = str(file)
    for name, default in known.items():
        variable = PREFIX + name.replace(".", "_").upper()
        if variable in environ:
            _put(tree, name, _from_text(environ[variable], default))
            sources[name] = f"environment {variable}"
    try:
        # Not strict: the environment holds texts only, "8" is the number 8 and "false" is false.
        settings = msgspec.convert(tree, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise BadSetting(_explain(error, sources)) from error
    return Loaded(settings, sources)


def value_of(settings: Settings, name: str) -> Any:
    """The value under a dotted name."""
    return dict(_leaves(settings))[name]


def _read_toml(file: Path) -> Tree:
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        return {}
    try:
        return msgspec.toml.decode(text, type=Tree)
    except msgspec.DecodeError as error:
        raise BadSetting(f"{file}: {error}") from error


def _leaves(group: Struct, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name in group.__struct_fields__:
        value = getattr(group, name)
        if isinstance(value, Struct):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _leaves_of_tree(tree: Tree, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves_of_tree(cast(Tree, value), f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _put(tree: Tree, name: str, value: Any) -> None:
    *groups, leaf = name.split(".")
    for group in groups:
        tree = tree.setdefault(group, {})
    tree[leaf] = value


def _from_text(text: str, default: Any) -> Any:
    """Lists are written with commas in the environment; all else is converted by the struct."""
    if isinstance(default, tuple):
        return [item.strip() for item in text.split(",") if item.strip()]
    return text


def _explain(error: msgspec.ValidationError, sources: Mapping[str, str]) -> str:
    message, _, path = str(error).partition(" - at `$.")
    name = path.rstrip("`")
    return f"setting {name!r} ({sources.get(name, 'unknown source')}): {message}"
