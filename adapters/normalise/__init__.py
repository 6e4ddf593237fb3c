"""What all agents have in common: tables that turn raw calls into observations.

    ports        what this room needs from the redaction room, as two small protocols
    text         lines, masks, bounds
    tools        tool name → kind of work
    shell        a command line: its heads, its kind, whose exit status it shows
    outcomes     sentences that say how a call ended, shared by the agents
    signatures   the shape of one trouble
    facts        names a selector may match: test ids, assertions, commands, spans, files
    runners      how test runners, compilers and linters print those names
    plans        published plans, with step ids that survive rewording
    calls        one raw call → `Called`
    clean        the last gate: every string through the redactor, cut to its bound, numbered

Nothing here knows a file format, a socket or a clock. Observations made here are *drafts*: their
strings are raw and their position is 0 until `clean.clean` has passed them.
"""
