"""Writes docs/protocol.md from the structs themselves; a test holds the page to them.

python docs/generate.py            write the page
python docs/generate.py --check    exit 1 if the page is not what would be written
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

import msgspec

from wayfinder.reducer.vocabulary import answer, event, patch, people, terms

PAGE = Path(__file__).with_name("protocol.md")

HEAD = """\
# The protocol

*Written from the structs by `python docs/generate.py`; a test holds this page to them.*

An agent speaks to Wayfinder through one tool, `update_action_path`. It sends a **GraphPatch**; the reconciler applies it
whole or not at all, and answers with where the agent stands. Everything that was applied, and everything that was
observed, becomes an **event** in one order per session. `wayfinder schema patch` prints the JSON Schema.

"""


def first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")


def type_name(kind: Any) -> str:
    """A JSON type in a word or two."""
    if isinstance(kind, msgspec.inspect.UnionType):
        names = [type_name(t) for t in kind.types]
        return " or ".join(n for n in dict.fromkeys(names) if n not in ("none", "unset"))
    if isinstance(kind, msgspec.inspect.VarTupleType | msgspec.inspect.ListType):
        return f"list of {type_name(kind.item_type)}"
    if isinstance(kind, msgspec.inspect.EnumType):
        return " · ".join(f"`{member.value}`" for member in kind.cls)
    if isinstance(kind, msgspec.inspect.StructType):
        return kind.cls.__name__
    if isinstance(kind, msgspec.inspect.DictType):
        return "object"
    if isinstance(kind, msgspec.inspect.LiteralType):
        return " · ".join(f"`{value}`" for value in kind.values)
    return type(kind).__name__.removesuffix("Type").lower().replace("str", "text")


def fields(struct: type[msgspec.Struct]) -> Iterable[tuple[str, str, bool]]:
    info = msgspec.inspect.type_info(struct)
    assert isinstance(info, msgspec.inspect.StructType)
    for field in info.fields:
        yield field.encode_name, type_name(field.type), field.required


def field_table(struct: type[msgspec.Struct]) -> str:
    rows = [f"| `{name}`{'' if required else ' *optional*'} | {kind} |"
            for name, kind, required in fields(struct)]  # fmt: skip
    return "\n".join(["| field | value |", "|---|---|", *rows]) + "\n"


def section(struct: type[msgspec.Struct], title: str, level: str = "###") -> str:
    return f"{level} {title}\n\n{first_line(struct)}\n\n{field_table(struct)}\n"


def tag(struct: type[msgspec.Struct]) -> str:
    return str(struct.__struct_config__.tag)


def page() -> str:
    parts = [HEAD, section(patch.GraphPatch, "GraphPatch", "##")]
    parts.append("## The thirteen operations\n\n")
    for op in get_args(patch.PatchOp):
        writes = ", ".join(f"`{kind}`" for kind in event.EVENTS_OF_OP[tag(op)])
        parts.append(section(op, f"`{tag(op)}`") + f"Writes: {writes}.\n\n")
    parts.append("## Answers\n\nThe tag is `status`.\n\n")
    for struct in get_args(answer.AnyAnswer):
        parts.append(section(struct, f"`{tag(struct)}`"))
    parts.append(section(answer.Fault, "Fault") + section(answer.Where, "Where"))
    parts.append("## Why a patch is rejected\n\n| code | meaning |\n|---|---|\n")
    parts += [f"| `{code}` | {sentence} |\n" for code, sentence in answer.CODES.items()]
    parts.append("\n## Events\n\n```\n" + (inspect.getdoc(event) or "") + "\n```\n\n")
    parts.append("| kind | says | fields |\n|---|---|---|\n")
    for kind, struct in event.PAYLOADS.items():
        names = ", ".join(f"`{name}`" for name, _, _ in fields(struct))
        parts.append(f"| `{kind}` | {first_line(struct) or '–'} | {names} |\n")
    parts.append("\n## What a person may say\n\n")
    parts.append(section(people.HumanIntentPatch, "HumanIntentPatch"))
    parts.append("## Words\n\n| set | members |\n|---|---|\n")
    for name, members in inspect.getmembers(terms, inspect.isclass):
        if issubclass(members, terms.Term) and members is not terms.Term:
            parts.append(f"| {name} | {' · '.join(f'`{m.value}`' for m in members)} |\n")
    return "".join(parts)


def main() -> None:
    text = page()
    if "--check" in sys.argv:
        if PAGE.read_text("utf-8") != text:
            sys.exit("docs/protocol.md is not what the structs say; run: python docs/generate.py")
    else:
        PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
