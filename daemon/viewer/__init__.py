"""The viewer: folds committed events into what people see, and keeps every client in step.

    merge      JSON merge patches: `diff` and its inverse `apply`
    frames     one session as JSON, sharing with the frame before what is the same
    clone      numbers, snapshots and deltas (sans-I/O)
    live       what is only known while it lasts
    process    sockets; reads the log, never writes

The Clone pattern (ZeroMQ guide): a client subscribes, waits for its welcome, asks for a snapshot,
drops deltas numbered at or below it and applies the rest; at a gap, another epoch or another
welcome it asks again (`daemon/follow.py`). The log is the only truth here: what is published on
`events.ipc` merely says *look*.
"""
