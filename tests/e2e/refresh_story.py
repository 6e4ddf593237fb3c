"""The login-refresh story: a small real repository whose test really fails, and who mends it.

The agent reproduces a failure, follows a wrong idea (the client loses the new token), meets the
same failing assertion three times, says so and changes its path: the session layer saved its copy
before the refresh handler wrote. The wrong step is superseded with its reason. `turns()` is the
script of a model that works like that; tools, files and test results are real.

    client.py    what the browser side keeps         (suspected, innocent)
    session.py   middleware: load, handle, save      (guilty: saves a copy taken too early)
    server.py    the handlers: login, refresh, profile
    test_refresh.py, test_login.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

PROMPT = (
    "Users are logged out after their token is refreshed. Repair login refresh reliably and prove "
    "it. Do not change the login protocol."
)
PROMPT_ON = "Good. Check the side effects and finish."

FILES = {
    "README.md": """# login-refresh

A login with tokens that are refreshed when they grow old.

Run the tests: `python3 -m unittest`
""",
    "client.py": '''"""What the browser side keeps between requests."""


class Client:
    def __init__(self, server):
        self.server = server
        self.cookies = {}

    def request(self, path):
        response = self.server.handle(path, dict(self.cookies))
        self.cookies.update(response.cookies)
        return response
''',
    "session.py": '''"""Session middleware: load the session, run the handler, save the session."""


class Sessions:
    def __init__(self):
        self.store = {}

    def around(self, handler, request):
        stored = self.store.get(request.cookies.get("sid"), {})
        snapshot = dict(stored)
        response = handler(request, stored)
        sid = request.cookies.get("sid") or response.cookies.get("sid")
        self.store[sid] = snapshot if snapshot else stored
        return response
''',
    "server.py": '''"""The handlers: login, refresh, profile."""

from dataclasses import dataclass, field

from session import Sessions


@dataclass
class Request:
    path: str
    cookies: dict


@dataclass
class Response:
    status: int
    body: str = ""
    cookies: dict = field(default_factory=dict)


class Server:
    def __init__(self):
        self.sessions = Sessions()
        self.issued = 0

    def handle(self, path, cookies):
        handler = {"/login": self.login, "/refresh": self.refresh, "/profile": self.profile}[path]
        return self.sessions.around(handler, Request(path, cookies))

    def issue(self):
        self.issued += 1
        return f"token-{self.issued}"

    def login(self, request, session):
        session["token"] = self.issue()
        return Response(200, cookies={"sid": "s1", "token": session["token"]})

    def refresh(self, request, session):
        session["token"] = self.issue()
        return Response(200, cookies={"token": session["token"]})

    def profile(self, request, session):
        if request.cookies.get("token") != session.get("token"):
            return Response(401, body="logged out")
        return Response(200, body="profile")
''',
    "test_refresh.py": """import unittest

from client import Client
from server import Server


class RefreshTest(unittest.TestCase):
    def test_profile_after_refresh(self):
        client = Client(Server())
        client.request("/login")
        client.request("/refresh")
        response = client.request("/profile")
        self.assertEqual(response.status, 200, "refresh-token: logged out after refresh")


if __name__ == "__main__":
    unittest.main()
""",
    "test_login.py": """import unittest

from client import Client
from server import Server


class LoginTest(unittest.TestCase):
    def test_profile_after_login(self):
        client = Client(Server())
        client.request("/login")
        self.assertEqual(client.request("/profile").status, 200)

    def test_profile_without_login(self):
        self.assertEqual(Client(Server()).request("/login").status, 200)


if __name__ == "__main__":
    unittest.main()
""",
}

TEST = "python3 -m unittest -v test_refresh"
SUITE = "python3 -m unittest -v test_refresh test_login"
TRACE = (
    "python3 -c \"import server; s = server.Server(); c = s.handle('/login', {}).cookies; "
    "r = s.handle('/refresh', c); "
    "print('trace:session-middleware issued', r.cookies['token'], "
    "'stored', s.sessions.store['s1']['token'])\""
)

# Client edits that do not help (the wrong idea), and the one that does.
KEEP = ("        self.cookies.update(response.cookies)\n",
        "        self.cookies = {**self.cookies, **response.cookies}\n")  # fmt: skip
KEEP_AGAIN = (
    "        response = self.server.handle(path, dict(self.cookies))\n",
    "        response = self.server.handle(path, {**self.cookies})\n",
)
SAVE = (
    "        snapshot = dict(stored)\n        response = handler(request, stored)\n",
    "        response = handler(request, stored)\n",
)
SAVED = (
    "        self.store[sid] = snapshot if snapshot else stored\n",
    "        self.store[sid] = stored\n",
)


def lay(folder: Path) -> Path:
    """Writes the repository; returns its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def place(place_id: str, type_: str, label: str) -> dict[str, Any]:
    return {"op": "create_place", "placeId": place_id, "type": type_, "label": label}


def step(transition_id: str, type_: str, intent: str, **more: Any) -> dict[str, Any]:
    whole = {"op": "create_transition", "transitionId": transition_id, "type": type_}
    return {**whole, "intent": intent, "owner": "main", **more}


def arc(from_id: str, to_id: str, kind: str) -> dict[str, Any]:
    return {"op": "connect", "fromId": from_id, "toId": to_id, "arc": kind}


def begin(transition_id: str) -> dict[str, Any]:
    return {"op": "activate_transition", "transitionId": transition_id, "tokenId": "tok_main"}


def end(how: str, transition_id: str, *evidence: str) -> dict[str, Any]:
    return {
        "op": f"{how}_transition",
        "transitionId": transition_id,
        "tokenId": "tok_main",
        "evidenceIds": list(evidence),
    }


def shown(evidence_id: str, target: str, summary: str, **more: Any) -> dict[str, Any]:
    evidence = {"evidenceId": evidence_id, "summary": summary, **more}
    return {"op": "attach_evidence", "targetId": target, "evidence": evidence}


START = [
    place("pl_goal", "Goal", "Login survives a token refresh, with proof"),
    place("pl_reproduced", "Condition", "The logout after refresh is reproduced"),
    place("pl_fixed", "Condition", "The refresh path is repaired"),
    place("pl_verified", "Verified", "Refresh test and old tests all pass"),
    step(
        "tr_reproduce", "Investigate", "Reproduce the logout after refresh",
        whyNow="Without a stable failure no fix can be judged",
        action="Run the refresh test and keep its failure signature",
        expectedEvidence=["The refresh-token assertion fails every time"],
        evidenceSelectors=["assertion:refresh-token=fail", "test:test_profile_after_refresh=fail"],
        allowedEpisodeKinds=["inspect", "search", "test", "run"],
        exitCondition="A stable failure signature, or proof that the test is unreliable",
        failureCondition="The failure comes and goes",
    ),
    step(
        "tr_client_fix", "Implement", "Keep the new token on the client",
        whyNow="The client is the last to hold the token before it is gone",
        action="Change how the client keeps the cookies of an answer",
        expectedEvidence=["The refresh test passes"],
        evidenceSelectors=["test:test_profile_after_refresh=pass"],
        allowedEpisodeKinds=["edit", "test", "inspect"],
        exitCondition="The refresh test passes",
        failureCondition="The same assertion fails after two different client changes",
    ),
    step(
        "tr_verify", "Verify", "Run the regression suite and look for side effects",
        constraints=["The login protocol must not change"],
        refineWhen="The fix is in",
    ),
    step("tr_deliver", "Conclude", "Hand over the repair with its proof"),
    arc("pl_start", "tr_reproduce", "flow"),
    arc("tr_reproduce", "pl_reproduced", "success"),
    arc("pl_reproduced", "tr_client_fix", "flow"),
    arc("tr_client_fix", "pl_fixed", "success"),
    arc("pl_fixed", "tr_verify", "flow"),
    arc("tr_verify", "pl_verified", "success"),
    arc("pl_verified", "tr_deliver", "flow"),
    arc("tr_deliver", "pl_goal", "success"),
    begin("tr_reproduce"),
]  # fmt: skip

TRY_CLIENT = [
    shown("ev_stable", "tr_reproduce", "The refresh-token assertion failed with status 401",
          satisfies=["ee1"], result="fail"),
    end("complete", "tr_reproduce", "ev_stable"),
    begin("tr_client_fix"),
]  # fmt: skip

CHANGE_PATH = [
    end("fail", "tr_client_fix"),
    place("pl_boundary", "InformationNeed", "Which layer loses the refreshed token is known"),
    step(
        "tr_find_layer", "Investigate", "Find the layer that loses the new token",
        whyNow="Two client changes left the same failure, so the client is not the cause",
        action="Trace the token before and after the session middleware",
        expectedEvidence=["Issued and stored token differ after a refresh"],
        evidenceSelectors=["trace:session-middleware", "command:python3"],
        allowedEpisodeKinds=["inspect", "search", "run", "instrument"],
        exitCondition="The loss is pinned to one boundary",
        failureCondition="The trace shows the same token on both sides",
    ),
    step(
        "tr_session_fix", "Implement", "Save the session after the refresh handler ran",
        refineWhen="The layer is known",
    ),
    arc("pl_reproduced", "tr_find_layer", "flow"),
    arc("tr_find_layer", "pl_boundary", "success"),
    arc("pl_boundary", "tr_session_fix", "flow"),
    arc("tr_session_fix", "pl_fixed", "success"),
    {
        "op": "supersede_transition",
        "oldTransitionId": "tr_client_fix",
        "newTransitionId": "tr_session_fix",
        "reason": "Two client changes left the same assertion failing; the client is not the cause",
    },
    begin("tr_find_layer"),
]  # fmt: skip

FIX_SESSION = [
    shown("ev_trace", "tr_find_layer", "After refresh token-2 was issued but token-1 was stored",
          satisfies=["ee1"]),
    end("complete", "tr_find_layer", "ev_trace"),
    {
        "op": "set_transition_contract",
        "transitionId": "tr_session_fix",
        "whyNow": "The middleware stores a copy taken before the handler writes the new token",
        "action": "Save the session after the handler, without the early copy",
        "expectedEvidence": ["The refresh test passes"],
        "evidenceSelectors": ["test:test_profile_after_refresh=pass"],
        "allowedEpisodeKinds": ["edit", "test", "inspect"],
        "exitCondition": "The refresh test passes with the client unchanged",
        "failureCondition": "The refresh test still fails, or a login test breaks",
    },
    begin("tr_session_fix"),
]  # fmt: skip

VERIFY = [
    shown("ev_passes", "tr_session_fix", "The refresh test passes", satisfies=["ee1"],
          result="pass"),
    end("complete", "tr_session_fix", "ev_passes"),
    {
        "op": "set_transition_contract",
        "transitionId": "tr_verify",
        "whyNow": "The refresh test passes; now the old logins must be shown to be unharmed",
        "action": "Run all tests and read the changed middleware once more",
        "expectedEvidence": ["All login and refresh tests pass", "The login answer is unchanged"],
        "evidenceSelectors": ["test:test_profile_after_login=pass", "command:unittest=pass"],
        "allowedEpisodeKinds": ["test", "inspect", "run"],
        "exitCondition": "All tests pass and the login protocol is as before",
        "failureCondition": "A login test fails or the login answer changed",
    },
    place("pl_side_effect", "InformationNeed", "What the repair broke is known"),
    arc("tr_verify", "pl_side_effect", "failure"),
    step("tr_narrow", "Recover", "Narrow the repair to the refresh handler"),
    arc("pl_side_effect", "tr_narrow", "flow"),
    arc("tr_narrow", "pl_fixed", "success"),
    begin("tr_verify"),
]  # fmt: skip

FINISH = [
    shown("ev_suite", "tr_verify", "All three tests pass and the login answer is unchanged",
          satisfies=["ee1", "ee2"], result="pass"),
    end("complete", "tr_verify", "ev_suite"),
]  # fmt: skip


def turns(pace_ms: int = 0, to_the_end: bool = False) -> list[dict[str, Any]]:
    """The model's replies, ids `call_01 …`. `pace_ms` is how long it seems to think each time."""
    numbered = iter(range(1, 1000))

    def call(name: str, **args: Any) -> dict[str, Any]:
        return {"name": name, "args": args, "id": f"call_{next(numbered):02d}"}

    def patch(ops: list[dict[str, Any]]) -> dict[str, Any]:
        return call("update_action_path", ops=ops)

    def edit(path: str, *pairs: tuple[str, str]) -> dict[str, Any]:
        return call("edit", path=path, edits=[{"oldText": o, "newText": n} for o, n in pairs])

    def bash(command: str) -> dict[str, Any]:
        return call("bash", command=command)

    def back(pair: tuple[str, str]) -> tuple[str, str]:
        return pair[1], pair[0]

    replies: list[list[dict[str, Any]]] = [
        [patch(START), bash("ls"), call("read", path="README.md")],
        [call("read", path="test_refresh.py"), call("read", path="client.py")],
        [bash("grep -n token client.py server.py session.py")],
        [bash(TEST)],
        [patch(TRY_CLIENT)],
        [edit("client.py", KEEP)],
        [bash(TEST)],
        [call("read", path="server.py")],
        [edit("client.py", KEEP_AGAIN)],
        [bash(TEST)],
        [edit("client.py", back(KEEP), back(KEEP_AGAIN))],
        [patch(CHANGE_PATH)],
        [call("read", path="session.py"), bash("grep -n snapshot session.py")],
        [bash(TRACE)],
        [bash("grep -n store session.py server.py")],
        [patch(FIX_SESSION)],
        [edit("session.py", SAVE, SAVED)],
        [bash(TEST)],
        [patch(VERIFY)],
        [bash(SUITE), call("read", path="session.py")],
        [bash("python3 -m unittest -v test_login")],
        [bash("grep -n cookies server.py")],
    ]
    script: list[dict[str, Any]] = [{"text": "", "calls": calls} for calls in replies]
    script.append({"text": "The refresh test passes again. Shall I check the side effects?"})
    if to_the_end:
        script += [
            {"calls": [bash(SUITE)]},
            {"calls": [patch(FINISH)]},
            {"text": "Repaired: the middleware now saves after the handler ran. All tests pass."},
        ]
    return [{"delay_ms": pace_ms, **turn} for turn in script]


TOOL_CALLS = 22  # of the first prompt, patches not counted; a test counts them
PATCHES = 5
