"""Past sessions of any known agent: found, recognised by content, read, and handed to the adapter.

    formats     the agents' folders in one table; which one a file belongs to
    result      what became of a file, as structs
    tally       what one session amounts to: counts, episodes, and when we would have spoken
    reading     one file → batches of finished observations, with its tally
    say         a result as one line, and as a short report
    __main__    the command: reads here (`--dry-run`), or asks the running adapter
    frames      what command, adapter and worker say to each other, drawn
    worker      the adapter's child that does the reading, at low priority
    host        the adapter's side: one worker, flow control, into the spool

An import takes the same way as a live session: observations into the adapter's spool, episodes by
the segmenter. So it can be killed anywhere and goes on where the spool stands.
"""
