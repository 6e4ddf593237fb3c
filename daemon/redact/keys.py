"""How telling is a name? The words of an identifier decide, not its spelling.

`strength(name)`: 0 no secret's name, 1 WEAK (`key`), 2 MEDIUM (tokens, cookies, credentials),
3 STRONG (passwords, secrets). Names repeat, so the answer is remembered.
"""

import re
from functools import lru_cache

from .words import words

NONE, WEAK, MEDIUM, STRONG = range(4)

# Where one of these stands (in the lowered text), an identifier is looked at.
KEYWORDS = (
    "pass", "pw", "secret", "token", "key", "cred", "auth", "cookie", "otp", "psk", "jwt", "bearer",
    "sess", "mnemonic", "seed", "signature", "licen", "dsn", "mfa", "2fa", "connstr", "connection",
    "senha", "contrase", "wort", "parol", "csrf", "xsrf", "pin", "_pat", 'ak"', 'sk"', "ak'", "sk'",
    "ak=", "sk=", "ak:", "sk:", "vnc",
)  # fmt: skip
CJK_KEYWORDS = (
    "密码", "密碼", "口令", "密钥", "密鑰", "秘钥", "秘鑰", "私钥", "令牌", "凭证", "凭据",
    "授权码", "пароль", "비밀번호", "암호", "パスワード", "暗証番号", "秘密鍵",
)  # fmt: skip

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\x00-\x7f]+")

_STRONG = words(
    "password passwd passphrase passcode pwd pword passwort kennwort senha parol psk otp "
    "totp mnemonic пароль 密码 密碼 口令 비밀번호 암호 パスワード "
    "暗証番号 passe mypass dbpass userpass rootpass "
    "adminpass smtppass mailpass mfa vnc ftppass keypass storepass pass secret secrets "
    "clientsecret appsecret secretkey privatekey requirepass masterauth bindpw rootpw "
    "userpw adminpw pw"
)
# Names that the split at marks would cut.
_WHOLE = words("contraseña contrasena motdepasse mot-de-passe")
_STRONG_END = ("password", "passwd", "passphrase", "passwort", "secret", "pwd", "passcode")
_MEDIUM = words(
    "token jwt bearer auth cred creds credential credentials cookie sas pat apikey "
    "accesskey authkey accountkey sharedkey masterkey appkey signingkey encryptionkey "
    "authtoken accesstoken refreshtoken idtoken authorization sessid sessionid sessiontoken "
    "akid ak sk passwords apitoken signature 密钥 密鑰 秘钥 "
    "秘鑰 私钥 令牌 凭证 凭据 授权码 秘密鍵 pin licence "
    "license licensekey secretid dsn connectionstring connstr xsrf csrf"
)
_MEDIUM_END = ("token", "apikey", "accesskey", "secretkey", "authkey", "jwt", "cookie", "sessid")
# Before `key` these make it a credential.
_KEY_BEFORE = words(
    "api access secret private priv auth account shared encryption encrypt signing sign "
    "master app client server service storage admin user root ssh pgp gpg aes des rsa ecdsa "
    "hmac jwt license licence session cookie crypt webhook deploy write read ingest "
    "integration vault unseal recovery consumer customer developer dev prod production live "
    "test sandbox subscription host preshared age sops openai anthropic stripe azure google "
    "gcp aws mistral groq gemini ai llm rails django flask laravel app secretaccess data "
    "tls ssl cert eth wallet btc wg wireguard"
)
# Last words that turn a secret's name into something about it.
_TAIL = words(
    "name names id ids type types kind count counts len length size limit limits max min "
    "url uri urls path paths file files filename dir folder prefix suffix field fields "
    "label labels hint help text title desc description message msg error errors err code "
    "codes status state enabled disabled required valid invalid validation validator "
    "validate expiry expires expiration exp expired at ttl age timeout policy rule rules "
    "strength format regex pattern version algorithm alg algo index idx position pos offset "
    "start end usage used budget rate cost price total sum source provider manager service "
    "store storage handler helper factory builder class schema model table column row ref "
    "refs reference arn env var vars variable variables list array map set dict config "
    "configs options opts params param args arg placeholder prompt input inputs output "
    "element button form page screen view dialog modal icon component reset change changed "
    "update updated rotation rotate created modified date time days hours minutes seconds "
    "ms flow method methods mode scheme scope scopes role roles group groups user users "
    "owner domain realm server host endpoint port header headers middleware guard check "
    "checks checker test tests spec mock logic module plugin library lib package import "
    "exports interface protocol fn func function callback hook event events listener stream "
    "parser lexer tokenizer estimate estimates window context consumption spent remaining "
    "left saved savings per second throughput issuer audience claims subject kid spinner "
    "cache cached caching bucket locker down up press pressed binding bindings board "
    "code_map map_ strategy support supported exists present found ok success failed "
    "failure mismatch match matches fingerprint thumbprint digest checksum sum_ generator "
    "generation too short long strong weak required_ changed_ question length_ match_ "
    "requirements storage_ ring chain frame frames lookup property properties attribute "
    "attr attrs alias order sort column_ pair pairs"
)
# Words anywhere that say the name is no secret's.
_ANYWHERE = words(
    "public pub publishable max min num count total prompt completion input output cached "
    "reasoning thinking stop pad eos bos unk sep cls mask special primary foreign partition "
    "sort cache idempotency shard routing object hot short arrow react translation i18n "
    "locale dict lookup unique composite author authors authority session_id trace span "
    "parent request correlation keyboard keyword keywords keydown keyup keypress forgot "
    "remember show hide toggle missing invalid expired no has is should can need needs "
    "progress requires without tokens keys per avg limit"
)
_ANYWHERE_OK = frozenset(("password", "passwd", "passphrase", "pwd"))


def words_of(name: str) -> list[str]:
    """Split an identifier at marks and camelCase into lower-case words."""
    return [w.lower() for w in _WORDS.findall(name)]


def _of_word(word: str, before: str) -> int:
    if word == "key":
        return MEDIUM if before in _KEY_BEFORE else WEAK
    if word in _STRONG or word.endswith(_STRONG_END):
        return STRONG
    if word in _MEDIUM or word.endswith(_MEDIUM_END):
        return MEDIUM
    return NONE


# The same before a bare `key` in a sentence: "API key: …".
KEY_BEFORE_IN_PROSE = words(
    "api access secret private auth account encryption signing master license licence service "
    "activation product deploy webhook admin"
)


@lru_cache(16384)
def strength(name: str) -> int:
    """How strongly the identifier says that what follows is a secret."""
    words = words_of(name)
    if name.lower() in _WHOLE:
        return STRONG
    while words and (words[-1].isdigit() or words[-1] in ("value", "val", "str", "string", "data")):
        words.pop()
    if not words or len(words) > 12 or (words[-1] in _TAIL and not _kept_tail(words)):
        return NONE
    found = [_of_word(w, words[i - 1] if i else "") for i, w in enumerate(words)]
    # The name must end on its telling word, or have it near the end (`token_prod`, `PASSWORD_DB`).
    best = max(found[-3:])
    if best != STRONG and any(w in _ANYWHERE for w in words):
        return NONE
    if any(w in _ANYWHERE for w in words) and not any(w in _ANYWHERE_OK for w in words):
        return NONE
    if any(w in ("tokens", "keys") for w in words):
        return NONE
    if "pw" in words and any(w.isdigit() for w in words):
        return NONE  # two letters of a generated id
    if words in (["pass"], ["auth"], ["signature"], ["license"], ["licence"]):
        return WEAK
    return best


def _kept_tail(words: list[str]) -> bool:
    """`access_key_id` and `secret_id` are half of a pair; `password_hash` is worth hiding."""
    return (
        words[-1] == "id"
        and words[-2:-1] in (["key"], ["secret"], ["session"])
        and ("access" in words or "secret" in words or "cookie" in words)
    )
