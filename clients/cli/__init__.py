"""`wayfinder`: everything a person types. One module per command, imported only when it is typed.

`brief` must answer cold in a third of a second, so nothing is imported here but click, and a
command's module imports what it needs inside its own file.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

import click

# name → (module below clients/cli, one line of help). The order is the order of the help page.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "demo": ("demo", "Play a recorded session through a real daemon, then print the brief."),
    "brief": ("brief", "NOW, WHY, NEXT, WATCH and the eight answers."),
    "watch": ("watch", "The same, live, in the terminal; --json prints one delta a line."),
    "open": ("open_page", "Open the page in the browser, already signed in."),
    "correct": ("correct", "Put the agent right in one line."),
    "sessions": ("sessions", "All sessions, the most recent first."),
    "why": ("why", "A verdict, its rule, and all that ever touched an id."),
    "evidence": ("evidence", "What was observed for a step."),
    "log": ("log", "The committed events of a session."),
    "search": ("search", "Find a text in labels, reasons and error signatures."),
    "patch": ("patch", "Submit a GraphPatch from a file."),
    "propose": ("patch", "Store a GraphPatch as a proposal."),
    "proposals": ("proposals", "List, accept or reject proposals."),
    "replay": ("replay", "Fold a session anew; --verify compares every digest."),
    "export": ("export", "A session's net as json, pnml, mermaid or svg."),
    "stats": ("stats", "How useful the declared path was."),
    "import": ("import_files", "Read past sessions of any known agent."),
    "connect": ("connect", "Install Wayfinder's extension into an agent."),
    "observer": ("observer", "What the observer would send, and to whom."),
    "redact": ("redact", "Show what would be stored of a text."),
    "schema": ("schema", "The JSON Schema of a patch."),
    "doctor": ("doctor", "Check everything and say what is wrong."),
    "purge": ("purge", "Delete whole sessions for good."),
    "config": ("config", "Every setting and where its value comes from."),
    "completion": ("completion", "Shell completion for bash, zsh or fish."),
}


class LazyGroup(click.Group):
    """A group that knows its commands' names and help without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = import_module(f"{__name__}.{entry[0]}")
        command = module.COMMANDS[cmd_name]
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="wayfinderd", prog_name="wayfinder")
def main() -> None:
    """Where a coding agent's long session stands: NOW, WHY, NEXT, WATCH.

    Without SESSION the most recently active one is meant, and named in the output.
    Reading commands work with the daemon off, straight from the log.
    """
