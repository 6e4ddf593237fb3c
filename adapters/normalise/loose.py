"""Decoded JSON whose shape is not promised: what is there, or an empty thing of the wanted type."""

from __future__ import annotations

from typing import Any, cast


def as_dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def texts(content: Any, *types: str) -> list[str]:
    """Texts of a message: the string itself, or its text blocks (of `types`, if given)."""
    if isinstance(content, str):
        return [content] if content else []
    found: list[str] = []
    for block in map(as_dict, as_list(content)):
        if (not types or block.get("type") in types) and block.get("thought") is not True:
            text = as_text(block.get("text"))
            if text:
                found.append(text)
    return found
