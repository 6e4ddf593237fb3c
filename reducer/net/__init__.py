"""The agent's path as a coloured Petri net: what may happen, and what it means that it happened.

    state      the records, and `Net`, the one container a fold owns
    layer      a mapping over a mapping: how `decide` tries a patch without touching the net
    rules      when a transition may start, and what keeps it from it
    invariants what must hold of every net, one function each
    contract   what a step promises: keys of expected evidence, kinds, what is missing
    evidence   which channel may claim what
    locks      what a person decided that an agent's ops must not undo
    patching   the draft a patch is tried on; refusals that teach
    structure, firing, refine     the thirteen ops, one function each
    decide     patch → events or reasons, nothing applied
    fold       event → net; table by payload class, per logic version
    hashtree, digest     one sha256 over the whole net, kept per node
    standing   what is known of a place: claimed is not verified
    hints      updates that say nothing, or come too often
    entrance   bytes → patch, or a rejection in the same words
    schema     the JSON Schema of a patch, from the structs
    export/    JSON, PNML, Mermaid, SVG

Phase 1 knows one token and one flow input. The limits stand in one rule each: arcs in
`structure.connect`, tokens in `session.started`.
"""
