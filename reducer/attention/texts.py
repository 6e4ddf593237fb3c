"""Every sentence a person reads in a view, in two languages, in one table.

Alignment and its tensions have their own English sentences (`alignment/words.py`); the Chinese
ones for them stand here, by the same codes. Sentences are plain, short and neutral.
"""

from __future__ import annotations

from typing import Final, Literal

from ..alignment.words import SENTENCES, Words
from ..vocabulary.terms import EpisodeKind

Language = Literal["en", "zh"]

_TEXTS: Final[dict[str, tuple[str, str]]] = {
    "unknown": ("Unknown", "未知"),
    "no_goal": ("Unknown: no goal was declared or asked for", "未知：没有声明过目标，也没有请求"),
    "between": ("between steps, at: {place}", "在两步之间，位于：{place}"),
    "arrived": ("reached the goal: {place} ({standing})", "已到达目标：{place}（{standing}）"),
    "settled_stop": ("stopped and waits for you", "已停下，等你"),
    "settled_aborted": ("was stopped", "被中止"),
    "settled_error": ("ended with an error", "因错误结束"),
    "settled_outage": ("stopped: the model service failed", "停下：模型服务故障"),
    "settled_rate_limit": ("stopped: rate limit", "停下：达到速率限制"),
    "settled_length": ("stopped: answer too long", "停下：回答过长"),
    "settled_ended": ("the session is over", "会话已结束"),
    "nothing_yet": ("nothing was observed yet", "还没有观察到任何事"),
    "same_failure": ("{work}; the same failure {count} times", "{work}；同一失败 {count} 次"),
    "failing": ("{work}; it fails", "{work}；失败"),
    "why_unknown": ("Unknown: no reason was declared", "未知：没有声明原因"),
    "why_link": ("{why} → goal", "{why} → 目标"),
    "why_no_link": ("{why} (no declared link to the goal)", "{why}（与目标的联系未声明）"),
    "next_unknown": ("Unknown: nothing declared after this", "未知：之后没有声明"),
    "then_else": ("{then}; else {fail}", "{then}；否则 {fail}"),
    "then_none": ("{then}; no recovery declared", "{then}；未声明失败后的去向"),
    "else_only": ("else {fail}", "否则 {fail}"),
    "reaches": ("then: {place}", "然后：{place}"),
    "fails_back": ("no recovery declared: back to {place}", "未声明恢复路径：回到 {place}"),
    "fails_to": ("{place}, then {fail}", "{place}，然后 {fail}"),
    "evidence_unknown": ("Unknown: no expected evidence declared", "未知：没有声明预期证据"),
    "nothing_watch": ("nothing needs you", "没有需要你的事"),
    "none_set_aside": ("none", "无"),
    "set_aside": ("{intent} ({reason})", "{intent}（{reason}）"),
    "more": ("{text}, and {count} more", "{text}，另有 {count} 个"),
    "ask_human": ("needs you: {intent}", "需要你：{intent}"),
    "gate_closed": ("gate closed: {label}", "关口未开：{label}"),
    "gate_blocked": ("gate blocked: {label}", "关口受阻：{label}"),
    "proposals": ("proposals waiting for you: {count}", "{count} 个提议等你决定"),
    "waiting_ui": ("the agent asks you something", "Agent 正在问你"),
    "unmet": ("not met yet: {label}", "尚未满足：{label}"),
    "uncertain": ("open question: {label}", "未解的问题：{label}"),
    "superseded": ("path changed: {reason}", "改道：{reason}"),
    "because_needs": ("a person decides here", "这里由人决定"),
    "because_blocks": ("{count} steps wait for it", "{count} 步在等它"),
    "because_tension": ("declared and observed differ", "声明与观察不一致"),
    "because_uncertain": ("it decides which way to go", "它决定走哪条路"),
    "because_recent": ("it changed lately", "最近有变化"),
    "because_repeat": ("seen again and again", "反复出现"),
    "two_sides": ("{declared} / {observed}", "{declared} / {observed}"),
    "claims_fit": ("yes: {reason}", "一致：{reason}"),
    "claims_differ": ("{status}: {reason}", "{status}：{reason}"),
    "since_met": ("met: {label}", "已满足：{label}"),
    "since_retired": ("set aside: {intent} ({reason})", "作废：{intent}（{reason}）"),
    "since_tension": ("new tension: {text}", "新的分歧：{text}"),
    "since_count": ("{text}, and {count} more", "{text}，另有 {count} 个"),
    "q1": ("What is the overall goal?", "总体目标是什么？"),
    "q2": ("Which intent is being pursued?", "正在推进哪个意图？"),
    "q3": ("Why this step now?", "为什么现在做这一步？"),
    "q4": ("What evidence would show success?", "成功需要什么证据？"),
    "q5": ("What comes next?", "下一步最可能是什么？"),
    "q6": ("Which failure branch matters?", "哪个失败分支最值得关注？"),
    "q7": ("Which paths were abandoned?", "哪些原路径已经作废？"),
    "q8": ("Does what is said fit what is done?", "声明与真实行为是否一致？"),
    "status_pending": ("pending", "待定"),
    "status_aligned": ("aligned", "一致"),
    "status_lagging": ("lagging", "可能过期"),
    "status_diverged": ("diverged", "已偏离"),
    "status_unknown": ("unknown", "未知"),
    "standing_claimed": ("claimed", "自称"),
    "standing_satisfied": ("satisfied", "已满足"),
    "standing_verified": ("verified", "已验证"),
    "standing_unknown": ("unknown", "未知"),
    "standing_invalidated": ("invalidated", "被否定"),
    "standing_unreachable": ("unreachable", "不可达"),
}

_WORK: Final[dict[EpisodeKind, tuple[str, str]]] = {
    EpisodeKind.INSPECT: ("reading", "阅读"),
    EpisodeKind.SEARCH: ("searching", "搜索"),
    EpisodeKind.EDIT: ("editing", "编辑"),
    EpisodeKind.TEST: ("testing", "测试"),
    EpisodeKind.BUILD: ("building", "构建"),
    EpisodeKind.RUN: ("running commands", "运行命令"),
    EpisodeKind.INSTRUMENT: ("adding instruments", "添加观测"),
    EpisodeKind.PLAN: ("planning", "规划"),
    EpisodeKind.ASK: ("asking", "提问"),
    EpisodeKind.DELEGATE: ("a sub-agent works", "子代理在工作"),
    EpisodeKind.OTHER: ("working", "工作"),
}

_WORDS_ZH: Final[dict[str, str]] = {
    "denied_retire": "有人说这个分支不再重要",
    "denied_only": "有人要求目前只做 {target}",
    "denied_wrong_step": "有人说现在不该做这一步",
    "blind": "看到的不够，无法判断（覆盖：{coverage}）",
    "alternate_step": "连续 {count} 段活动像是 {alternate}",
    "alternate_intent": "连续 {count} 段活动像是另一意图：{alternate}",
    "confirmed": "观察到的证据符合声明",
    "satisfied_declared": "Agent 说预期证据已满足（仅声明）",
    "satisfied_person": "有人说预期证据已满足",
    "matching": "看到的活动符合声明的步骤",
    "no_progress": "此后 {count} 段活动都没有新的相符活动或证据",
    "too_early": "声明之后看到的还太少",
    "nothing_declared": "还没有声明路径",
    "nothing_active": "没有进行中的步骤",
    "between_steps": "还没有进行中的步骤",
    "says_working_on": "正在做：{intent}",
    "says_done": "已完成：{intent}",
    "says_satisfied": "条件成立：{label}",
    "says_goal": "新目标：{label}",
    "says_path": "声明过路径",
    "person_retired": "有人作废了这个分支：{intent}",
    "person_only": "有人要求只做 {intent}",
    "person_gate": "由人决定：{label}",
    "person_denied": "有人另有说法",
    "needs_precondition": "需要：{label}",
    "saw_nothing_new": "{count} 段活动没有新的相符活动或证据",
    "saw_other_kinds": "{count} 段活动是 {kinds}，声明的是 {allowed}",
    "saw_other_work": "活动像是 {alternate}",
    "saw_gate": "关口 {label} 为 {state}",
    "saw_place": "{label} 为 {state}",
    "saw_fail": "最近看到的结果：{fact}",
    "saw_failures": "连续 {count} 次失败，未声明恢复路径",
    "saw_failed_still_working": "步骤已失败，工作仍在继续，未声明恢复路径",
    "saw_no_step": "{count} 段活动期间没有进行中的步骤",
    "saw_acts_on": "仍在做：{intent}",
    "saw_old_goal": "此前的目标：{label}",
    "saw_still_on": "仍在：{intent}",
    "by_repath": "一次路径更新，说明现在在做什么",
    "by_activation": "一次启动某一步的路径更新",
    "by_recovery": "声明失败分支、换一种做法，或出现通过的结果",
    "by_gate": "关口打开，或收回这一步",
    "by_pass": "出现通过的结果，或收回声明",
    "by_precondition": "条件重新成立，或作废这一步",
    "by_leaving": "Agent 离开这一步，或由人收回纠正",
    "by_person_goal": "由人确认或更正目标",
    "loop_signature": "同一问题 {count} 次，做法没有改变",
    "loop_command": "同一命令在 {count} 段活动中失败，做法没有改变",
    "gate_refused": "被拒绝 {count} 次",
    "tombstone_same": "回到已作废的路径：{intent}",
    "tombstone_work": "活动像是已作废的路径：{intent}",
    "tombstone_trouble": "曾使 {intent} 终止的问题又出现了",
}


def text(code: str, language: Language, **params: object) -> str:
    return _TEXTS[code][language == "zh"].format_map(params)


def work(kind: EpisodeKind, language: Language) -> str:
    return _WORK[kind][language == "zh"]


def sentence(said: Words, language: Language) -> str:
    """A sentence of the alignment room; English where no Chinese one is written."""
    pattern = _WORDS_ZH.get(said.code) if language == "zh" else None
    return (pattern or SENTENCES[said.code]).format_map(dict(said.params))
