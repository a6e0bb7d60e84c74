"""Read the text of a document in a process of its own, within limits of memory, time and length."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kenobot.agent.media.problems import MediaProblem, Unreadable
from kenobot.core.limited_program import run_program

_PROGRAM: Final = Path(__file__).with_name("read_document.py")
_MEGABYTES: Final = 1000  # of address space
_BYTES_A_CHARACTER: Final = 4
_SUFFIXES: Final[Mapping[str, str]] = {
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "text/html": "html",
    "application/xhtml+xml": "html",
}
_NAMED: Final = frozenset(_SUFFIXES.values()) | {"htm"}
_OTHERS: Final = frozenset(
    "zip gz bz2 xz 7z rar tar exe dll so apk iso dmg bin doc xls ppt psd ttf otf woff db sqlite heic bmp tiff".split()
)
_EXITS: Final[Mapping[int, MediaProblem]] = {3: "reader_missing", 4: "locked", 5: "bomb"}


def document_format(name: str, mime: str) -> str:
    """Return the format to read a document in: a suffix, "txt" for what may be a text, "" for what is none."""
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    if suffix in _NAMED:
        return "html" if suffix == "htm" else suffix
    if mime in _SUFFIXES:
        return _SUFFIXES[mime]
    return "" if suffix in _OTHERS or mime.startswith(("image/", "audio/", "video/", "font/")) else "txt"


async def read_document(file: Path, document: str, characters: int, seconds: float) -> str:
    """Return the text of a document, as far as `characters`. document: its format. Raises Unreadable."""
    arguments = (str(file), document, str(_MEGABYTES), str(int(seconds) + 1), str(characters))
    try:
        most = _BYTES_A_CHARACTER * characters
        status, printed = await run_program(_PROGRAM, arguments, seconds=seconds, most_bytes=most)
    except TimeoutError:
        raise Unreadable("damaged") from None
    text = printed.decode("utf-8", "replace").replace("\0", "").strip()
    if status and not text:
        raise Unreadable(_EXITS.get(status, "damaged"))
    if status in _EXITS:
        raise Unreadable(_EXITS[status])
    return text[:characters]
