"""What runs: the processes between the agent and the people, and what they share.

    __main__     `wayfinderd`: start, status, stop
    supervisor   starts the others by module name, watches, restarts, stops in order
    reconciler   sole writer of the event log
    viewer       folds committed events into views
    bus          every socket and every option        messages   what travels over it
    eventlog     the SQLite schema and its access     outbox / inbox   delivery without loss
    redact       what may be stored of a text; needed by adapters, reconciler and observer alike
    paths settings logs lock                          the ground they stand on

May import `reducer`; never `adapters`, `observer` or `clients` (those are started by name).
"""
