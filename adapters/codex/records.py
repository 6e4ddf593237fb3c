"""The lines of a Codex rollout, as far as they are decoded. Allow-lists only.

`base_instructions`, `replacement_history`, `encrypted_content`, reasoning and the texts of injected
messages stand in fields that are never decoded.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Item(Struct):
    """An item of the item stream: `item_completed`, or `item.completed` of `exec --json`."""

    type: str = ""
    id: str | None = None
    content: Any = None
    command: Any = None
    aggregated_output: str | None = None
    exit_code: int | None = None
    status: Any = None
    server: str | None = None
    tool: str | None = None
    arguments: Any = None
    result: Any = None
    error: Any = None
    changes: Any = None
    query: str | None = None
    action: Any = None
    items: Any = None
    message: str | None = None


class Payload(Struct):
    type: str = ""
    id: str | None = None
    # session_meta
    session_id: str | None = None
    timestamp: str | int | None = None
    cwd: str | None = None
    cli_version: str | None = None
    parent_thread_id: str | None = None
    forked_from_id: str | None = None
    source: Any = None
    # calls
    name: str | None = None
    namespace: str | None = None
    arguments: str | None = None
    input: str | None = None
    call_id: str | None = None
    output: Any = None
    action: Any = None
    # events
    message: Any = None
    role: str | None = None
    content: Any = None
    reason: str | None = None
    command: Any = None
    aggregated_output: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None
    status: Any = None
    success: bool | None = None
    changes: Any = None
    invocation: Any = None
    result: Any = None
    query: str | None = None
    turn_id: str | None = None
    last_agent_message: str | None = None
    item: Item | None = None


class Line(Payload):
    """`{timestamp, type, payload}`; in files of early 2025 the payload stands unwrapped."""

    payload: Payload | None = None
    thread_id: str | None = None
    usage: Any = None


# Known, and nothing to see.
QUIET = frozenset({
    "turn_context", "world_state", "token_usage_record", "token_count", "task_started", "reasoning",
    "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "message", "ghost_snapshot",
    "agent_reasoning_section_break", "thread_settings_applied", "context_compacted", "turn_diff",
    "thread_name_updated", "turn.started", "thread.started", "item.started", "item.updated",
    "background_event", "exec_command_begin", "mcp_tool_call_begin", "patch_apply_begin", "warning",
    "web_search_begin", "thread_rolled_back", "image_generation_call", "tool_search_call",
    "tool_search_output", "plan_update", "stream_error", "entered_review_mode", "compaction",
    "exited_review_mode", "undo_completed", "undo_started", "model_reroute", "task_started",
    "view_image_tool_call", "item_started", "guardian_assessment", "hook_started", "state",
    "hook_completed", "collab_agent_spawn_begin", "collab_waiting_begin", "compaction_summary",
    "session_state", "response_metadata", "plan_delta", "terminal_interaction", "deprecation_notice",
})  # fmt: skip
