"""The model: it may annotate and never decide, and the system is the same without it.

    __main__    the process: wakes on the seed's boundaries, asks, submits a remark
    triggers    whether an episode is worth asking about       pack     what may be said of it
    prompt      the request: data between random markers        answer   the strict reply
    breaker     open after three failures                       budget   tokens a day
    redacting   level 2 for all that may leave               wiring   parts from settings
    process     the loop and its asking thread               preview, checkup   for people
    store       breaker, budget and cache, kept over restarts
    caller      the parent's side of the model child: wall clock, size cap, kill
    worker      the child that runs `model`                     model    the only import of litellm

Off by default. Idle it imports nothing of litellm, openai or pydantic; those live in the child,
which is started lazily, in a neutral folder, and ends when it has been idle. Only text that
passed the redactor at level 2 leaves this process, and nothing it hears ever reaches the agent.
"""
