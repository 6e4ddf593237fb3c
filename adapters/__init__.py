"""Who is watched: agents' sockets and session files in, redacted observations out.

    __main__     the adapter process: one poll loop over agent.sock and the bus
    wire         the frames of agent.sock, drawn; bounded decoding of what agents send
    server       the plain unix socket server of that loop
    live         one session's live side: connections, positions, patches, catching up
    spool        observations that wait, durable and redacted, until their episode is committed
    segmenter/   observations → episodes, a process of its own
    normalise/   tools, outcomes, signatures, facts: the tables all agents share
    pi/ claude/ codex/ …   one folder per agent: its files, and for Pi its live events
    redact/      what text may leave this process at all

May import `daemon` and `reducer`; never `observer` or `clients`. No network, ever.
"""
