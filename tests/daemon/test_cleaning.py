"""What a person writes passes the redactor before the log, and keeps its words."""

from __future__ import annotations

import msgspec
import pytest

from wayfinder.daemon.messages import Correct, SubmitByHand
from wayfinder.daemon.reconciler.cleaning import cleaned
from wayfinder.daemon.redact.patches import SecretId
from wayfinder.reducer.vocabulary.people import CorrectionType, HumanIntentPatch

TOKEN = "gh" + "p_" + "A1b2C3d4" * 4 + "E5f6"


def correction(text: str) -> Correct:
    return Correct(HumanIntentPatch("cor_1", "pi-a", CorrectionType.TEXT, text))


def test_a_secret_in_a_correction_is_masked_and_the_rest_is_verbatim() -> None:
    """Only the secret goes; the person's own words reach the agent as they were said."""
    request = cleaned(correction(f"use {TOKEN} and only find the cause"))
    assert isinstance(request, Correct)
    text = request.correction.text or ""
    assert TOKEN not in text
    assert text.startswith("use ")
    assert text.endswith(" and only find the cause")


def test_plain_words_are_untouched() -> None:
    """Words without a secret are delivered exactly, in any script."""
    for words in ("先不要优化，只验证根因", "do not optimise; only find the cause"):
        assert cleaned(correction(words)) == correction(words)


def test_a_patch_by_hand_is_masked_inside_and_its_ids_are_judged() -> None:
    """Labels are masked; an id that looks like a secret is refused, not rewritten."""
    op = {"op": "create_place", "placeId": "pl_a", "type": "Condition", "label": f"has {TOKEN}"}
    raw = msgspec.Raw(msgspec.json.encode({"ops": [op]}))
    request = cleaned(SubmitByHand("pi-a", raw))
    assert isinstance(request, SubmitByHand)
    assert TOKEN.encode() not in bytes(request.patch)
    bad = msgspec.Raw(msgspec.json.encode({"ops": [{**op, "placeId": TOKEN}]}))
    with pytest.raises(SecretId):
        cleaned(SubmitByHand("pi-a", bad))
