"""The one door to litellm: one function, one call, no retries, no redirects, a size cap.

Runs only inside `worker.py`'s child. litellm is imported inside the function, after the child's
environment was set (LITELLM_OFFLINE_MODE, LITELLM_MODE=PRODUCTION): its default mode would load
a `.env` file, and its import would fetch a price list. What it hides was measured: redirects
followed with the body, no size cap, cut and empty answers returned as success. The first two are
stopped here, for every provider alike, at httpx's transport; the rest is `answer.py`'s business.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

RESPONSE_BYTES_MAX: Final = 256 * 1024
GUARD: Final = "guard:"  # how this module's own refusals begin
# Asked for in this order; the mode that an endpoint accepts is remembered by the parent.
MODES: Final = ("json_schema", "json_object", "plain")


class Call(Struct, frozen=True):
    """One request as the parent sends it over the pipe."""

    call_id: int
    model: str
    messages: tuple[dict[str, str], ...]
    schema: dict[str, Any]
    mode: str
    timeout_ms: int
    max_tokens: int
    api_base: str | None = None
    api_key: str | None = None


class Heard(Struct, frozen=True):
    """What came back. `error` is a class name; `detail` is untrusted and redacted by the parent."""

    call_id: int
    content: str | None = None
    tokens: int | None = None
    error: str | None = None
    status: int = 0
    retry_after_ms: int = 0
    detail: str = ""


def complete(call: Call) -> Heard:
    """Never raises: every failure becomes a `Heard` with `error` set."""
    try:
        litellm = load()
        response = litellm.completion(
            model=call.model,
            messages=list(call.messages),
            timeout=call.timeout_ms / 1000,
            max_tokens=call.max_tokens,
            temperature=0,
            max_retries=0,
            num_retries=0,
            api_base=call.api_base,
            api_key=call.api_key or "none",
            **_response_format(call),
        )
        choices = response.choices
        content = choices[0].message.content if choices else None
        usage = getattr(response, "usage", None)
        tokens = getattr(usage, "total_tokens", None)
        return Heard(call.call_id, content=content, tokens=tokens)
    except Exception as error:
        return _failed(call, error)


def _response_format(call: Call) -> dict[str, Any]:
    if call.mode == "json_schema":
        named = {"name": "remark", "schema": call.schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    if call.mode == "json_object":
        # llama.cpp's server refuses json_schema and honours a schema beside json_object.
        wanted = {"type": "json_object", "schema": call.schema}
        return {"extra_body": {"response_format": wanted}}
    return {}


def _failed(call: Call, error: Exception) -> Heard:
    response = getattr(error, "response", None)
    after = getattr(response, "headers", {}).get("retry-after", "") if response is not None else ""
    return Heard(
        call.call_id,
        error=_guards_word(error) or type(error).__name__,
        status=int(getattr(error, "status_code", 0) or 0),
        retry_after_ms=int(after) * 1000 if after.isdigit() else 0,
        detail=str(error)[:2000],
    )


def _guards_word(error: BaseException | None) -> str | None:
    """The guard's own refusals come back wrapped as connection errors; they are not passing."""
    while error is not None:
        if str(error).startswith(GUARD):
            return "Guarded"
        error = error.__cause__ or error.__context__
    return None


_guarded: Any = None


def load() -> Any:
    """The library, imported and guarded once."""
    global _guarded
    if _guarded is None:
        import litellm

        library: Any = litellm
        library.suppress_debug_info = True
        library.drop_params = True
        _guard_transport()
        _guarded = library
    return _guarded


def _guard_transport() -> None:
    """Refuses redirects and caps bodies below every client that any provider builds."""
    import httpx

    untyped: Any = httpx
    send = untyped.HTTPTransport.handle_request

    class Capped(untyped.SyncByteStream):
        def __init__(self, stream: Any) -> None:
            self.stream = stream

        def __iter__(self) -> Any:
            left = RESPONSE_BYTES_MAX
            for chunk in self.stream:
                left -= len(chunk)
                if left < 0:
                    raise untyped.RemoteProtocolError(
                        f"{GUARD} answer over {RESPONSE_BYTES_MAX} bytes"
                    )
                yield chunk

        def close(self) -> None:
            self.stream.close()

    def handle_request(self: Any, request: Any) -> Any:
        response = send(self, request)
        if 300 <= response.status_code < 400:
            response.close()
            raise untyped.RemoteProtocolError(
                f"{GUARD} redirect ({response.status_code}) not followed"
            )
        response.stream = Capped(response.stream)
        return response

    untyped.HTTPTransport.handle_request = handle_request
