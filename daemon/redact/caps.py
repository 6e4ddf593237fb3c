"""No field above 256 KiB reaches a rule: the head and the tail stay, the middle is cut out.

    | head, 192 KiB | [cut N characters] | tail, 64 KiB |

The token that touches a cut edge goes with the middle, so that half a secret is never shown.
"""

FIELD_BYTES_MAX = 256 * 1024
HEAD_BYTES = 192 * 1024 - 64  # room for the mark, so that a cut field is within the cap
TAIL_BYTES = 64 * 1024
# A token longer than this is no token; the edge is then cut where it is.
_EDGE_MAX = 8 * 1024


def cut_range(text: str) -> tuple[int, int] | None:
    """The code points to cut out, or None if the field is within the cap."""
    if len(text) * 4 <= FIELD_BYTES_MAX:
        return None
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) <= FIELD_BYTES_MAX:
        return None
    head = len(raw[:HEAD_BYTES].decode("utf-8", "ignore"))
    tail = len(text) - len(raw[-TAIL_BYTES:].decode("utf-8", "ignore"))
    floor, ceiling = max(0, head - _EDGE_MAX), min(len(text), tail + _EDGE_MAX)
    start, end = head, tail
    while start > floor and not text[start - 1].isspace():
        start -= 1
    while end < ceiling and not text[end].isspace():
        end += 1
    return start, end
