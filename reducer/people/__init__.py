"""What a person may say, and whether it was heard. Pure.

    oneline      `wayfinder correct "…"` in English or Chinese → a typed correction, or free text
    correct      HumanIntentPatch → the events it becomes, or why not
    constraints  what stands and is sent to the agent: the person's own words and ids only
    receipts     sent → in the turn → acknowledged → obeyed or violated: one table per type
    anchor       when the agent is asked, once per cause, to say where it stands

The actor comes from the channel, never from a message: only the human socket leads here.
Corrections are never deleted; an undo is a correction too.
"""
