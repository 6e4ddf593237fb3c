"""Who looks: everything a person or a subscriber uses. May import `daemon` and `reducer`.

    cli        `wayfinder …`, one module per command, loaded only when typed
    terminal   text for a terminal: safe lines, the brief, the live view
    follow     the library for subscribers: join a view, apply deltas, resync
    web        the loopback page          demo      a recorded session, played live

Nothing here decides or writes: corrections travel to the reconciler over its human socket.
Adapters and the observer are started as processes by name, never imported.
"""
