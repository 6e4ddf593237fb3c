"""The reconciler: the only writer of the event log. It judges nothing by model, clock or chance.

    service     one message → what it does to one session, and the answer (no I/O but the log)
    change      the one way to build that: payloads sealed and folded as they are told
    sessions    folded sessions, kept while they are busy, folded again from the log when not
    patches segments people     what each kind of message does
    aftermath   what follows by itself: receipts, a request to anchor, the diverged marker
    process     sockets, group commit, publishing

    drain ≤ 64 messages or 2 ms ─▶ one transaction ─▶ COMMIT ─▶ answer ─▶ publish

An answer is sent only after COMMIT. If a transaction fails, nothing of it happened: the sessions
kept in memory are dropped, nobody is answered, and the senders, who keep what is unanswered, ask
again.
"""
