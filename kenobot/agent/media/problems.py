"""Word for people why an attachment could not be read, in English and Spanish."""

from collections.abc import Mapping
from typing import Final, Literal

from kenobot.core import texts
from kenobot.core.i18n import Language, Text
from kenobot.ports.messages import Attachment

MediaProblem = Literal[
    "too_large",
    "large_picture",
    "not_fetched",
    "unknown_kind",
    "reader_missing",
    "locked",
    "bomb",
    "damaged",
    "no_text",
    "no_transcriber",
    "not_heard",
    "no_words",
    "over_budget",
]
"""Why an attachment could not be read."""

_SHOWN: Final = 60  # characters of a file's name
_KINDS: Final[Mapping[str, Text]] = {
    "image": texts.MEDIA_IMAGE,
    "voice": texts.MEDIA_VOICE,
    "audio": texts.MEDIA_AUDIO,
    "video": texts.MEDIA_VIDEO,
    "document": texts.MEDIA_DOCUMENT,
}
_SENTENCES: Final[Mapping[str, Text]] = {
    "too_large": texts.MEDIA_TOO_LARGE,
    "large_picture": texts.MEDIA_LARGE_PICTURE,
    "not_fetched": texts.MEDIA_NOT_FETCHED,
    "unknown_kind": texts.MEDIA_UNKNOWN_KIND,
    "reader_missing": texts.MEDIA_READER_MISSING,
    "locked": texts.MEDIA_LOCKED,
    "bomb": texts.MEDIA_BOMB,
    "damaged": texts.MEDIA_DAMAGED,
    "no_text": texts.MEDIA_NO_TEXT,
    "no_transcriber": texts.MEDIA_NO_TRANSCRIBER,
    "not_heard": texts.MEDIA_NOT_HEARD,
    "no_words": texts.MEDIA_NO_WORDS,
    "over_budget": texts.MEDIA_OVER_BUDGET,
}
_HINTS: Final[Mapping[str, Text]] = {
    "no_transcriber": texts.MEDIA_SET_TRANSCRIBER,
    "reader_missing": texts.MEDIA_INSTALL_READERS,
}


class Unreadable(Exception):
    """An attachment that cannot be read."""

    def __init__(self, problem: MediaProblem) -> None:
        super().__init__(problem)
        self.problem = problem


def problem_text(attachment: Attachment, problem: str, limit_mb: float, language: Language, *, owner: bool) -> str:
    """Say why an attachment could not be read. limit_mb: of its size. owner: also say how to mend it."""
    what = _KINDS.get(attachment.kind, texts.MEDIA_OTHER)(language)
    if name := file_name(attachment):
        what = f"{what} `{name}`"
    sentence = _SENTENCES.get(problem, texts.MEDIA_DAMAGED)(language, what=what, limit=f"{limit_mb:g}")
    hint = _HINTS[problem](language) if owner and problem in _HINTS else ""
    return f"{sentence} {hint}".rstrip()


def file_name(attachment: Attachment) -> str:
    """Return the name of a file on one line, as far as it can be shown."""
    line = " ".join(attachment.name.replace("`", "'").split())
    printable = "".join(character for character in line if character.isprintable())
    return printable if len(printable) <= _SHOWN else f"{printable[: _SHOWN - 9]}…{printable[-8:]}"
