"""Everything known of one session, folded from its events and from nothing else.

    state    `Session`: the value, and the records it holds
    fold     one committed event in; a batch takes effect as a whole, at its closing event
    seal     payloads of one decision → numbered envelopes
    corridor where each node stands: fixed at birth
    stamp    which transition was active where, by source position (RULES 21)

No judgement lives here: alignment, tensions and views are computed from a `Session` by the rooms
above it. Nothing here may read a clock; times arrive inside events.
"""
