"""Read the text of a document in a process of its own, within limits of memory, time and length."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from kenobot.agent.media.problems import MediaProblem, Unreadable
from kenobot.core.left_out import note_omission
from kenobot.core.limited_program import run_program

_PROGRAM: Final = Path(__file__).with_name("read_document.py")
_MEGABYTES: Final = 1000  # of address space
_BYTES_A_CHARACTER: Final = 4
_COUNT: Final = 100  # bytes more: how long the text is
_OOXML: Final = "application/vnd.openxmlformats-officedocument"
_MIMES: Final[Mapping[str, str]] = {
    "application/pdf": "pdf",
    f"{_OOXML}.wordprocessingml.document": "docx",
    f"{_OOXML}.spreadsheetml.sheet": "xlsx",
    f"{_OOXML}.presentationml.presentation": "pptx",
    "application/vnd.oasis.opendocument.text": "odf",
    "application/vnd.oasis.opendocument.spreadsheet": "odf",
    "application/vnd.oasis.opendocument.presentation": "odf",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/rtf": "rtf",
    "application/rtf": "rtf",
    "message/rfc822": "eml",
    "text/calendar": "ics",
}
_SUFFIXES: Final[Mapping[str, str]] = {
    suffix: kind
    for kind, suffixes in {
        "pdf": "pdf",
        "docx": "docx docm dotx dotm",
        "xlsx": "xlsx xlsm xltx xltm",
        "pptx": "pptx pptm ppsx ppsm potx potm",
        "odf": "odt ods odp ott ots otp fodt fods fodp",
        "html": "html htm xhtml",
        "rtf": "rtf",
        "eml": "eml mht mhtml",
        "ics": "ics ical ifb",
    }.items()
    for suffix in suffixes.split()
}
_OTHERS: Final = frozenset(
    "zip gz bz2 xz 7z rar tar exe dll so apk iso dmg bin doc xls ppt psd ttf otf woff db sqlite heic bmp tiff".split()
)
_EXITS: Final[Mapping[int, MediaProblem]] = {3: "reader_missing", 4: "locked", 5: "bomb", 6: "unknown_kind"}
_UNREAD: Final = "[the rest of it could not be read]"


def document_format(name: str, mime: str) -> str:
    """Return the format to read a document in: a reader's, "txt" for what may be a text, "" for what is none."""
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    if kind := _SUFFIXES.get(suffix) or _MIMES.get(mime):
        return kind
    return "" if suffix in _OTHERS or mime.startswith(("image/", "audio/", "video/", "font/")) else "txt"


async def read_document(file: Path, document: str, characters: int, seconds: float, now: datetime | None = None) -> str:
    """Return the text of a document, as far as `characters`, and what is left out. Raises Unreadable.

    document: its format. now: of a calendar, from when on it is read; None for all of it.
    """
    moment = "" if now is None else now.isoformat()
    arguments = (str(file), document, str(_MEGABYTES), str(int(seconds) + 1), str(characters), moment)
    try:
        most = _BYTES_A_CHARACTER * characters + _COUNT
        status, printed = await run_program(_PROGRAM, arguments, seconds=seconds, most_bytes=most)
    except TimeoutError:
        raise Unreadable("damaged") from None
    shown, _, counted = printed.decode("utf-8", "replace").partition("\0")
    text = shown.strip()
    if status in _EXITS:
        raise Unreadable(_EXITS[status])
    if not counted:
        if not text:
            raise Unreadable("damaged")
        return f"{text[:characters]}\n{_UNREAD}"
    left_out = int(counted.rstrip("+")) - characters
    if left_out <= 0:
        return text
    return f"{text}\n{note_omission(left_out, at_least=counted.endswith('+'))}".lstrip()
