"""The page: what a session is at, its evidence, corrections, replay. Loopback only.

    door       `web.sock`: who may open a page, and the one-time link they get
    tickets    one-time codes and the tokens they are exchanged for, in memory
    guard      which requests are answered at all: Host, Origin, fetch metadata, token
    assets     the static shell as a frozen table
    feeds      sessions followed once, told to every page that looks at them
    people     `human.sock`: what a person clicked
    past       moments of a session, and searching all of them
    answers    reading requests, writing answers
    app        the routes
    static/    the page itself: plain ES modules, no build

Nothing else needs this process; it is started when a person types `wayfinder open`. The shell
holds no data. Everything with data needs the token, which lives in the page's memory alone.
"""
