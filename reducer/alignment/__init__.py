"""Declared against observed: the verdict, the tensions, what repeats, what is admitted. Pure.

    selectors    `kind:name[=pass|fail]` against an observed fact
    association  which transition and firing an episode belongs to, and why
    window       what counts since the last declaration or confirming evidence
    clauses      the specification's six clauses, in order, as one table
    verdict      `verdict(session)`: the status now; `history(session)`: after every episode
    confirm      `admit(session, record)`: the only way from an episode into the net
    tension      what a tension is; drifts, claims, commitments find them
    tensions     `tensions(session)` and `watches(session)`: all that is open now
    loops, gates, tombstones    what repeats without getting anywhere
    scorecard    how much the declarations are worth
    words        every sentence of this room as a key with parameters; `say(words)` prints it

Shapes other rooms use (all frozen, camelCase JSON through `vocabulary.codec`):

    Words    {code, params: ((name, value), …)}            say(words) -> English sentence
    Verdict  {status, clause, reason: Words, transitionId, firingId, window: Window,
              episodeIds, evidenceIds, sinceId, sincePosition, declaredOnly, stale}
             clause 1–6 as in the specification; 0 = nothing is active (RULES 30).
    Window   {openedBy: activation|patch|evidence|satisfied|person, openedId, openedPosition,
              completed, coverage}
    Tension  {tensionId, kind, news, transitionId, placeId, declared: Side, observed: Side,
              sinceId, sincePosition, resolves: Words, episodeIds, evidenceIds}
    Side     {level, words: Words}
    Watch    {watchId, kind: loop|gate|tombstone, words: Words, count, sinceId, sincePosition,
              episodeIds, quote, sinceMs, lastMs}

`sinceId` is an episode, patch or correction id and never a sessionSeq: a sessionSeq depends on
when late annotations arrived, and the same facts must give the same bytes in any such order.
`sequence_of(session, since_id)` gives the sessionSeq for showing.

Nothing here may set anything. No model's and no tool's word appears in a verdict except as the
specification's third clause lets an annotation in, by its own fields.
"""
