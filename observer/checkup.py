"""`wayfinder doctor --model`: one call to the configured model; in plain words what is wrong."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Final

from ..daemon.paths import resolve
from ..daemon.settings import load
from .asking import Asked
from .prompt import Request
from .wiring import asker_of, now_ms, redacting_of

_WORDS: Final[dict[str, str]] = {
    "answered": "the model answered, and its answer fits the schema",
    "cached": "the model answered, and its answer fits the schema",
    "unusable": "the model answers, but not with the JSON it is asked for; try a larger model",
    "AuthenticationError": "the key was refused; set the variable that observer.api_key_env names",
    "PermissionDeniedError": "the key may not use this model",
    "NotFoundError": "the server does not know this model",
    "Timeout": "no answer in time; is the model loaded?",
    "RateLimitError": "the provider says: too many requests",
    "ServiceUnavailableError": "the server is there, but not able to answer now",
    "InternalServerError": "nobody answers there, or the server failed; check observer.api_base",
    "Guarded": "the server redirected or sent too much; this is refused",
    "breaker_open": "paused after failures; it tries again by itself",
    "budget_spent": "today's token budget is spent (observer.tokens_per_day)",
    "ChildLost": "litellm did not start; install the extra: pip install wayfinderd[observer]",
}

_SCHEMA: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["op", "confidence"],
    "properties": {
        "op": {"type": "string", "enum": ["no_change"]},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        **{
            name: {"type": "string", "enum": ["none"]}
            for name in (
                "intentClass", "alternateTransitionId", "supportsSelector", "contradictsSelector",
            )
        },
        "summary": {"type": "string"},
    },
}  # fmt: skip
_ASK: Final = 'Answer with {"op": "no_change", "confidence": 0.5} and nothing else.'


def main() -> int:
    parser = argparse.ArgumentParser(prog="wayfinder doctor --model")
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    paths = resolve()
    settings = load(paths.settings).settings
    if not settings.observer.model:
        print("no model is configured (observer.model); the observer is off")
        return 0
    # The time is in the question, so that the answer comes from the model and not from the cache.
    text = f"{_ASK} (asked at {now_ms()})"
    request = Request(({"role": "user", "content": text},), _SCHEMA, text.encode(), len(text))
    asker = asker_of(paths, settings)
    asked = asker.ask(request)
    asker.rest(at_once=True)
    redacting = redacting_of(paths)
    detail = redacting.texts([asked.detail])[0][:300] if asked.detail else ""
    redacting.close()
    if options.as_json:
        print(json.dumps({"outcome": asked.outcome, "says": said(asked), "detail": detail}))
    else:
        print(f"{settings.observer.model}: {said(asked)}")
        if detail:
            print(f"  it said: {json.dumps(detail, ensure_ascii=True)}")
    return 0 if asked.reply is not None else 1


def said(asked: Asked) -> str:
    return _WORDS.get(asked.outcome, f"failed with {asked.outcome}")


if __name__ == "__main__":
    sys.exit(main())
