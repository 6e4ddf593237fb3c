"""Tool name → kind of work: the one table (DESIGN 5).

Exact names first, whatever the agent; then words inside a name, so that a tool of an extension or
an MCP server is placed by what it says of itself; else `other`. Shell tools are `run` here: their
kind is that of the command (`shell.py`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ...reducer.vocabulary.terms import EpisodeKind as K

SHELL: Final = frozenset({
    "bash", "shell", "local_shell", "exec", "exec_command", "run_shell_command", "run_command",
    "run_terminal_cmd", "terminal", "powershell", "container.exec", "unified_exec", "shell_command",
    "execute_command", "run_in_terminal",
})  # fmt: skip
# Watching a process that runs already: never work by itself, never an alarm.
POLLING: Final = frozenset({
    "write_stdin", "bashoutput", "taskoutput", "wait", "wait_agent", "killshell", "killbash",
    "taskstop", "kill_shell", "read_background_output", "monitor", "list_background_processes",
})  # fmt: skip

_EXACT: Final[dict[str, K]] = {
    **dict.fromkeys(SHELL, K.RUN),
    **dict.fromkeys(POLLING, K.INSPECT),
    **dict.fromkeys((
        "read", "read_file", "read_many_files", "view", "view_file", "view_image", "open", "ls",
        "list", "list_directory", "list_dir", "notebookread", "readmcpresourcetool", "cat",
        "listmcpresourcestool", "webfetch", "web_fetch", "fetch", "browser", "screenshot",
        "read_mcp_resource", "list_mcp_resources", "list_agents", "tasklist", "taskget", "skill",
        "activate_skill", "skill_discovery", "get_goal", "lsp", "toolsearch", "search_tool_bm25",
        "list_mcp_resource_templates", "get_internal_docs", "load_workspace_dependencies",
    ), K.INSPECT),
    **dict.fromkeys((
        "grep", "glob", "find", "search", "rg", "search_file_content", "grep_search", "codesearch",
        "websearch", "web_search", "google_web_search", "file_search", "codebase_search",
        "web_search_call", "find_file", "search_dir", "search_file",
    ), K.SEARCH),
    **dict.fromkeys((
        "edit", "write", "write_file", "replace", "multiedit", "apply_patch", "patch", "edit_file",
        "create_file", "notebookedit", "str_replace_editor", "str_replace_based_edit_tool",
        "str_replace", "save_memory", "memory", "file_change", "create", "insert", "delete",
        "move", "rename",
    ), K.EDIT),
    **dict.fromkeys((
        "todowrite", "todoread", "todo", "todos", "update_plan", "taskcreate", "taskupdate",
        "write_todos", "enterplanmode", "enter_plan_mode", "set_phase", "plan", "create_goal",
        "update_goal", "update_action_path", "exitworktree", "enterworktree",
    ), K.PLAN),
    **dict.fromkeys((
        "askuserquestion", "ask_user", "question", "request_user_input", "askquestions", "ask",
        "exitplanmode", "exit_plan_mode", "plan_exit", "request_permissions", "ask_human",
    ), K.ASK),
    **dict.fromkeys((
        "task", "agent", "agents", "subagent", "subagents", "spawn_agent", "delegate", "send_input",
        "sendmessage", "send_message", "resume_agent", "close_agent", "codebase_investigator",
        "delegate_to_agent", "invoke_agent", "workflow", "teamcreate", "teamdelete", "dispatch",
        "followup_task", "interrupt_agent", "generalist", "cli_help",
    ), K.DELEGATE),
}  # fmt: skip
# Words inside a name, in order: the first that stands in it decides.
_WORDS: Final[tuple[tuple[frozenset[str], K], ...]] = tuple(
    (frozenset(words.split()), kind)
    for words, kind in (
        ("todo todos plan phase milestone", K.PLAN),
        ("ask question questions confirm elicit", K.ASK),
        ("subagent agent agents delegate spawn handoff", K.DELEGATE),
        ("debug debugger breakpoint profile trace", K.INSTRUMENT),
        ("test tests pytest jest vitest", K.TEST),
        ("build compile lint typecheck diagnostics", K.BUILD),
        ("edit write patch replace insert create update delete rename", K.EDIT),
        ("search grep find glob query", K.SEARCH),
        ("read get list view open fetch show browse snapshot screenshot ls", K.INSPECT),
        ("exec execute run shell bash command eval deploy send", K.RUN),
    )
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_WORD: Final = re.compile(r"[^a-z0-9]+")


@lru_cache(maxsize=1024)
def kind_of(tool: str) -> K:
    """The kind of a tool by its name alone."""
    base = base_name(tool)
    exact = _EXACT.get(base)
    if exact is not None:
        return exact
    own = tool[:200].rpartition("__")[2]
    words = frozenset(_NOT_WORD.split(_CAMEL.sub("_", own).lower()))
    return next((kind for named, kind in _WORDS if not named.isdisjoint(words)), K.OTHER)


@lru_cache(maxsize=1024)
def base_name(tool: str) -> str:
    """`mcp__tools__AskQuestions` and `functions.AskQuestions` are `askquestions`."""
    if tool in SHELL:
        return tool
    return tool[:200].rpartition("__")[2].rpartition(".")[2].lower()


def is_shell(tool: str) -> bool:
    return tool in SHELL or base_name(tool) in SHELL


def is_polling(tool: str) -> bool:
    return base_name(tool) in POLLING
