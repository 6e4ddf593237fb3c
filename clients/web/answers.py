"""Reading what a request says, and writing answers. Everything asked for is checked here first."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from ...reducer.vocabulary.ids import SessionId
from .guard import BODY_BYTES_MAX, Refusal
from .tickets import Grant

T = TypeVar("T")


class Wrong(Exception):
    """A request that is not as it should be; answered with its refusal."""

    def __init__(self, status: int, code: str, expected: str) -> None:
        super().__init__(code)
        self.refusal = Refusal(status, code, expected)


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object of a POST, bounded."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            raise Wrong(413, "too_large", f"at most {BODY_BYTES_MAX} bytes")
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise Wrong(400, "malformed", "one JSON object") from error


async def acting(request: Request) -> dict[str, Any]:
    """The same, from a page that may act."""
    grant: Grant = request.scope["wayfinder.grant"]
    if not grant.may_correct:
        raise Wrong(403, "looks_on", f"a page opened by a person at a terminal ({grant.because})")
    return await body_of(request)


def converted(value: object, wanted_type: Any) -> Any:
    try:
        return msgspec.convert(value, wanted_type)
    except msgspec.ValidationError as error:
        raise Wrong(400, "malformed", str(error)[:200]) from error


def wanted(request: Request) -> str:
    """The session that is asked about."""
    return converted(request.query_params.get("session", ""), SessionId)


def number(request: Request, name: str, otherwise: int) -> int:
    """A count; `otherwise` if it is absent or not one."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else otherwise


def answered(value: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def refused(refusal: Refusal) -> Response:
    return answered({"code": refusal.code, "expected": refusal.expected}, refusal.status)
