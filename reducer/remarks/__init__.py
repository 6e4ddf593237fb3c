"""What becomes of an observer's remark: the confidence bands of the specification, and no more.

    >= 0.85        an annotation, or evidence of type observer_inference
    0.60 – 0.85    a proposal, waiting for a person; the nodes it speaks of are drawn dashed
    <  0.60        counted as Unknown; nothing is changed and nothing is shown as known

Nothing here can set alignment, structure or marking: the only payloads built are
`episode.annotated` and `evidence.attached`. Seed, "信心阈值" and "Observer LLM 的权限".
"""
