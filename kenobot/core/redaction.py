"""Recognise secrets in a text and redact them."""

import re
from collections.abc import Iterable
from urllib.parse import quote

_BREAK = r"(?:\s|\\[nr])"  # of lines, also as a log or JSON spells it

# Fixed prefixes and bounded repeats only, so that a hostile text costs linear time.
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a Telegram bot token", re.compile(r"(?<!\d)\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])")),
    ("an API key", re.compile(r"\bsk-[A-Za-z0-9_-]{16,256}")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{30,255})")),
    ("a cloud key", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{35}")),
    ("a Slack token", re.compile(r"\bxox[abposr]-[A-Za-z0-9-]{10,255}")),
    (
        "a private key",
        re.compile(
            r"-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY-----"
            rf"(?:{_BREAK}{{1,4}}[A-Za-z0-9+/=]{{24,128}}){{0,400}}"
            rf"(?:{_BREAK}{{1,4}}[A-Za-z0-9+/=]{{1,128}}(?={_BREAK}{{1,4}}-----END))?"
            rf"(?:{_BREAK}{{1,4}}-----END (?:[A-Z]{{1,12}} ){{0,3}}PRIVATE KEY-----)?"
        ),
    ),
    ("a web token", re.compile(r"\beyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,4096}")),
    (
        "a password",
        re.compile(
            # The name of a variable may end so, and a text may put quotes around what stands on either side.
            r"(?<![A-Za-zñ])(?:password|passwd|passphrase|pwd|contraseña|contrasena|clave|api[ _-]?key"
            r"|secret(?:[ _-](?:access[ _-])?key)?|(?:access|auth|refresh)[ _-]token)(?![\w-])"
            r"(?:\s{1,3}(?:for|of|to|del?|para)(?:\s{1,3}[^\s:=]{1,24}){1,3}?)?"
            r"[\"']?\s{0,3}(?:\b(?:is|es)\b|[:=])\s{0,3}(?=\S{0,64}[0-9])(?=\S{0,64}[A-Za-zñ])\S{6,256}",
            re.IGNORECASE,
        ),
    ),
    ("a password in an address", re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,64}:[^\s/@]{3,256}(?=@)")),
    ("a bearer token", re.compile(r"\bBearer\s{1,3}(?=\S{0,64}[0-9])[A-Za-z0-9._~+/-]{16,512}=*", re.IGNORECASE)),
)
REDACTED = "[secret]"


def find_secret(text: str) -> str | None:
    """Return the kind of secret in `text`, in words; None when there is none."""
    return next((kind for kind, pattern in _KINDS if pattern.search(text)), None)


class Redactor:
    """Redacts known secrets and whatever looks like one."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        values = {value for value in known if len(value) >= 6}
        # An address may spell them its own way.
        self._known = sorted(values | {quote(value, safe="") for value in values}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        text = self.redact_known(text)
        for _, pattern in _KINDS:
            text = pattern.sub(REDACTED, text)
        return text

    def redact_known(self, text: str) -> str:
        """Redact only the secrets of this process; cheap enough for every reply."""
        for value in self._known:
            if value in text:
                text = text.replace(value, REDACTED)
        return text
