"""The routes. Every one but the shell and `POST /api/session` needs the token.

| GET  | /  /static/…        | the shell: no data in it                                  |
| POST | /api/session        | {"code"} → {"token","mayCorrect"}                         |
| GET  | /api/stream         | ?session=&epoch=&n=  → lines, see `feeds`                 |
| GET  | /api/view           | ?session=&at=        → the frame as it was after an event |
| GET  | /api/moments        | ?session=            → points to go back to               |
| GET  | /api/proposals      | ?session=            → what waits for a decision          |
| GET  | /api/search         | ?q=                  → hits over all sessions             |
| POST | /api/understand     | {"session","text"}   → what a line would be taken as      |
| POST | /api/correct        | {"session","text",…} → the daemon's answer                |
| POST | /api/confirm        | {"correctionId","accepted"}                               |
| GET  | /api/alive          | a hidden page is still there                              |
| POST | /api/focus          | {"session","pinned","folded","seenUpTo"}                  |

Answers are JSON; an error is {"code","expected"}. Nothing in a URL can make this process talk to
anybody else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...daemon.eventlog.connection import LogUnavailable
from ...daemon.messages import Confirm, Correct, Focus
from ...daemon.paths import Paths
from ...reducer.vocabulary.payload import ViewFocused
from ..human import DaemonAway
from . import past
from .answers import Wrong, acting, answered, body_of, converted, number, refused, wanted
from .assets import load
from .feeds import Feeds
from .guard import HEADERS, Guard, Refusal, bearer
from .people import People, correction, understood
from .tickets import Tickets

PAGE_VIEWER_ID: Final = "page"
QUERY_CHARS_MAX: Final = 200
LINE_CHARS_MAX: Final = 600


class Site:
    """Everything the routes share."""

    def __init__(self, paths: Paths, key: str, port: int) -> None:
        self.paths = paths
        self.guard = Guard(port)
        self.tickets = Tickets()
        self.feeds = Feeds(paths)
        self.people = People(paths, key)
        self.assets = load()
        self.refused = 0
        self.failed: Callable[[Exception], None] = lambda _: None
        self.heard_s = time.monotonic()  # when a page last asked for something

    def hear(self) -> None:
        self.heard_s = time.monotonic()

    def idle_s(self) -> float:
        """How long no page has been open or asked for anything."""
        return 0.0 if self.feeds.pages else time.monotonic() - self.heard_s

    def stats(self) -> dict[str, int]:
        return {"pages": len(self.feeds.pages), "refused": self.refused}

    async def waiting(self) -> list[dict[str, Any]]:
        return cast(
            "list[dict[str, Any]]", msgspec.to_builtins((await self.people.waiting()).items)
        )

    # --- routes -------------------------------------------------------------------------------

    async def asset(self, request: Request) -> Response:
        found = self.assets.get(request.scope["path"])
        if found is None:
            raise Wrong(404, "not_found", "a path of this page")
        return Response(found.body, media_type=found.type)

    async def session(self, request: Request) -> Response:
        said = await body_of(request)
        redeemed = self.tickets.redeem(str(said.get("code", "")))
        if redeemed is None:
            raise Wrong(401, "code", "a fresh link: wayfinder open")
        token, grant = redeemed
        self.feeds.tell_all({"t": "signin", "mayCorrect": grant.may_correct})
        return answered({"token": token, "mayCorrect": grant.may_correct, "because": grant.because})

    async def stream(self, request: Request) -> Response:
        query = request.query_params
        lines = self.feeds.stream(
            wanted(request) if query.get("session") else None,
            query.get("epoch", ""),
            number(request, "n", -1),
            {"t": "waiting", "items": await self.waiting()},
        )
        return StreamingResponse(lines, media_type="application/x-ndjson")

    async def view(self, request: Request) -> Response:
        at_seq = number(request, "at", 0)
        if at_seq < 1:
            raise Wrong(400, "malformed", "at: the number of an event")
        frame = await asyncio.to_thread(past.frame_at, self.paths, wanted(request), at_seq)
        if frame is None:
            raise Wrong(404, "session_unknown", "a session that exists")
        return Response(frame, media_type="application/json")

    async def moments(self, request: Request) -> Response:
        return answered(await self._read(past.moments, wanted(request)))

    async def proposals(self, request: Request) -> Response:
        return answered(await self._read(past.proposals, wanted(request)))

    async def alive(self, _request: Request) -> Response:
        return answered({"alive": True})

    async def search(self, request: Request) -> Response:
        text = request.query_params.get("q", "").strip()[:QUERY_CHARS_MAX]
        return answered(await self._read(past.search, text) if text else [])

    async def _read(self, read: Callable[..., object], *values: object) -> object:
        try:
            return await asyncio.to_thread(read, self.paths.database, *values)
        except LogUnavailable as error:
            raise Wrong(503, "log_unavailable", str(error)) from error

    async def understand(self, request: Request) -> Response:
        said = await body_of(request)
        aimed = understood(str(said.get("text", ""))[:LINE_CHARS_MAX], self._view(said))
        return answered({"type": aimed.type.value, "text": aimed.text, "targetId": aimed.target_id})

    async def correct(self, request: Request) -> Response:
        said = await acting(request)
        session_id = str(said.get("session", ""))
        try:
            built = correction(session_id, said, self._view(said))
        except msgspec.ValidationError as error:
            raise Wrong(400, "malformed", str(error)[:200]) from error
        answer = await self.people.ask(Correct(built))
        return answered({"correction": built, "answer": answer})

    async def confirm(self, request: Request) -> Response:
        said = await acting(request)
        asked = converted(
            {
                "ask": "confirm",
                "correctionId": said.get("correctionId"),
                "accepted": said.get("accepted", False),
            },
            Confirm,
        )
        answer = await self.people.ask(asked)
        self.feeds.tell_all({"t": "waiting", "items": await self.waiting()})
        return answered({"answer": answer})

    async def focus(self, request: Request) -> Response:
        said = await acting(request)
        focused = converted(
            {
                "viewerId": PAGE_VIEWER_ID,
                "pinned": said.get("pinned", ()),
                "folded": said.get("folded", ()),
                "seenUpTo": said.get("seenUpTo", 0),
            },
            ViewFocused,
        )
        answer = await self.people.ask(Focus(str(said.get("session", "")), focused))
        return answered({"answer": answer})

    def _view(self, said: dict[str, Any]) -> dict[str, Any]:
        frame = self.feeds.frame(str(said.get("session", "")))
        if frame is None:
            raise Wrong(404, "session_unknown", "the session that the page shows")
        return frame["view"]


# --- the application ----------------------------------------------------------------------------

Handler = Callable[[Request], Awaitable[Response]]


def application(site: Site) -> ASGIApp:
    def caught(handler: Handler) -> Handler:
        async def endpoint(request: Request) -> Response:
            try:
                return await handler(request)
            except Wrong as wrong:
                return refused(wrong.refusal)
            except DaemonAway as away:
                return refused(Refusal(503, "daemon_away", str(away)))
            except ClientDisconnect:
                return Response(status_code=499)
            except Exception as error:
                site.failed(error)
                return refused(Refusal(500, "failed", "the daemon's log tells why"))

        return endpoint

    def route(path: str, handler: Handler, method: str = "GET") -> Route:
        return Route(path, caught(handler), methods=[method])

    routes = [
        route("/api/session", site.session, "POST"),
        route("/api/stream", site.stream),
        route("/api/view", site.view),
        route("/api/moments", site.moments),
        route("/api/proposals", site.proposals),
        route("/api/search", site.search),
        route("/api/alive", site.alive),
        route("/api/understand", site.understand, "POST"),
        route("/api/correct", site.correct, "POST"),
        route("/api/confirm", site.confirm, "POST"),
        route("/api/focus", site.focus, "POST"),
        route("/{path:path}", site.asset),
    ]
    return guarded(site, Starlette(routes=routes))


def guarded(site: Site, inner: ASGIApp) -> ASGIApp:
    """Before everything: the guard, then the token. On every answer: the headers."""

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        refusal = refuse(site, scope)
        if refusal is not None:
            site.refused += 1
            await refused(refusal)(scope, receive, with_headers)
            return
        await inner(scope, receive, with_headers)

    return outer


def refuse(site: Site, scope: Scope) -> Refusal | None:
    headers, path = scope["headers"], scope["path"]
    refusal = site.guard.refuse(scope["method"], path, headers)
    if refusal is not None or not path.startswith("/api/") or path == "/api/session":
        return refusal
    grant = site.tickets.grant(bearer(headers) or "")
    if grant is None:
        return Refusal(401, "token", "sign in with a fresh link: wayfinder open")
    scope["wayfinder.grant"] = grant
    site.hear()
    return None
