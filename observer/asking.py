"""One question, whole: cache → budget → breaker → call → check → one repair try → give up.

Retries are ours alone (litellm's are off): only for what may pass by itself, twice, with full
jitter; never for a refused key or a bad request. Every way out is an `Asked` with a word for
`wayfinder doctor` and the log; none raises, none blocks longer than the caller's kill limit.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Struct

from ..reducer.vocabulary.codec import digest
from . import answer
from .breaker import Breaker, after_failure, after_success, may_call
from .budget import ANSWER_TOKENS_MAX, Budget, estimate_tokens, reserve, settle
from .caller import CALL_TIMEOUT_MS, ModelCaller
from .model import MODES, Call, Heard
from .prompt import SCHEMA_VERSION, Request
from .store import ObserverStore

RETRIES_MAX: Final = 2
JITTER_MS: Final = (500, 8_000)
RETRY_AFTER_MS_MAX: Final = 30_000

_PASSING: Final = frozenset(
    {"Timeout", "RateLimitError", "ServiceUnavailableError", "InternalServerError", "ChildLost"}
)
_KEY_REFUSED: Final = frozenset({"AuthenticationError", "PermissionDeniedError"})
# How a server says that it does not know the response format we asked for; llama.cpp's says 500.
_FORMAT_REFUSED: Final = re.compile(r"response_format|json_schema|json_object|schema|grammar", re.I)


class Endpoint(Struct, frozen=True):
    """Where to ask. `model` in litellm's spelling (`openai/…`, `ollama_chat/…`, …)."""

    model: str
    api_base: str | None = None
    api_key: str | None = None
    tokens_per_day: int = 200_000

    def fingerprint(self) -> str:
        """Changes when the person changes the settings; holds no key in the clear."""
        return digest([self.model, self.api_base, self.api_key is not None and hash_key(self)])


def hash_key(endpoint: Endpoint) -> str:
    return digest(endpoint.api_key)[:24]


class Asked(Struct, frozen=True):
    """`reply` None: nothing usable, and `outcome` says why in one word, `detail` in a sentence."""

    outcome: str
    reply: answer.Reply | None = None
    calls: int = 0
    tokens: int = 0
    detail: str = ""


class Asker:
    def __init__(
        self,
        endpoint: Endpoint,
        store: ObserverStore,
        caller: ModelCaller,
        *,
        now_ms: Callable[[], int],
        sleep_ms: Callable[[int], None] = lambda ms: time.sleep(ms / 1000),
    ) -> None:
        self._endpoint = endpoint
        self._config = endpoint.fingerprint()
        self._store = store
        self._caller = caller
        self._now_ms = now_ms
        self._sleep_ms = sleep_ms
        self._calls = 0

    @property
    def model_version(self) -> str:
        """What remarks are signed with; one string per model and request schema."""
        return f"{self._endpoint.model}/{SCHEMA_VERSION}"[:200]

    def rest(self, *, at_once: bool = False) -> None:
        """Lets the model child go when it was idle for long."""
        if at_once:
            self._caller.stop()
        else:
            self._caller.stop_if_idle()

    def ask(self, request: Request) -> Asked:
        key = self._store.cache_key(
            f"{self._endpoint.model}|{SCHEMA_VERSION}", request.key_material
        )
        known = self._store.cached(key)
        if known is not None:
            return Asked("cached", answer.read(known, request.schema))
        breaker = self._store.recall("breaker", Breaker, Breaker())
        if not may_call(breaker, self._config, self._now_ms()):
            return Asked(
                "breaker_open", detail="paused after failures; it will try again by itself"
            )
        asked = self._ask_twice(request)
        if asked.reply is not None:
            self._store.cache(key, msgspec.json.encode(asked.reply).decode(), self._now_ms())
        return asked

    def _ask_twice(self, request: Request) -> Asked:
        """The question and, if the reply is unusable, one repair try that quotes the reason."""
        messages = request.messages
        reason = ""
        tokens = 0
        first_call = self._calls
        for _ in range(2):
            heard = self._with_retries(request, messages)
            if isinstance(heard, Asked):
                return heard
            tokens += heard.tokens or 0
            try:
                reply = answer.read(heard.content, request.schema)
                return Asked("answered", reply, self._calls - first_call, tokens)
            except answer.Unusable as error:
                reason = str(error)
                repair = f"{reason}. Answer again with one JSON object that fits the schema."
                messages = (*request.messages, {"role": "user", "content": repair})
        return Asked("unusable", calls=self._calls - first_call, tokens=tokens, detail=reason)

    def _with_retries(
        self, request: Request, messages: tuple[dict[str, str], ...]
    ) -> Heard | Asked:
        for attempt in range(RETRIES_MAX + 1):
            heard = self._negotiated(request, messages)
            if isinstance(heard, Asked) or heard.error is None:
                return heard
            if heard.error not in _PASSING or attempt == RETRIES_MAX:
                return Asked(heard.error, calls=attempt + 1, detail=heard.detail)
            if self._open():
                return Asked("breaker_open", calls=attempt + 1, detail=heard.detail)
            pause_ms = random.randint(*JITTER_MS) if not heard.retry_after_ms else 0
            self._sleep_ms(min(RETRY_AFTER_MS_MAX, heard.retry_after_ms or pause_ms))
        raise AssertionError("the last attempt returns")

    def _negotiated(self, request: Request, messages: tuple[dict[str, str], ...]) -> Heard | Asked:
        """Asks in the mode this endpoint accepts; steps down once per mode it refuses."""
        remembered = self._store.recall(f"mode|{self._config}", str, "")
        modes = (remembered,) if remembered in MODES else MODES
        for mode in modes:
            heard = self._counted(request, messages, mode)
            if isinstance(heard, Asked):
                return heard
            last = mode == modes[-1] or not _FORMAT_REFUSED.search(heard.detail)
            if heard.error is None or last:
                self._learn(heard, mode)
                return heard
        raise AssertionError("the last mode returns")

    def _counted(
        self, request: Request, messages: tuple[dict[str, str], ...], mode: str
    ) -> Heard | Asked:
        """One call, its tokens reserved before and settled after."""
        estimated = estimate_tokens(request.chars)
        budget = self._store.recall("budget", Budget, Budget())
        reserved = reserve(budget, estimated, self._endpoint.tokens_per_day, self._now_ms())
        if reserved is None:
            return Asked("budget_spent", detail="today's token budget is spent")
        self._store.remember("budget", reserved)
        self._calls += 1
        heard = self._caller.call(
            Call(
                call_id=self._calls,
                model=self._endpoint.model,
                messages=messages,
                schema=request.schema,
                mode=mode,
                timeout_ms=CALL_TIMEOUT_MS,
                max_tokens=ANSWER_TOKENS_MAX,
                api_base=self._endpoint.api_base,
                api_key=self._endpoint.api_key,
            )
        )
        self._store.remember("budget", settle(reserved, estimated, heard.tokens))
        return heard

    def _learn(self, heard: Heard, mode: str) -> None:
        if heard.error is None:
            self._store.remember(f"mode|{self._config}", mode)
            self._store.remember("breaker", after_success(self._config))
            return
        breaker = self._store.recall("breaker", Breaker, Breaker())
        lock = heard.error in _KEY_REFUSED
        failed = after_failure(breaker, self._config, self._now_ms(), lock=lock)
        self._store.remember("breaker", failed)

    def _open(self) -> bool:
        breaker = self._store.recall("breaker", Breaker, Breaker())
        return not may_call(breaker, self._config, self._now_ms())
