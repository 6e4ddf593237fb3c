"""The event log: one SQLite file, one writer for life, any number of readers.

    schema      tables, triggers, versions          connection   how the file is opened, and refused
    order       the invariants of one session's events, checked before writing and after reading
    writer      append and the primary rows beside it, in transactions
    reader      sessions, events, backup; needs no daemon and imports little
    derived     tables that can be thrown away and built again from the events

What is true is `net_events`. Rows that are true beside it (answers, streams, proposals, rejections)
are written in the same transaction as the events they belong to. All else is derived.
"""
