"""What a patch may rely on: bases, reads, keys, kinds, goals, locks, hints (RULES 9–18, 39)."""

from __future__ import annotations

from net_build import (
    applied,
    arc,
    codes,
    contract,
    corrected,
    evidence,
    gate,
    mark,
    new_net,
    on,
    patch_of,
    place,
    refused,
    state,
    step,
    submit,
    supersede,
    wired,
)

from wayfinder.reducer.net.contract import KINDS_BY_TYPE
from wayfinder.reducer.net.decide import Committed, decide
from wayfinder.reducer.net.hints import EMPTY_UPDATE, TOO_FREQUENT, hints
from wayfinder.reducer.net.state import Net
from wayfinder.reducer.vocabulary.answer import Conflict, ReadBack, Unchanged
from wayfinder.reducer.vocabulary.event import EVENTS_OF_OP, KIND_OF
from wayfinder.reducer.vocabulary.people import CorrectionType
from wayfinder.reducer.vocabulary.terms import (
    ActorType,
    Channel,
    EvidenceType,
    Level,
    TransitionType,
)


def begun() -> Net:
    net = new_net()
    applied(
        net,
        place("pl_a"),
        place("pl_goal", "Goal"),
        *wired("tr_a", "pl_start", "pl_a"),
        *wired("tr_b", "pl_a", "pl_goal"),
    )
    return net


# --- bases ------------------------------------------------------------------------------------


def test_a_stale_patch_is_told_what_changed_and_what_would_still_apply() -> None:
    """Rejected whole; the answer has the revision, the nodes in conflict, the ops that rebase."""
    net = begun()
    applied(net, contract("tr_a", whyNow="because"))
    stale = submit(
        net,
        place("pl_new"),  # still fine
        contract("tr_a", whyNow="for another reason"),  # changed since
        *wired("tr_new", "pl_new", "pl_a"),  # leans on nothing that changed
        arc("tr_a", "pl_new", "failure"),  # changed since
        contract("tr_b"),  # wrong by itself
        base=1,
    )
    assert isinstance(stale, Conflict)
    assert (stale.revision, stale.conflicting) == (2, ("tr_a",))
    assert stale.rebaseable == (0, 2, 3, 4)


def test_a_patch_of_evidence_rebases_itself() -> None:
    """Pure `attach_evidence` is judged at today's revision while its target exists."""
    net = begun()
    applied(net, contract("tr_a", whyNow="because"))
    applied(net, evidence("tr_a", "ev_a"), base=1)
    assert codes(net, evidence("tr_none", "ev_b"), base=1) == ["unknown_id"]


def test_a_person_s_patch_rebases_unless_its_target_changed() -> None:
    """Only a change of what they looked at makes a person look again (RULES 38)."""
    net = begun()
    applied(net, contract("tr_a", whyNow="because"))
    words = {"channel": Channel.HUMAN, "base": 1}
    assert isinstance(submit(net, contract("tr_a", intent="x"), **words), Conflict)
    applied(net, contract("tr_b", intent="the real thing"), **words)


def test_evidence_does_not_make_a_base_stale() -> None:
    """Attached evidence changes no structure, so its target is not in conflict."""
    net = begun()
    applied(net, evidence("tr_a", "ev_a"))
    stale = submit(net, contract("tr_a", whyNow="now"), base=1)
    assert isinstance(stale, Conflict) and stale.conflicting == () and stale.rebaseable == (0,)


# --- reads and no-ops -------------------------------------------------------------------------


def test_no_ops_read_the_net_back() -> None:
    """Revision, place, active, enabled, newest evidence and nodes, a person's standing words."""
    net = begun()
    applied(net, evidence("tr_a", "ev_a"))
    corrected(net, CorrectionType.TEXT, text="keep the protocol", correction_id="cor_text")
    answer = submit(net)
    assert isinstance(answer, ReadBack)
    assert (answer.where.place_id, answer.where.enabled) == ("pl_start", ("tr_a",))
    assert answer.evidence_ids == ("ev_a",)
    assert answer.node_ids[0] == "tr_b"
    assert [said.text for said in answer.constraints] == ["keep the protocol"]


def test_a_patch_that_changes_nothing_is_unchanged() -> None:
    """Same words, same state: no event, no new revision (RULES 13)."""
    net = begun()
    applied(net, evidence("pl_a", "ev_a"), state("pl_a", "satisfied", "ev_a"))
    again = submit(net, state("pl_a", "satisfied", "ev_a"), contract("tr_a", intent="do a"))
    assert isinstance(again, Unchanged)
    assert net.revision == 2


# --- contracts --------------------------------------------------------------------------------


def keys_of(net: Net, name: str) -> list[str]:
    return [expected.key for expected in net.transitions[name].expected]


def test_plain_strings_get_keys_in_order_and_keep_them() -> None:
    """`ee1, ee2 …` come back in the answer; resent text keeps its key, no key changes meaning."""
    net = new_net()
    mixed = ["first", {"key": "ee2", "text": "named"}, "third"]
    answer = applied(net, step("tr_a", expectedEvidence=mixed))
    assert answer.evidence_keys == {"tr_a": ("ee1", "ee2", "ee3")}
    applied(net, contract("tr_a", expectedEvidence=["third", "fresh"]))
    assert keys_of(net, "tr_a") == ["ee3", "ee4"]


def test_kinds_left_out_are_inferred_from_one_table() -> None:
    """Inferred kinds are marked; declared ones are not; clearing them infers again (RULES 11)."""
    net = new_net()
    applied(net, step("tr_a", "Implement"))
    assert net.transitions["tr_a"].kinds == KINDS_BY_TYPE[TransitionType.IMPLEMENT]
    assert net.transitions["tr_a"].kinds_inferred
    applied(net, contract("tr_a", allowedEpisodeKinds=["plan"]))
    assert not net.transitions["tr_a"].kinds_inferred
    applied(net, contract("tr_a", allowedEpisodeKinds=[]))
    assert net.transitions["tr_a"].kinds_inferred
    assert set(KINDS_BY_TYPE) == set(TransitionType)


def test_each_contract_is_a_new_version_and_keeps_what_it_does_not_name() -> None:
    """Versions count up; untouched fields stay."""
    net = begun()
    applied(net, contract("tr_a", whyNow="because"), contract("tr_a", owner="main"))
    kept = net.transitions["tr_a"]
    assert (kept.contract_version, kept.why_now, kept.owner) == (3, "because", "main")


def test_what_is_missing_beside_the_contract_is_a_warning() -> None:
    """Accepted, answered as a warning, shown as Unknown."""
    net = begun()
    (warning,) = applied(net, on("activate", "tr_a")).warnings
    assert all(name in warning for name in ("whyNow", "action", "failureCondition", "owner"))


def test_the_channel_decides_what_evidence_is() -> None:
    """An agent declares and a person states, whatever they write; the firing is noted."""
    net = begun()
    applied(net, on("activate", "tr_a"), evidence("tr_a", "ev_a", "ee1", confidence=0.4))
    applied(net, evidence("tr_a", "ev_b"), channel=Channel.HUMAN)
    told, said = net.evidence["ev_a"], net.evidence["ev_b"]
    assert (told.type, said.type) == (EvidenceType.AGENT_DECLARATION, EvidenceType.HUMAN_STATEMENT)
    assert (told.confidence_owner, told.confidence) == (ActorType.AGENT, 0.4)
    assert told.firing_id == net.transitions["tr_a"].firing_id


def test_evidence_without_a_name_gets_one() -> None:
    """The id comes back in the answer, past names an agent took itself."""
    net = begun()
    applied(net, evidence("tr_a", "ev_2"))
    nameless = evidence("tr_a", "x")
    del nameless["evidence"]["evidenceId"]
    assert applied(net, nameless).evidence_ids == ("ev_3",)


def test_ops_write_only_the_events_their_table_names() -> None:
    """One table, op → event kinds; opener and closer frame every batch (RULES 16)."""
    net = begun()
    ops = [
        place("pl_x"),
        on("activate", "tr_a"),
        on("complete", "tr_a"),
        contract("tr_b", owner="m"),
    ]
    decision = submit(net, *ops)
    assert isinstance(decision, Committed)
    kinds = [KIND_OF[type(payload)] for payload in decision.payloads]
    assert (kinds[0], kinds[-1]) == ("path.declared", "patch.committed")
    for payload, kind in zip(decision.payloads[1:-1], kinds[1:-1], strict=True):
        assert kind in EVENTS_OF_OP[ops[payload.op_index]["op"]]


# --- goals ------------------------------------------------------------------------------------


def test_the_first_goal_is_the_north_star_and_a_later_one_says_why() -> None:
    """The old goal stays, superseded; the change has a reason (RULES 18)."""
    net = begun()
    assert net.goal is not None and net.goal.level is Level.DECLARED
    applied(net, place("pl_new", "Goal", replacesGoalId="pl_goal", reason="users want logins"))
    assert net.goal.place_id == "pl_new"
    assert net.places["pl_goal"].superseded_by == "pl_new"
    assert [old.place_id for old in net.retired_goals] == ["pl_goal"]


def test_after_a_person_s_goal_an_agent_can_only_propose() -> None:
    """`human_constraint` names the goal that stands; undoing the correction lifts it."""
    net = begun()
    new = place("pl_new", "Goal", replacesGoalId="pl_goal", reason="restore logins")
    corrected(net, CorrectionType.GOAL, new, text="restore logins")
    assert net.goal is not None and net.goal.level is Level.HUMAN
    change = place("pl_x", "Goal", replacesGoalId="pl_new", reason="easier")
    (fault,) = refused(net, change).faults
    assert fault.code == "human_constraint" and "pl_new" in fault.expected
    corrected(net, CorrectionType.UNDO, target="cor_1", correction_id="cor_2")
    applied(net, change)


# --- locks ------------------------------------------------------------------------------------


def test_only_allows_the_step_and_the_way_to_it() -> None:
    """Another step is refused, but not one that leads to where the wanted step starts."""
    net = begun()
    applied(net, place("pl_c"), *wired("tr_c", "pl_start", "pl_c"))
    corrected(net, CorrectionType.ONLY, target="tr_b")
    assert codes(net, on("activate", "tr_c")) == ["human_constraint"]
    applied(net, on("activate", "tr_a"), on("complete", "tr_a"), on("activate", "tr_b"))
    assert codes(net, supersede("tr_b", "tr_c")) == ["human_constraint"]
    applied(net, on("complete", "tr_b"))
    assert net.locks == {}


def test_what_a_person_retired_stays_retired() -> None:
    """Connecting, rewording, reviving by supersede: each is refused with their correction's id."""
    net = begun()
    gone = on("retire", "tr_b", reason="no longer matters")
    corrected(net, CorrectionType.RETIRE, gone, target="tr_b")
    for op in (
        arc("pl_start", "tr_b", "read"),
        contract("tr_b", intent="again"),
        supersede("tr_a", "tr_b"),
        on("activate", "tr_b"),
    ):
        (fault,) = refused(net, op).faults
        assert fault.code == "human_constraint" and "cor_1" in fault.known


def test_a_gate_a_person_set_is_opened_by_a_person() -> None:
    """Closed gate plus read arc; the agent can neither pass nor open it (RULES 39)."""
    net = begun()
    shut = [gate("gate_me", "closed"), arc("gate_me", "tr_a", "read")]
    corrected(net, CorrectionType.GATE, *shut, target="tr_a")
    assert net.locks["cor_1"].gate_id == "gate_me"
    assert codes(net, on("activate", "tr_a")) == ["human_constraint"]
    assert codes(net, mark("gate_me", "open")) == ["human_constraint"]
    opened = mark("gate_me", "open")
    corrected(net, CorrectionType.OPEN_GATE, opened, target="gate_me", correction_id="cor_2")
    applied(net, on("activate", "tr_a"))


def test_a_gate_an_agent_makes_is_its_own() -> None:
    """A person's gate that stood alone does not swallow the next gate an agent creates."""
    net = begun()
    corrected(net, CorrectionType.GATE, target="tr_a")
    applied(net, gate("gate_mine", "closed"), mark("gate_mine", "open"))
    assert net.locks["cor_1"].gate_id is None


# --- hints ------------------------------------------------------------------------------------


def hinted(
    net: Net, *ops: dict[str, object], recent: tuple[tuple[int, int], ...] = ()
) -> list[str]:
    patch = patch_of(list(ops), net.revision)
    decision = decide(net, patch, channel=Channel.DECLARED_PATH, position=20, now_ms=0)
    return list(hints(net, decision, recent, (20, 100_000)))


def test_an_update_that_says_nothing_new_is_hinted_at() -> None:
    """Words moved from one field to another, or a claim made twice, are empty updates."""
    net = begun()
    applied(net, contract("tr_a", whyNow="The signature is stable"), evidence("tr_a", "ev_a"))
    assert hinted(net, contract("tr_a", action="the signature  is STABLE")) == [EMPTY_UPDATE]
    assert hinted(net, contract("tr_a", intent="do a")) == [EMPTY_UPDATE]
    assert hinted(net, evidence("tr_a", "ev_b")) == [EMPTY_UPDATE]
    assert hinted(net, contract("tr_a", action="print the cookie jar")) == []
    assert hinted(net, evidence("tr_a", "ev_b", "ee1")) == []
    assert hinted(net) == []


def test_updates_without_work_between_them_are_hinted_at() -> None:
    """Four updates within a handful of observations, or a minute where nothing is counted."""
    net = begun()
    close, far = ((13, 0), (15, 0), (18, 0)), ((2, 0), (15, 0), (18, 0))
    assert hinted(net, place("pl_x"), recent=close) == [TOO_FREQUENT]
    assert hinted(net, place("pl_x"), recent=far) == []
    assert hinted(net, place("pl_x"), recent=((0, 50_000),) * 3) == [TOO_FREQUENT]
    assert hinted(net, place("pl_x"), recent=((0, 5_000),) * 3) == []
