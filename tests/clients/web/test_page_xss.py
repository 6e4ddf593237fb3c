"""Sixty ways to make a page run, load or fake something, in every label field of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from page_world import Op, PageWorld

pytestmark = pytest.mark.browser

E = "https://evil.example"
PAYLOADS = (
    "<script>alert(1)</script>",
    f"<script src={E}/x.js></script>",
    "<ScRiPt>alert(1)</sCrIpT>",
    "<img src=x onerror=alert(1)>",
    f"<img src={E}/pixel.gif>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    f"<svg><use href='{E}/x.svg#a'/></svg>",
    "<svg><foreignObject><iframe src=javascript:alert(1)></iframe></foreignObject></svg>",
    f"<iframe src={E}></iframe>",
    "<iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
    "<iframe src=javascript:alert(1)></iframe>",
    f"<object data={E}/x.swf></object>",
    f"<embed src={E}/x.swf>",
    f"<link rel=stylesheet href={E}/x.css>",
    f"<link rel=prefetch href={E}>",
    f"<style>@import '{E}/x.css';</style>",
    f"<style>body{{background:url({E}/x)}}</style>",
    f"<base href={E}/>",
    f"<meta http-equiv=refresh content='0;url={E}'>",
    f"<form action={E}><button>send</button></form>",
    "<a href=javascript:alert(1)>click</a>",
    f"<a href={E} ping={E}/ping>click</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>x</details>",
    "<input autofocus onfocus=alert(1)>",
    "<select autofocus onfocus=alert(1)></select>",
    "<video><source onerror=alert(1)></video>",
    f"<video poster={E}/p.png></video>",
    "<audio src=x onerror=alert(1)>",
    "<marquee onstart=alert(1)>x</marquee>",
    "<math><mi xlink:href=javascript:alert(1)>x</mi></math>",
    "<template><script>alert(1)</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<textarea></textarea><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</text></g></svg><script>alert(1)</script>",
    "--><script>alert(1)</script><!--",
    "]]><script>alert(1)</script><![CDATA[",
    '"><script>alert(1)</script>',
    "' onmouseover='alert(1)",
    '" autofocus onfocus="alert(1)" x="',
    "` onerror=alert(1) `",
    "javascript:alert(1)",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    "${alert(1)}",
    "{{constructor.constructor('alert(1)')()}}",
    "<%= alert(1) %>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "\uff1cscript\uff1ealert(1)\uff1c/script\uff1e",
    "\u202e<script>alert(1)</script>\u202c",
    "a\u200b<img/src=x\u2028onerror=alert(1)>",
    "[click](javascript:alert(1)) ![x](https://evil.example/x.png)",
    "url(https://evil.example/x) fill:url(#a)",
    "__proto__",
)
# What only a payload could have put here: the page itself makes none of these.
FOREIGN = """() => [...document.querySelectorAll(
  'script:not([src^="/static/"]), link:not([href^="/static/"]), meta[http-equiv], a:not(.skip),'
  + 'img, iframe, object, embed, base, style, foreignObject, use, animate, video, audio, marquee,'
  + 'math, template, textarea')]
  .concat([...document.querySelectorAll('*')].filter((one) => one.getAttributeNames()
    .some((name) => name.startsWith('on') || name === 'style' && one.closest('#path') === null)))
  .map((one) => one.outerHTML.slice(0, 200))"""


def step(number: int, payload: str) -> list[Op]:
    """One step with the payload in each of its fields, and the place it leads to."""
    name, after = f"tr_{number}", f"pl_{number + 1}"
    before = "pl_start" if number == 0 else f"pl_{number}"
    return [
        {"op": "create_place", "placeId": after, "type": "Condition", "label": payload},
        {
            "op": "create_transition", "transitionId": name, "type": "Investigate",
            "intent": payload, "whyNow": payload, "action": payload,
            "expectedEvidence": [payload], "exitCondition": payload, "failureCondition": payload,
            "owner": payload, "constraints": [payload], "assumptions": [payload],
            "refineWhen": payload, "unknowns": [payload],
        },
        {"op": "connect", "fromId": before, "toId": name, "arc": "flow"},
        {"op": "connect", "fromId": name, "toId": after, "arc": "success"},
    ]  # fmt: skip


@pytest.fixture(scope="module")
def world() -> Iterator[PageWorld]:
    made = PageWorld()
    made.open(PAYLOADS[0], project=PAYLOADS[3])
    made.patch({"op": "create_place", "placeId": "pl_goal", "type": "Goal", "label": PAYLOADS[1]})
    for start in range(0, len(PAYLOADS), 15):
        batch = PAYLOADS[start : start + 15]
        made.patch(*(op for i, one in enumerate(batch, start) for op in step(i, one)))
    made.patch({"op": "activate_transition", "transitionId": "tr_0"})
    for payload in PAYLOADS[:20]:
        signature = {"digest": "hmac-sha256:" + "0" * 32, "toolClass": "test", "outcome": "failed",
                     "sample": payload}  # fmt: skip
        fact = {"kind": "test", "name": payload, "result": "fail"}
        made.episode(
            "test", "failed", signatures=[{"signature": signature, "count": 3}], facts=[fact]
        )
    made.patch({"op": "retire_transition", "transitionId": "tr_59", "reason": PAYLOADS[5]})
    made.patch(
        {"op": "create_place", "placeId": "pl_new", "type": "Condition", "label": PAYLOADS[9]},
        proposal=True,
    )
    made.prompt(PAYLOADS[6])
    yield made
    made.close()


def test_what_a_session_says_stays_text(world: PageWorld, see: Callable[..., Any]) -> None:
    """Every field in every part of the page: no dialog, no policy report, no request elsewhere."""
    assert len(set(PAYLOADS)) == 60
    seen = see(world)
    page = seen.page
    page.locator("#path .node").first.wait_for()
    seen.press("w")  # the whole path: only what the camera sees is drawn
    page.locator('[data-key="tr_59"]').wait_for()
    page.evaluate("""async () => {
      for (const node of document.querySelectorAll('#path .node')) {
        node.dispatchEvent(new MouseEvent('click', { bubbles: true }));
        await new Promise(requestAnimationFrame);
        for (const one of document.querySelectorAll('#drawer details')) one.open = true;
      }
    }""")
    page.locator('[data-key="tr_7"]').dispatch_event("click")
    drawer = page.locator("#drawer")
    assert drawer.inner_text().count(PAYLOADS[7]) >= 5
    assert page.evaluate(FOREIGN) == []
    seen.press("Escape", "o")
    page.locator("#drawer .answers").wait_for()
    assert page.evaluate(FOREIGN) == []
    page.get_by_text("A proposal waits for you").wait_for()
    seen.press("Escape", "s")
    page.keyboard.type("<script")
    page.locator("#found li").nth(3).wait_for()
    assert page.evaluate(FOREIGN) == []
    seen.press("Escape", "r")
    page.locator("#replay").wait_for()
    seen.press("Home", "Escape", "l")
    page.locator("#brief").get_by_text("北极星目标").wait_for()
    assert page.evaluate(FOREIGN) == []
    seen.shot("xss")
