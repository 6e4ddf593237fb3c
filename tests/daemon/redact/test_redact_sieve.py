"""Hidden reasoning does not survive parsing, at any depth."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfinder.daemon.redact.sieve import sieve

CANARY = "canary" + "-7f3a"
BLOCKS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": CANARY, "signature": CANARY},
    {"type": "redacted_thinking", "data": CANARY},
    {"type": "thinking_delta", "text": CANARY},
    {"type": "signature_delta", "text": CANARY},
    {"type": "text", "text": "ok", "textSignature": CANARY},
    {"type": "toolCall", "name": "bash", "thoughtSignature": CANARY},
    {"type": "reasoning", "summary": [{"text": CANARY}], "content": [CANARY]},
    {"type": "response_item", "payload": {"type": "reasoning", "encrypted_content": CANARY}},
    {"type": "event_msg", "payload": {"type": "agent_reasoning", "text": CANARY}},
    {
        "type": "event_msg",
        "payload": {"type": "agent_reasoning_raw_content_delta", "d": CANARY},
    },
    {"type": "event_msg", "payload": {"type": "agent_reasoning_section_break", "x": CANARY}},
    {"type": "item_completed", "item": {"type": "reasoning", "raw": CANARY}},
    {"type": "response.reasoning_summary_text.delta", "delta": CANARY},
    {"type": "session_meta", "base_instructions": {"text": CANARY}},
    {"thoughts": [{"subject": CANARY}]},
    {"text": CANARY, "thought": True},
    {"message": {"reasoning_content": CANARY, "thinking_blocks": [CANARY]}},
    {"reasoning_details": [CANARY], "provider_specific_fields": {"thought_signatures": [CANARY]}},
    {"role": "reasoning", "content": CANARY},
]


@pytest.mark.parametrize("depth", range(1, 7))
@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_canary_in_any_reasoning_field_is_gone(block: dict[str, Any], depth: int) -> None:
    """In objects and lists, six levels down, as inside the results of tools."""
    value: Any = block
    for level in range(depth):
        value = [value, {"kept": 1}] if level % 2 else {"details": {"results": value}}
    sieved = sieve(value)
    assert CANARY not in json.dumps(sieved.value)
    assert sieved.dropped >= 1


def test_counts_and_levels_of_reasoning_stay() -> None:
    """How much was thought is no secret; what was thought is."""
    usage = {
        "reasoning_tokens": 12, "thoughtsTokenCount": 3, "thinkingLevel": "high",
        "reasoning_effort": "low", "output_tokens": 4, "type": "thinking_level_change",
    }  # fmt: skip
    assert sieve(usage).value == usage
    assert sieve({"reasoning_tokens": CANARY}).value == {}
    assert sieve({"thinkingLevel": CANARY}).value == {}


def test_what_is_not_reasoning_is_left_as_it_is() -> None:
    """The sieve copies, and changes nothing else."""
    record = {"type": "assistant", "message": {"content": [{"type": "text", "text": "a thought"}]}}
    before = json.dumps(record)
    assert sieve(record).value == record
    assert json.dumps(record) == before


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
        ),
        max_leaves=20,
    )
)
def test_sieving_twice_changes_nothing(value: Any) -> None:
    """The sieve is idempotent."""
    once = sieve(value).value
    assert sieve(once).value == once


def test_a_value_too_deep_is_dropped_below_the_bound() -> None:
    """Depth is bounded, so that no recursion error can let a record through unsieved."""
    value: Any = CANARY
    for _ in range(300):
        value = [value]
    assert CANARY not in json.dumps(sieve(value).value)
