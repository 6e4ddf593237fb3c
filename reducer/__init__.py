"""What is true: the pure floor. Same events in, same bytes out.

Nothing in here may read a clock, a socket, a file, an environment variable or a random number:
the shell hands those in as values. Rooms, each importing only those before it:

    vocabulary   the words: ids, patches, events, observations, episodes, evidence
    net          the coloured Petri net: decide, fold, digest, export
    alignment    declared against observed: association, clauses, tensions, loops
    people       corrections, locks and receipts
    session      everything known of one session, folded from its events
    attention    what a person should see of it now
"""
