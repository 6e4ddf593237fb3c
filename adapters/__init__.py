"""Who is watched: agents' sockets and session files in, redacted observations out.

    __main__     the adapter process: one poll loop over agent.sock and the bus
    wire         the frames of agent.sock, drawn; bounded decoding of what agents send
    server       the plain unix socket of that loop: who may be connected, with how much held
    desk         lines in, positions, acknowledgements and notes out; sessions, declaring, missing
                 and catching_up are its rooms
    spool        what waits, durable and redacted, until its episode is committed (spooled: rows)
    outbox       patches and receipts, until the reconciler has answered
    counter      the spool's side of spool.ipc
    privacy      the ways in which anything raw may leave this process's memory
    agents       which agents speak live, and how their files are read
    segmenter/   observations → episodes, a process of its own
    importer/    past sessions, through the same spool
    normalise/   tools, outcomes, signatures, facts: the tables all agents share
    pi/ claude/ codex/ …   one folder per agent: its files, and for Pi its live events

May import `daemon` and `reducer`; never `observer` or `clients`. No network, ever.
"""
