"""Things that must never be written down: how to recognise them, and how to blot them out."""

import re
from collections.abc import Iterable

# Fixed prefixes and bounded repeats only, so that a hostile text costs linear time.
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a Telegram bot token", re.compile(r"(?<!\d)\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])")),
    ("an API key", re.compile(r"\bsk-[A-Za-z0-9_-]{16,256}")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{30,255})")),
    ("a cloud key", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{35}")),
    ("a Slack token", re.compile(r"\bxox[abposr]-[A-Za-z0-9-]{10,255}")),
    ("a private key", re.compile(r"-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY-----")),
    ("a web token", re.compile(r"\beyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,4096}")),
    (
        "a password",
        re.compile(
            r"\b(?:password|passwd|contraseña|contrasena|clave|api[ _-]?key|secret)\b"
            r"\s{0,3}(?:is|es|[:=])\s{0,3}(?=\S{0,64}[0-9])(?=\S{0,64}[A-Za-zñ])\S{6,256}",
            re.IGNORECASE,
        ),
    ),
)
BLOT = "[secret]"


def find(text: str) -> str | None:
    """The kind of secret that stands in `text`, in words; None when there is none."""
    return next((kind for kind, pattern in _KINDS if pattern.search(text)), None)


class Redactor:
    """Blots out known secrets and whatever looks like one."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = sorted({value for value in known if len(value) >= 6}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        text = self.known(text)
        for _, pattern in _KINDS:
            text = pattern.sub(BLOT, text)
        return text

    def known(self, text: str) -> str:
        """Only the secrets that this process was given; cheap enough for every reply."""
        for value in self._known:
            if value in text:
                text = text.replace(value, BLOT)
        return text
