"""R1: tokens that say whose they are.

One row per family: the literals that must be in the text (a cheap `in` before any regex), and the
pattern. Bodies are shorter than the real ones, since output is often cut. Group 1, if there is
one, is what is masked; else the whole match. A token broken by a line end is joined (`_wrapped`).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from .shapes import is_random
from .spans import Hit
from .view import View

_L = r"(?<![A-Za-z0-9])"
_BODY = r"[A-Za-z0-9_\-]{20,}"


class Vendor(NamedTuple):
    """`gates`: any of these literals must occur. `random`: the match must also look generated."""

    gates: tuple[str, ...]
    pattern: re.Pattern[str]
    random: bool = False


def _row(gates: str, pattern: str, random: bool = False) -> Vendor:
    return Vendor(tuple(gates.split()), re.compile(pattern), random)


TABLE = (
    # clouds
    _row("AKIA ASIA ABIA ACCA", _L + r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{12,}(?![a-z])"),
    _row("IQoJb3JpZ2lu FwoGZXIvYXdz", _L + r"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[A-Za-z0-9+/=]{30,}"),
    _row("LTAI", _L + r"LTAI[A-Za-z0-9]{12,}", True),
    _row("AKID", _L + r"AKID[A-Za-z0-9]{12,}", True),
    _row("AKLT", _L + r"AKLT[A-Za-z0-9_\-]{16,}={0,2}", True),
    _row("ALTAK", r"(?:bce-v3/)?" + _L + r"ALTAK[A-Za-z0-9\-]{10,}(?:/[0-9a-f]{20,})?"),
    _row("AIza", _L + r"AIza[A-Za-z0-9_\-]{12,}"),
    _row("ya29.", _L + r"ya29\.[A-Za-z0-9_\-]{16,}(?:\.[A-Za-z0-9_\-]+)*"),
    _row("GOCSPX-", r"GOCSPX-[A-Za-z0-9_\-]{12,}"),
    _row("1//0", _L + r"1//0[A-Za-z0-9_\-]{16,}"),
    _row("AQ.Ab", _L + r"AQ\.Ab[A-Za-z0-9_\-]{20,}"),
    _row("8Q~ 7Q~", r"[A-Za-z0-9_~.\-]{3}[78]Q~[A-Za-z0-9_~.\-]{16,}"),
    _row(
        "AccountKey SharedAccess", r"(?:AccountKey|SharedAccess(?:Key|Signature))=([^;\s\"'&]{16,})"
    ),
    _row("amzn", r"amzn\.mws\.[0-9a-f\-]{20,}|amzn1\.oa2-cs\.v1\.[0-9a-f]{20,}"),
    _row("ABSK", _L + r"ABSK[A-Za-z0-9+/=]{40,}"),
    _row("dop_v1_ doo_v1_ dor_v1_ dot_v1_", _L + r"do[oprt]_v1_[0-9a-f]{16,}"),
    _row("HRKU-", r"HRKU-[A-Za-z0-9_\-]{20,}"),
    _row("AQVN", _L + r"AQVN[A-Za-z0-9_\-]{30,}", True),
    _row("YC", _L + r"YC[A-Za-z0-9_\-]{38}", True),
    _row("t1.", _L + r"t1\.[A-Z0-9a-z_\-]+={0,2}\.[A-Za-z0-9_\-]{60,}", True),
    # code hosting and packages
    _row("ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{12,}(?:[A-Za-z0-9_.\-]{20,})?"),
    _row("github_pat_", r"github_pat_[A-Za-z0-9_]{16,}"),
    _row(
        "glpat- glptt- gldt- glrt- glrtr- glcbt- gloas- glsoat- glft- glagent- glimt- "
        "glffct- glwt-",
        _L + r"gl(?:pat|ptt|dt|rt|rtr|cbt|oas|soat|ft|agent|imt|ffct|wt)-"
        r"[A-Za-z0-9_\-]{12,}(?:\.[a-z0-9]{2,}\.[a-z0-9]+)?",
    ),
    _row("GR1348941", r"GR1348941[A-Za-z0-9_\-]{16,}"),
    _row("npm_", _L + r"npm_[A-Za-z0-9]{16,}", True),
    _row("pypi-", r"pypi-[A-Za-z0-9_\-]{16,}", True),
    _row("rubygems_", r"rubygems_[0-9a-f]{16,}"),
    _row("CLOJARS_", r"CLOJARS_[A-Za-z0-9]{20,}"),
    _row("oy2", _L + r"oy2[a-z0-9]{40,}"),
    _row("cio", _L + r"cio[A-Za-z0-9]{30,}", True),
    _row("dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_\-]{12,}"),
    _row("ATATT ATCTT ATBB ATSTT ATOA", r"(?:AT[AC]TT3|ATSTT3|ATBB|ATOA)[A-Za-z0-9_\-=]{16,}"),
    _row("AKCp", _L + r"AKCp[A-Za-z0-9]{30,}"),
    _row("cmVmdGtu", r"cmVmdGtu[A-Za-z0-9]{30,}"),
    _row("bkua_ CCIPAT_ CCIPRJ_", r"(?:bkua_|CCIP(?:AT|RJ)_)[A-Za-z0-9_]{20,}"),
    _row("sgp_ sqp_ squ_ sqa_", _L + r"(?:sgp_(?:[a-f0-9]{16}_|local_)?|sq[pua]_)[a-f0-9]{20,}"),
    _row("pul- pnu_", _L + r"(?:pul-[a-f0-9]{30,}|pnu_[A-Za-z0-9]{30,})"),
    _row(".atlasv1.", r"[A-Za-z0-9]{10,}\.atlasv1\.[A-Za-z0-9_\-=]{30,}"),
    # models
    _row(
        "sk-",
        _L + r"sk-(?:(?:proj|svcacct|admin|ant|or|lf|None|user|kimi|cp)-)?[A-Za-z0-9_\-]{16,}",
        True,
    ),
    _row("gsk_ xai- hf_ r8_", _L + r"(?:gsk_|xai-|hf_|r8_)[A-Za-z0-9]{14,}", True),
    _row("api_org_", r"api_org_[A-Za-z0-9]{20,}"),
    _row(
        "pplx- nvapi- csk- fc- exa- cog_", _L + r"(?:pplx|nvapi|csk|fc|exa|cog)[-_]" + _BODY, True
    ),
    _row("tvly-", _L + r"tvly-(?:dev-|prod-)?" + _BODY, True),
    _row("jina_ fw_ tgp_v1_ e2b_ rpa_", _L + r"(?:jina|fw|tgp_v1|e2b|rpa)_" + _BODY, True),
    _row("vck_ vcp_ vci_ vcr_ vcs_ vca_", _L + r"vc[kpirsa]_" + _BODY, True),
    _row("pcsk_ bfl_", _L + r"(?:pcsk|bfl)_" + _BODY, True),
    _row("lsv2_", _L + r"lsv2_(?:pt|sk)_" + _BODY, True),
    _row("apify_", _L + r"apify_(?:api|proxy)_" + _BODY, True),
    _row("ms- co- fish-", _L + r"(?:ms|co|fish)-" + _BODY, True),
    _row("", _L + r"[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![A-Za-z0-9])"),
    # chat and mail
    _row(
        "xoxa xoxb xoxe xoxo xoxp xoxr xoxs xapp-",
        r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9\-]{10,}|xapp-\d-[A-Za-z0-9\-]{16,}",
    ),
    _row(
        "hooks.slack",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_\-]{16,})",
    ),
    _row(
        "/webhooks/", r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{15,20}/([A-Za-z0-9_\-]{20,})"
    ),
    _row(
        "/hook/ /robot/",
        r"(?:feishu\.cn|larksuite\.com)/open-apis/bot/(?:v2/)?hook/([A-Za-z0-9\-]{16,})",
    ),
    _row("webhookb2", r"webhook\.office\.com/webhookb2/([A-Za-z0-9@\-/]{30,})"),
    _row("hooks.zapier", r"hooks\.zapier\.com/hooks/catch/([A-Za-z0-9/]{8,})"),
    _row(
        "robot/send webhook/send",
        r"(?:robot|webhook)/send\?(?:access_token|key)=([A-Za-z0-9\-]{16,})",
    ),
    _row(":AA", r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_\-]{20,}"),
    _row("mfa.", _L + r"mfa\.[A-Za-z0-9_\-]{20,}", True),
    _row(
        "",
        _L + r"[MNO][A-Za-z0-9_\-]{22,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{20,}",
        True,
    ),
    _row("SG.", _L + r"SG\.[A-Za-z0-9_\-]{12,}(?:\.[A-Za-z0-9_\-]{8,})?", True),
    _row("xkeysib- xsmtpsib-", r"x(?:keysib|smtpsib)-[a-f0-9]{30,}(?:-[A-Za-z0-9]+)?"),
    _row("key- -us", _L + r"(?:key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2})"),
    _row("re_", _L + r"re_[A-Za-z0-9]{6,}_[A-Za-z0-9]{16,}", True),
    _row("SK", _L + r"SK[0-9a-f]{32}(?![0-9a-f])"),
    _row("EAA", _L + r"EAA[A-Za-z0-9]{40,}", True),
    _row("IGQV", _L + r"IGQV[A-Za-z0-9_\-]{40,}"),
    # money and shops
    _row(
        "_live_ _test_",
        r"(?:sk|rk|pk|whsec|access|secret|duffel|shippo|lob|key)_(?:live|test|"
        r"prod)_[A-Za-z0-9_]{12,}",
        True,
    ),
    _row("whsec_", r"whsec_[A-Za-z0-9+/=_\-]{16,}", True),
    _row("sq0 EAAA", _L + r"sq0[a-z]{3}-[A-Za-z0-9_\-]{20,}|" + _L + r"EAAA[A-Za-z0-9_\-]{50,}"),
    _row("shpat_ shpca_ shppa_ shpss_ shptka_", _L + r"shp(?:at|ca|pa|ss|tka)_[A-Fa-f0-9]{16,}"),
    _row("FLWSECK", r"FLWSECK(?:_TEST)?-[A-Za-z0-9\-]{16,}"),
    _row("EZAK EZTK", _L + r"EZ[AT]K[A-Za-z0-9]{40,}", True),
    # infrastructure
    _row("dapi", _L + r"dapi[0-9a-f]{16,}(?:-\d)?"),
    _row("hvs. hvb. hvr.", _L + r"hv[sbr]\.[A-Za-z0-9_\-]{16,}"),
    _row("", r"(?<![A-Za-z0-9.])s\.[A-Za-z0-9]{24}(?![A-Za-z0-9.])", True),
    _row(
        "glsa_ glc_ eyJrIjoi",
        _L + r"gl(?:sa|c)_[A-Za-z0-9_+/=\-]{20,}|eyJrIjoi[A-Za-z0-9]{30,}={0,2}",
    ),
    _row("sbp_ sb_secret_", _L + r"(?:sbp_(?:v0_)?|sb_secret_)[A-Za-z0-9_\-]{16,}"),
    _row("pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=\-]{20,}"),
    _row("tskey-", r"tskey-[a-z]+-[A-Za-z0-9\-]{10,}"),
    _row("fo1_ fm1 fm2", r"fo1_[A-Za-z0-9_\-]{20,}|fm[12][ar]?_[A-Za-z0-9+/=,_\-]{40,}"),
    _row("rnd_ nfp_", _L + r"(?:rnd|nfp)_[A-Za-z0-9]{20,}", True),
    _row("dt0", r"dt0[a-zA-Z]\d{2}\.[A-Z0-9]{20,}\.[A-Z0-9]{30,}"),
    _row("NRAK- NRJS- NRII- NRRA-", r"NR(?:AK|JS|II|RA|AA|SP)-[A-Za-z0-9_\-]{16,}"),
    _row("sntry", r"sntry[su]_[A-Za-z0-9+/=_\-]{20,}"),
    _row("phx_ phs_", _L + r"ph[xs]_[A-Za-z0-9]{20,}", True),
    _row("k8s-aws-v1.", r"k8s-aws-v1\.[A-Za-z0-9_\-]{16,}"),
    _row("AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[A-Z0-9]{16,}"),
    _row("ops_ A3-", _L + r"(?:ops_eyJ[A-Za-z0-9_\-]{40,}={0,2}|A3-[A-Z0-9]{6}-[A-Z0-9\-]{20,})"),
    _row("lin_api_ lin_oauth_", _L + r"lin_(?:api|oauth)_[A-Za-z0-9]{16,}"),
    _row("ntn_", _L + r"ntn_[A-Za-z0-9]{20,}"),
    _row("secret_", _L + r"secret_[A-Za-z0-9]{32,}"),
    _row("figd_", _L + r"figd_[A-Za-z0-9_\-]{20,}"),
    _row("pat", _L + r"pat(?:[A-Za-z0-9]{14}\.[0-9a-f]{40,}|-[a-z]{2}\d-[0-9a-f\-]{20,})"),
    _row("PMAK-", _L + r"PMAK-[a-f0-9]{20,}-[a-f0-9]{20,}"),
    _row("CFPAT-", _L + r"CFPAT-[A-Za-z0-9_\-]{30,}"),
    _row("rdme_", _L + r"rdme_[a-z0-9]{40,}"),
    _row("tfp_", _L + r"tfp_[A-Za-z0-9_.\-]{40,}"),
    _row("sl.", _L + r"sl\.[A-Za-z0-9_\-]{60,}"),
    _row("prv", r"\b[xyzt]prv[1-9A-HJ-NP-Za-km-z]{50,}"),
    _row("sk.eyJ", r"sk\.eyJ[A-Za-z0-9_\-]{20,}(?:\.[A-Za-z0-9_\-]+)?"),
    _row(":fx", r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}:fx\b"),
    _row("v2. v4. v1.", _L + r"v[1-4]\.(?:local|public)\.[A-Za-z0-9_\-]{40,}"),
    # JSON web tokens, whole or cut after the header
    _row(
        "eyJ",
        _L
        + r"eyJ[A-Za-z0-9_\-]{10,}(?:\.[A-Za-z0-9_\-]*){2,4}(?<!\.)|"
        + _L
        + r"ey[JI][A-Za-z0-9_\-]{14,}\.ey[JI][A-Za-z0-9_\-]{8,}",
    ),
    _row("MDA", _L + r"MDA[A-Za-z0-9][A-Za-z0-9_\-]{60,}={0,2}", True),
)

# Rows without a literal, whose pattern is asked of the long words straight away.
_UNGATED = tuple(row for row in TABLE if not row.gates)


def _one_of(literals: set[str]) -> re.Pattern[str]:
    """An alternation grouped by first character, so that a miss costs one comparison a group."""
    groups: dict[str, list[str]] = {}
    for literal in sorted(literals, key=lambda word: (-len(word), word)):
        groups.setdefault(literal[0], []).append(re.escape(literal[1:]))
    return re.compile("|".join(f"{re.escape(c)}(?:{'|'.join(g)})" for c, g in groups.items()))


_ANY_GATE = _one_of({gate for row in TABLE for gate in row.gates})

# Whoever issues them: a telling word, a mark, and a long generated body (`acme_live_9f…`).
_GENERIC = re.compile(
    r"(?<![A-Za-z0-9_])(?:[A-Za-z][A-Za-z0-9]{0,14}[-_]){0,3}"
    r"(?:sk|rk|live|prod|test|secret|token|tok|apikey|api|pat|pass|auth|admin|access|refresh|srv|"
    r"svc|"
    r"service|internal|deploy|key|cred|bot|oauth|agent|app|"
    r"user)[-_](?:v\d[-_])?([A-Za-z0-9]{20,})(?![A-Za-z0-9_\-])"
)
# Digests have prefixes too (`auth-<sha1>` in a build cache); a hex body needs a telling one.
_HEX = re.compile(r"[0-9a-f]+")
_TELLING = re.compile(r"(?:sk|rk|live|secret|token|tok|apikey|api|pat|cred)[-_](?:v\d[-_])?\Z")

_WRAP = re.compile(r"\r?\n[ \t]{0,8}([A-Za-z0-9_\-+/.]{6,})={0,2}(?=[\s\"'`,;)\]}\\]|\Z)")


def find(view: View) -> Iterator[Hit]:
    """Yield tokens of known issuers, and of unknown ones that name themselves."""
    text, dense = view.text, view.dense
    if not dense:
        return
    rows = list(_UNGATED)
    if _ANY_GATE.search(dense) is not None:
        found = set(_ANY_GATE.findall(dense))
        rows += [row for row in TABLE if not found.isdisjoint(row.gates)]
    for row in rows:
        if row.pattern.search(dense) is not None:
            yield from _of_row(text, row)
    for left, right in view.runs:
        for match in _GENERIC.finditer(text, left, right):
            body = match[1]
            if sum(c.isdigit() for c in body) < 3 or not is_random(body, 20):
                continue
            if not _HEX.fullmatch(body) or _TELLING.search(match[0][: -len(body)]):
                yield match.start(), match.end(), "vendor"


def _of_row(text: str, row: Vendor) -> Iterator[Hit]:
    for match in row.pattern.finditer(text):
        group = 1 if row.pattern.groups and match[1] is not None else 0
        if not row.random or is_random(match[group], 6):
            start, end = match.span(group)
            yield start, wrapped(text, end), "vendor"


def wrapped(text: str, end: int) -> int:
    """Follow a token over one line break if the next line starts with more of the same."""
    if end >= len(text) or text[end] not in "\r\n":
        return end
    more = _WRAP.match(text, end)
    if more is not None and is_random(more[1], 6) and "=" not in more[1]:
        return more.end()
    return end
