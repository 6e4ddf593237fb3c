"""A model server on loopback that misbehaves on purpose: one behaviour per name.

Speaks just enough of the OpenAI chat protocol. Every request body is kept, so that a test can say
what left the machine and what did not.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD = {
    "op": "annotate_episode",
    "intentClass": "Verify",
    "alternateTransitionId": "none",
    "supportsSelector": "none",
    "contradictsSelector": "none",
    "summary": "ran the tests",
    "confidence": 0.9,
}


def completion(content: str | None, **extra: Any) -> dict[str, Any]:
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        **extra,
    }


class Stub:
    """`with Stub("hang") as stub:` → `stub.url`, `stub.bodies`."""

    def __init__(self, behaviour: str, answer: dict[str, Any] | None = None) -> None:
        self.behaviour = behaviour
        self.answer = answer or GOOD
        self.bodies: list[dict[str, Any]] = []
        self.released = threading.Event()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                stub.bodies.append(json.loads(self.rfile.read(length)))
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    BEHAVIOURS[stub.behaviour](self, stub)
                self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                """Quiet: the test reads `bodies`."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Stub:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()


Behaviour = Callable[[BaseHTTPRequestHandler, Stub], None]


def reply(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def says(content: str | None, **extra: Any) -> Behaviour:
    return lambda h, _: reply(h, 200, json.dumps(completion(content, **extra)).encode())


def fails(status: int, text: str = "no", **headers: str) -> Behaviour:
    body = json.dumps({"error": {"message": text, "type": "x", "code": status}}).encode()
    return lambda h, _: reply(h, status, body, **headers)


def valid(handler: BaseHTTPRequestHandler, stub: Stub) -> None:
    says(json.dumps(stub.answer))(handler, stub)


def hang(_: BaseHTTPRequestHandler, stub: Stub) -> None:
    stub.released.wait(60)


def drip(handler: BaseHTTPRequestHandler, stub: Stub) -> None:
    """A byte now and then: what a client's own timeout does not stop."""
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", "100000")
    handler.end_headers()
    while not stub.released.is_set():
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.2)


def redirect(handler: BaseHTTPRequestHandler, stub: Stub) -> None:
    reply(handler, 307, b"", location=stub.url + "/elsewhere")


def huge(handler: BaseHTTPRequestHandler, _: Stub) -> None:
    body = json.dumps(completion("x" * (30 << 20))).encode()
    reply(handler, 200, body)


def refuses_json_schema(handler: BaseHTTPRequestHandler, stub: Stub) -> None:
    """As llama.cpp's server: json_schema is an error, a schema beside json_object is honoured."""
    wanted = stub.bodies[-1].get("response_format", {})
    if wanted.get("type") == "json_schema":
        fails(500, "response_format json_schema is not supported")(handler, stub)
    else:
        valid(handler, stub)


BEHAVIOURS: dict[str, Behaviour] = {
    "valid": valid,
    "prose": lambda h, s: says(f"Sure! Here:\n```json\n{json.dumps(s.answer)}\n```")(h, s),
    "cut": lambda h, s: says(json.dumps(s.answer)[:-20])(h, s),
    "wrong_enum": lambda h, s: says(json.dumps({**s.answer, "op": "set_alignment"}))(h, s),
    "unknown_field": lambda h, s: says(json.dumps({**s.answer, "status": "diverged"}))(h, s),
    "empty": says(""),
    "null": says(None),
    "no_choices": lambda h, s: reply(
        h, 200, json.dumps({**completion(""), "choices": []}).encode()
    ),
    "html": lambda h, _: reply(h, 200, b"<html>no</html>"),
    "hang": hang,
    "drip": drip,
    "500": fails(500),
    "503": fails(503),
    "429": fails(429, retry_after="1"),
    "401": fails(401, "bad key"),
    "413": fails(413, "too large"),
    "400": fails(400, "bad request"),
    "redirect": redirect,
    "huge": huge,
    "refuses_json_schema": refuses_json_schema,
}
