"""Observations in, episodes out: pure in `episode` and `segment`, a stateless process around them.

    boundaries   where an episode closes: the one table (RULES 19)
    streaks      which trouble repeats without a changed approach
    episode      one open stretch of work, and the Episode it becomes
    segment      the stream: observations → steps, each ending where nothing is open
    feed         one session's exchange with spool and reconciler, without sockets
    __main__     the process

Nothing here reads a clock to decide anything: event time only, so file, live and recovered
streams give the same bytes.
"""
