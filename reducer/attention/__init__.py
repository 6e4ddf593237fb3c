"""What a person should see of a session now: a projection that changes nothing. Pure.

    look       `view_of(session, …)`: everything below, in one `View`
    view       the shapes
    focus      NOW, WHY, NEXT    watch      WATCH, ranked, each with its because
    horizon    near, mid, far    scene      nodes and arcs where they stand, with their marks
    questions  the eight answers of the specification's acceptance
    record     how often NEXT was right         since      what happened since a viewer looked
    observed   observed work in words           texts      every sentence, English and 中文
    words      the budget: 40 words or equal reading time

Seed, "注意力视图算法", "动态详细程度", "MVP 验收"; RULES 30–37. What was not said is Unknown.
Texts may hold untrusted words: clients escape them where they are shown.
"""
