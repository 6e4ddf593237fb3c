"""Asking a model that misbehaves in every way that was seen: one outcome each, nothing blocks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from stub_model import Stub

from wayfinder.observer.asking import Asker, Endpoint
from wayfinder.observer.breaker import FAILURES_TO_OPEN, Breaker
from wayfinder.observer.budget import Budget
from wayfinder.observer.caller import ModelCaller
from wayfinder.observer.prompt import Request
from wayfinder.observer.store import ObserverStore

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "op": {"type": "string", "enum": ["no_change", "annotate_episode", "attach_evidence"]},
        "intentClass": {"type": "string", "enum": ["Verify", "none"]},
        "alternateTransitionId": {"type": "string", "enum": ["none"]},
        "supportsSelector": {"type": "string", "enum": ["none"]},
        "contradictsSelector": {"type": "string", "enum": ["none"]},
        "summary": {"type": "string"},
        "confidence": {"type": "number"},
    },
}


def request(text: str = "episode") -> Request:
    messages = ({"role": "user", "content": text},)
    return Request(messages, SCHEMA, text.encode(), len(text))


@pytest.fixture(scope="module")
def caller() -> Iterator[ModelCaller]:
    caller = ModelCaller(kill_after_ms=1_500)
    yield caller
    caller.stop()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ObserverStore]:
    store = ObserverStore(tmp_path / "observer.db", b"k" * 32)
    yield store
    store.close()


class Clock:
    def __init__(self) -> None:
        self.now_ms = 1_000_000_000_000

    def __call__(self) -> int:
        return self.now_ms


def asker(stub: Stub, store: ObserverStore, caller: ModelCaller, clock: Clock, **kw: int) -> Asker:
    endpoint = Endpoint("openai/stub", api_base=stub.url, api_key="k", **kw)
    return Asker(endpoint, store, caller, now_ms=clock, sleep_ms=lambda _: None)


# behaviour → (outcome, requests that reach the server)
OUTCOMES = {
    "valid": ("answered", 1),
    "prose": ("answered", 1),
    "refuses_json_schema": ("answered", 2),
    "cut": ("unusable", 2),
    "wrong_enum": ("unusable", 2),
    "unknown_field": ("unusable", 2),
    "empty": ("unusable", 2),
    "null": ("unusable", 2),
    "no_choices": ("unusable", 2),
    "401": ("AuthenticationError", 1),
    "400": ("BadRequestError", 1),
    "413": ("APIError", 1),
    "429": ("RateLimitError", 3),
    "503": ("ServiceUnavailableError", 3),
    "html": ("InternalServerError", 3),
    "500": ("InternalServerError", 3),
    "redirect": ("Guarded", 1),
    "huge": ("Guarded", 1),
    "hang": ("Timeout", 3),
    "drip": ("Timeout", 3),
}


@pytest.mark.parametrize("behaviour", OUTCOMES)
def test_every_misbehaviour_ends_in_one_word(
    behaviour: str, store: ObserverStore, caller: ModelCaller
) -> None:
    """Whatever the server does, asking returns a reply that fits the schema, or none and why."""
    outcome, requests = OUTCOMES[behaviour]
    with Stub(behaviour) as stub:
        asked = asker(stub, store, caller, Clock()).ask(request())
        assert (asked.reply is not None) == (asked.outcome == "answered")
        assert asked.outcome == outcome, asked.detail
        assert len(stub.bodies) == requests


def test_a_redirect_is_not_followed(store: ObserverStore, caller: ModelCaller) -> None:
    """The episode is never sent on to another address."""
    with Stub("redirect") as stub, Stub("valid") as elsewhere:
        stub.url, own = elsewhere.url, stub.url
        endpoint = Endpoint("openai/stub", api_base=own, api_key="k")
        asked = Asker(endpoint, store, caller, now_ms=Clock(), sleep_ms=lambda _: None)
        assert asked.ask(request()).reply is None
        assert elsewhere.bodies == []


def test_three_failures_open_the_breaker_and_it_survives_a_restart(
    tmp_path: Path, caller: ModelCaller
) -> None:
    """After three failures nothing is sent until the pause is over, also after a restart."""
    clock = Clock()
    with Stub("503") as stub:
        store = ObserverStore(tmp_path / "observer.db", b"k" * 32)
        asker(stub, store, caller, clock).ask(request())
        store.close()
        sent = len(stub.bodies)
        assert sent == FAILURES_TO_OPEN
        store = ObserverStore(tmp_path / "observer.db", b"k" * 32)
        again = asker(stub, store, caller, clock)
        assert again.ask(request("other")).outcome == "breaker_open"
        assert len(stub.bodies) == sent
        open_ms = store.recall("breaker", Breaker, Breaker()).open_ms
        clock.now_ms += open_ms
        stub.behaviour = "valid"
        assert again.ask(request("other")).outcome == "answered"
        assert store.recall("breaker", Breaker, Breaker()).failures == 0
        store.close()


def test_the_budget_is_taken_before_the_call(store: ObserverStore, caller: ModelCaller) -> None:
    """A call that would pass today's limit is never sent; the next day starts anew."""
    clock = Clock()
    with Stub("valid") as stub:
        one = asker(stub, store, caller, clock, tokens_per_day=500)
        assert one.ask(request("a")).outcome == "answered"
        assert store.recall("budget", Budget, Budget()).spent_tokens == 120
        assert one.ask(request("b")).outcome == "budget_spent"
        assert len(stub.bodies) == 1
        clock.now_ms += 86_400_000
        assert one.ask(request("b")).outcome == "answered"


def test_the_same_question_is_asked_once(store: ObserverStore, caller: ModelCaller) -> None:
    """An answer is kept under a keyed hash of its question; the question itself is not kept."""
    with Stub("valid") as stub:
        one = asker(stub, store, caller, Clock())
        first, second = one.ask(request()), one.ask(request())
        assert second.outcome == "cached"
        assert second.reply == first.reply
        assert len(stub.bodies) == 1


def test_the_accepted_format_is_remembered(store: ObserverStore, caller: ModelCaller) -> None:
    """An endpoint that refused json_schema once is not asked for it again."""
    with Stub("refuses_json_schema") as stub:
        one = asker(stub, store, caller, Clock())
        one.ask(request("a"))
        one.ask(request("b"))
        formats = [body.get("response_format", {}).get("type") for body in stub.bodies]
        assert formats == ["json_schema", "json_object", "json_object"]
