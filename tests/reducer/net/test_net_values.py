"""Layers, trees, digests, exports and schemas: the net as a value."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st
from net_build import applied, contract, evidence, new_net, on, patch_of, place, refine, wired

from wayfinder.reducer.net.decide import Committed, decide
from wayfinder.reducer.net.digest import evidence_digest, full_digest, net_digest
from wayfinder.reducer.net.export.document import to_json
from wayfinder.reducer.net.export.layers import layers
from wayfinder.reducer.net.export.mermaid import to_mermaid
from wayfinder.reducer.net.export.pnml import to_pnml, unfold
from wayfinder.reducer.net.export.svg import to_svg
from wayfinder.reducer.net.hashtree import HashTree
from wayfinder.reducer.net.layer import Layer
from wayfinder.reducer.net.schema import strict, tool_parameters
from wayfinder.reducer.net.secretlike import looks_like_secret
from wayfinder.reducer.net.state import Net
from wayfinder.reducer.vocabulary.event import EVENTS_OF_OP
from wayfinder.reducer.vocabulary.terms import Channel

HOSTILE = '<script>alert(1)</script> "]; end --> & \u200b 登录刷新'


def told() -> Net:
    net = new_net()
    applied(
        net,
        place("pl_a", label=HOSTILE),
        place("pl_goal", "Goal"),
        *wired("tr_s", "pl_start", "pl_a", "pl_start", intent=HOSTILE),
        *wired("tr_b", "pl_a", "pl_goal", "pl_start"),
        refine("tr_s", "pl_start", "pl_a", "pl_start"),
    )
    applied(net, on("activate", "tr_s"), on("activate", "tr_s_step"))
    return net


@given(st.dictionaries(st.text(max_size=3), st.integers()), st.data())
def test_a_layer_reads_like_a_copy(base: dict[str, int], data: st.DataObject) -> None:
    """Whatever is written, a layer looks like a changed copy, and the base stays as it was."""
    layer, copy, kept = Layer(base), dict(base), dict(base)
    for key, value in data.draw(st.lists(st.tuples(st.text(max_size=3), st.integers()))):
        layer[key] = copy[key] = value
    assert dict(layer) == copy
    assert list(layer) == list(copy)
    assert len(layer) == len(copy)
    assert base == kept


@given(st.lists(st.tuples(st.text(max_size=4), st.binary(max_size=4)), max_size=60))
def test_the_tree_depends_on_parts_only(changes: list[tuple[str, bytes]]) -> None:
    """Any order, any grouping, any forks: the root is that of the final parts (RULES 16)."""
    parts: dict[str, bytes] = {}
    tree = HashTree()
    for index, (name, part) in enumerate(changes):
        parts[name] = part
        tree.dirty.add(name)
        if index % 3 == 0:
            tree.root(parts.__getitem__)
            tree = tree.fork()
    whole = HashTree()
    whole.dirty.update(reversed(list(parts)))
    assert tree.root(parts.__getitem__) == whole.root(parts.__getitem__)


def test_deciding_leaves_the_net_alone() -> None:
    """A committed decision is only a decision: every part of the net is as it was."""
    net = told()
    parts = ("places", "transitions", "tokens", "evidence", "locks", "flows_from", "read_by")
    before = [dict(getattr(net, part)) for part in parts], net.born, net.firings, net.goal
    ops = [on("complete", "tr_s_step"), place("pl_x"), evidence("pl_x", "ev_x")]
    patch = patch_of(ops, net.revision)
    decision = decide(net, patch, channel=Channel.DECLARED_PATH, position=0, now_ms=0)
    assert isinstance(decision, Committed)
    after = [dict(getattr(net, part)) for part in parts], net.born, net.firings, net.goal
    assert after == before
    assert net_digest(net) == full_digest(net) != decision.answer.snapshot_hash


def test_evidence_has_a_digest_of_its_own() -> None:
    """Attaching evidence changes the evidence digest and not the net's."""
    net = told()
    before = net_digest(net), evidence_digest(net)
    applied(net, evidence("tr_s", "ev_a"))
    assert net_digest(net) == before[0] == full_digest(net)
    assert evidence_digest(net) != before[1]


def test_every_word_of_a_contract_is_in_the_digest() -> None:
    """Structure, marking, states and contracts: a changed word is a changed digest."""
    net = told()
    before = net_digest(net)
    applied(net, contract("tr_b", assumptions=["only the refresh path"]))
    assert net_digest(net) != before


def test_json_is_whole_and_deterministic() -> None:
    """The document has every node, in order of birth, and the digest it belongs to."""
    net = told()
    document = json.loads(to_json(net))
    assert document["netDigest"] == net_digest(net)
    assert [node["placeId"] for node in document["places"]][:2] == ["pl_start", "pl_a"]
    assert to_json(net) == to_json(net)


def test_pnml_is_one_flat_page_with_an_explicit_final_marking() -> None:
    """Well-formed whatever labels hold; counts are those of the unfolded net."""
    net = told()
    root = ET.fromstring(to_pnml(net))
    space = "{http://www.pnml.org/version-2009/grammar/pnml}"
    flat = unfold(net)
    assert len(root.findall(f".//{space}page")) == 1
    assert len(root.findall(f".//{space}page/{space}transition")) == len(flat.transitions)
    assert len(root.findall(f".//{space}arc")) == len(flat.arcs)
    assert [at.get("idref") for at in root.findall(f".//{space}finalmarkings//{space}place")] == [
        "pl_goal"
    ]
    assert {"tr_s·enter", "tr_s·exit", "tr_s·fail", "tr_b·fail"} <= {
        n for n, _, _ in flat.transitions
    }


def test_pictures_escape_what_they_show() -> None:
    """Labels are untrusted: no markup of theirs survives into SVG or Mermaid."""
    net = told()
    picture = to_svg(net)
    ET.fromstring(picture)
    assert "<script" not in picture
    chart = to_mermaid(net)
    assert "<" not in chart.replace("<-", "")
    assert chart.count("subgraph") == chart.count("\n  end\n") == 1
    assert "登录刷新" in chart


def test_a_picture_takes_the_positions_it_is_given() -> None:
    """The page's own fixed positions may be drawn instead of the plain layout."""
    net = told()
    places = dict.fromkeys((*net.places, *net.transitions), (3, 1))
    assert to_svg(net, lambda _: places) != to_svg(net)


def test_the_plain_layout_puts_causes_before_effects() -> None:
    """Columns follow the flow, loops notwithstanding; no two nodes share a spot."""
    points = layers(told())
    order = ["pl_start", "tr_s", "pl_a", "tr_b", "pl_goal"]
    columns = [points[name][0] for name in order]
    assert columns == sorted(columns)
    assert len(set(points.values())) == len(points)


def test_the_tool_s_schema_is_plain_and_whole() -> None:
    """No reference, every op and every field, and an op's fields told in its description."""
    parameters = tool_parameters()
    text = json.dumps(parameters)
    assert "$ref" not in text and "anyOf" not in text
    item = parameters["properties"]["ops"]["items"]["properties"]
    assert set(item["op"]["enum"]) == set(EVENTS_OF_OP)
    assert all(tag in item["op"]["description"] for tag in EVENTS_OF_OP)
    fields = {n for part in strict()["$defs"].values() for n in part.get("properties", ())}
    ours = {"patchId", "baseRevision", "idempotencyKey", "schemaVersion", "actor", "agentId", "ops"}
    inner = {"key", "text", "summary", "satisfies", "result", "confidence", "evidenceId",
             "places", "transitions", "arcs"}  # fmt: skip
    assert fields - ours - inner == set(item)


def test_the_strict_schema_names_every_op() -> None:
    """`wayfinder schema patch` is the exact form, one branch per op."""
    assert set(EVENTS_OF_OP) <= {
        enum
        for part in strict()["$defs"].values()
        for enum in part.get("properties", {}).get("op", {}).get("enum", ())
    }


def test_ids_that_look_like_keys_are_told_from_names() -> None:
    """Issuers' prefixes and scrambled runs are refused; long plain names are not."""
    scrambled = "aB3dE6" * 5
    for name in ("AK" + "IA" + "Q" * 16, "sk" + "-live", "tr_" + scrambled, "f0" * 16):
        assert looks_like_secret(name)
    for name in (
        "tr_find_root_cause_of_the_refresh_failure",
        "pl_OAuth2RefreshTokenFlowIsVerified",
        "ev_2026_07_14_run_12",
        "tr_reproduceTheFailureInTheIntegrationTests",
    ):
        assert not looks_like_secret(name)
