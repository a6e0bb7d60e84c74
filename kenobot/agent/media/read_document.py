"""Read the text of a document: a program of its own, with limits of memory and time, that prints it.

Run as `python -I read_document.py FILE SUFFIX MEGABYTES SECONDS CHARACTERS`. It imports nothing of KenoBot, as what
a stranger sent is opened here. Exit: 0, and the text on standard output; 3 where the reader's package is not installed;
4 for a document that is locked by a password; 5 for one that unpacks to far too much; 1 for any other failure.
"""

import html.parser
import os
import resource
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

_MISSING, _LOCKED, _BOMB = 3, 4, 5
_MOST_UNPACKED = 200_000_000  # bytes
_MOST_RATIO = 200  # times its size that one file of an archive may unpack to, once that is much
_MUCH = 1_000_000
_MOST_FILES = 20_000


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
    import pypdf

    reader = pypdf.PdfReader(path)
    try:
        locked = reader.is_encrypted and not reader.decrypt("")
    except pypdf.errors.DependencyError:  # a cipher of a package that is not needed otherwise
        locked = True
    if locked:
        sys.exit(_LOCKED)
    for page in reader.pages:
        yield page.extract_text()


def _docx(path: Path) -> Iterator[str]:
    import docx
    from docx.table import Table

    for block in docx.Document(str(path)).iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                yield " | ".join(cell.text for cell in row.cells)
        else:
            yield block.text


def _xlsx(path: Path) -> Iterator[str]:
    import openpyxl

    # By its path it would be told by a suffix, which it does not have.
    book = openpyxl.load_workbook(path.open("rb"), read_only=True, data_only=True)
    for sheet in book.worksheets:
        yield f"# {sheet.title}"
        for row in sheet.iter_rows(values_only=True):
            cells = ["" if cell is None else str(cell) for cell in row]
            if any(cells):
                yield " | ".join(cells).rstrip(" |")


def _pptx(path: Path) -> Iterator[str]:
    import pptx

    for number, slide in enumerate(pptx.Presentation(str(path)).slides, 1):
        yield f"# {number}"
        for shape in slide.shapes:
            if shape.has_text_frame:
                yield shape.text_frame.text
            if getattr(shape, "has_table", False):
                for row in shape.table.rows:
                    yield " | ".join(cell.text for cell in row.cells)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            yield slide.notes_slide.notes_text_frame.text


def _odf(path: Path) -> Iterator[str]:
    from odf import teletype
    from odf.namespaces import TABLENS, TEXTNS
    from odf.opendocument import load

    def walk(node: object) -> Iterator[str]:
        for child in getattr(node, "childNodes", ()):
            name = getattr(child, "qname", None)
            if name == (TABLENS, "table-row"):
                yield " | ".join(teletype.extractText(cell) for cell in child.childNodes).rstrip(" |")
            elif name in ((TEXTNS, "p"), (TEXTNS, "h")):
                yield teletype.extractText(child)
            else:
                yield from walk(child)

    yield from walk(load(str(path)).body)


_BLOCKS = ("p", "br", "div", "li", "tr", "h1", "h2", "h3", "h4")


class _Words(html.parser.HTMLParser):
    """The text of a page without scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []  # bounded: one page, in a process of its own; turn
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in ("script", "style")
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style") and self._hidden > 0
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def _plain(path: Path) -> str:
    """Decode a text. Raises ValueError for what is none."""
    raw = path.read_bytes()
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16")
    if b"\0" in raw:
        raise ValueError("not a text")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def _page(path: Path) -> Iterator[str]:
    words = _Words()
    words.feed(_plain(path))
    yield "".join(words.parts)


def _text(path: Path) -> Iterator[str]:
    yield _plain(path)


_READERS = {
    "pdf": _pdf, "docx": _docx, "xlsx": _xlsx, "pptx": _pptx, "odt": _odf, "ods": _odf, "odp": _odf, "html": _page,
    "txt": _text,
}  # fmt: skip
_ARCHIVES = ("docx", "xlsx", "pptx", "odt", "ods", "odp")


def main(arguments: list[str]) -> None:
    """Print the text of a file, as far as `CHARACTERS`."""
    path, suffix = Path(arguments[0]), arguments[1]
    megabytes, seconds, characters = map(int, arguments[2:])
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * 1_000_000, megabytes * 1_000_000))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    if suffix in _ARCHIVES:
        _refuse_bomb(path)
    room = characters
    try:
        for piece in _READERS[suffix](path):
            shown = piece[:room].encode("utf-8", "replace") + b"\n"
            sys.stdout.buffer.write(shown)
            room -= len(piece)
            if room <= 0:
                break
    except ImportError:
        sys.exit(_MISSING)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
