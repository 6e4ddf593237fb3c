"""The lines of a Codex rollout, as far as they are decoded. Allow-lists only.

`base_instructions`, `replacement_history`, `encrypted_content`, reasoning and the texts of injected
messages stand in fields that are never decoded.
"""

from __future__ import annotations

from typing import Any, Final

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
QUIET: Final = frozenset({
    "agent_message", "agent_reasoning", "agent_reasoning_raw_content",
    "agent_reasoning_section_break", "background_event", "collab_agent_spawn_begin",
    "collab_waiting_begin", "compaction", "compaction_summary", "context_compacted",
    "deprecation_notice", "entered_review_mode", "exec_command_begin", "exited_review_mode",
    "ghost_snapshot", "guardian_assessment", "hook_completed", "hook_started",
    "image_generation_call", "item.started", "item.updated", "item_started",
    "mcp_tool_call_begin", "message", "model_reroute", "patch_apply_begin", "plan_delta",
    "plan_update", "reasoning", "response_metadata", "session_state", "state", "stream_error",
    "task_started", "terminal_interaction", "thread.started", "thread_name_updated",
    "thread_rolled_back", "thread_settings_applied", "token_count", "token_usage_record",
    "tool_search_call", "tool_search_output", "turn.started", "turn_context", "turn_diff",
    "undo_completed", "undo_started", "view_image_tool_call", "warning", "web_search_begin",
    "world_state",
})  # fmt: skip
