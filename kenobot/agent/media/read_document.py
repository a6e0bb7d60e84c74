"""Read the text of a document: a program of its own, with limits of memory and time, that prints it.

Run as `python -I read_document.py FILE SUFFIX MEGABYTES SECONDS CHARACTERS NOW`. Of KenoBot it imports the readers of
`formats` alone, and pure modules of `core`, as what a stranger sent is opened here. NOW: an ISO-8601 moment, or "". It
prints as many characters as it is asked for; then a NUL and how many there are in all, with a "+" where time was up
before all were counted. Exit: 0; 3 where the reader's package is not installed; 4 for a document that is locked by a
password; 5 for one that unpacks to far too much; 6 for none that is known; 1 for any other failure.
"""

import os
import resource
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

_MISSING, _LOCKED, _BOMB, _UNKNOWN = 3, 4, 5, 6
_MOST_UNPACKED = 200_000_000  # bytes
_MOST_RATIO = 200  # times its size that one file of an archive may unpack to, once that is much
_MUCH = 1_000_000
_MOST_FILES = 20_000
_COUNTING = 0.25  # of the time, after which no more is counted
_DEEP = 3000  # calls within each other


def _refuse_bomb(path: Path) -> None:
    """Exit where an archive holds more than a document does. A reader stops at the sizes that the archive declares."""
    with zipfile.ZipFile(path) as archive:
        files = archive.infolist()
        if any(file.flag_bits & 1 for file in files):
            sys.exit(_LOCKED)
        total = sum(file.file_size for file in files)
        dense = any(file.file_size > max(_MUCH, _MOST_RATIO * max(1, file.compress_size)) for file in files)
        if total > _MOST_UNPACKED or len(files) > _MOST_FILES or dense:
            sys.exit(_BOMB)


def _pdf(path: Path) -> Iterator[str]:
    from kenobot.agent.media.formats.pdf import read_pdf

    return read_pdf(path)


def _docx(path: Path) -> Iterator[str]:
    from kenobot.agent.media.formats.word import read_word

    return read_word(path)


def _xlsx(path: Path) -> Iterator[str]:
    from kenobot.agent.media.formats.sheets import read_sheets

    return read_sheets(path)


def _pptx(path: Path) -> Iterator[str]:
    from kenobot.agent.media.formats.slides import read_slides

    return read_slides(path)


def _odf(path: Path) -> Iterator[str]:
    from kenobot.agent.media.formats.open_document import read_open_document

    return read_open_document(path)


def _rtf(path: Path) -> Iterator[str]:
    from kenobot.agent.media.formats.rich_text import rich_text_lines

    return rich_text_lines(path.read_bytes())


def _mail(path: Path) -> Iterator[str]:
    from kenobot.agent.media.formats.mail import mail_lines

    return mail_lines(path.read_bytes())


def _calendar(path: Path, now: str) -> Iterator[str]:
    from kenobot.agent.media.formats.calendar import calendar_lines

    return calendar_lines(path.read_bytes(), datetime.fromisoformat(now) if now else None)


def _html(path: Path) -> Iterator[str]:
    from kenobot.core.web_page import decode_page, page_lines

    return page_lines(decode_page(path.read_bytes()))


def _text(path: Path) -> Iterator[str]:
    yield _decode(path.read_bytes())


def _decode(raw: bytes) -> str:
    """Decode a text. Exits for binary files."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    if b"\0" in raw:
        sys.exit(_UNKNOWN)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


_READERS: Mapping[str, Callable[[Path], Iterator[str]]] = {
    "pdf": _pdf, "docx": _docx, "xlsx": _xlsx, "pptx": _pptx, "odf": _odf, "rtf": _rtf, "eml": _mail, "html": _html,
    "txt": _text,
}  # fmt: skip
_BEGINS = ((b"%PDF-", "pdf"), (b"{\\rtf", "rtf"))
_MAIN_PARTS = (("word/document.xml", "docx"), ("xl/workbook.xml", "xlsx"), ("ppt/presentation.xml", "pptx"))
_ARCHIVES = ("docx", "xlsx", "pptx", "odf")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def _detect_format(path: Path, suffix: str) -> str:
    """Return the format of a document by how it begins: its name may say another. Exits for one that is locked."""
    with path.open("rb") as file:
        head = file.read(1024)
    for begin, told in _BEGINS:
        if head.lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(begin):
            return told
    if head.startswith(_OLE):
        is_locked = suffix in _ARCHIVES and _ENCRYPTED in path.read_bytes()
        sys.exit(_LOCKED if is_locked else _UNKNOWN)
    if head.startswith(b"PK\3\4") or (suffix in _ARCHIVES and zipfile.is_zipfile(path)):
        return _detect_archive(path, suffix)
    return suffix


def _detect_archive(path: Path, suffix: str) -> str:
    _refuse_bomb(path)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if "mimetype" in names and b"opendocument" in archive.read("mimetype"):
            return "odf"
    told = next((kind for part, kind in _MAIN_PARTS if part in names), "" if suffix == "txt" else suffix)
    return told if told and "xl/workbook.bin" not in names else sys.exit(_UNKNOWN)


def read_lines(path: Path, suffix: str, now: str = "") -> Iterator[str]:
    """Return the lines of a document of any format. Exits for one that is locked, too dense or of no known format."""
    kind = _detect_format(path, suffix)
    return _calendar(path, now) if kind == "ics" else _READERS[kind](path)


def main(arguments: list[str]) -> None:
    """Print the text of a file, as far as `CHARACTERS`, and how long it is."""
    path, suffix = Path(arguments[0]), arguments[1]
    megabytes, seconds, characters = map(int, arguments[2:5])
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * 1_000_000, megabytes * 1_000_000))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    sys.setrecursionlimit(_DEEP)
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(Path(__file__).parents[3]))
    try:
        _print(read_lines(path, suffix, arguments[5]), characters, time.monotonic() + _COUNTING * seconds)
    except ImportError:
        sys.exit(_MISSING)
    except PermissionError:
        sys.exit(_LOCKED)
    sys.stdout.buffer.flush()


def _print(pieces: Iterator[str], characters: int, until: float) -> None:
    total, is_whole = -1, True
    for piece in pieces:
        line = piece.replace("\0", "") + "\n"
        total += len(line)
        room = characters - (total - len(line) + 1)
        if room > 0:
            sys.stdout.buffer.write(line[:room].encode("utf-8", "replace"))
            sys.stdout.buffer.flush()
        elif time.monotonic() > until:
            is_whole = False
            break
    sys.stdout.buffer.write(f"\0{max(0, total)}{'' if is_whole else '+'}".encode())


if __name__ == "__main__":
    main(sys.argv[1:])
