"""The redaction room: what text may leave the memory of an adapter, and in which form.

Redaction is the second line. The first is not to store text at all (allow-listed fields, counts,
signatures, keyed references). What still has to be kept as text passes through here.

    caps       a field is cut to 256 KiB before anything reads it
    normalise  R0   terminal codes and invisible characters go, with a map back to the input
    vendors    R1   literal prefixes of known issuers          keyblocks  R2   private keys
    assignment R3   name = value, with keys (how telling is a name) and vetoes (what is no secret)
    headers    R4 R5 authorization and cookies                 urls       R6 R7 userinfo, query
    commands   R8   command lines                              carriers   R9   name/value carriers
    columns    R9   tables and CSV with a telling heading      decode     R10  base64, percent, hex
    hashes     R11  password hashes, seeds, seed phrases       opaque     R12  level 2 only
    sources    R13  commands whose output is never stored      exact      R14  known values
    kingfisher      the second opinion, in process and offline

`engine` runs them and masks *by span*: a detector that reports a capture group is no redactor.
`worker` runs an engine in a child that can be killed, `link` holds its pipes (frames are drawn in
`frames`), `client` is the way in. `sieve` drops hidden
reasoning from parsed JSON, `hmacs` makes references that cannot be guessed back, `identifiers`
says whether an id looks like a secret, `report` is what `python -m wayfinder.daemon.redact` says.

Invariants: redacting twice changes nothing; a marker in the text ("allow", "ignore", "pragma")
has no effect, because the text is written by whoever made the tool's output; what takes too long
is dropped, never passed. Level 1 is precise and meant for the owner's eyes; level 2 adds every
opaque token and is used for everything stored as free text or shown to a model.

Out of reach of any rule here: a bare password in a sentence that does not name it, a secret split
over several fields, six digits without a word that says what they are.

Nothing here touches the network, and nothing here logs a text.
"""
