"""Documents are read in a process of their own, and what would take too much is refused."""

import io
import os
import zipfile
from pathlib import Path

import pytest

from kenobot.agent.media.documents import document_format, read_document
from kenobot.agent.media.problems import Unreadable


def _pdf() -> bytes:
    pytest.importorskip("pypdf", reason="the extra `documents` is not installed")
    drawn = b"BT /F1 24 Tf 10 100 Td (The rent is 650) Tj ET"
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 144]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    made, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj%sendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 6\n0000000000 65535 f \n" + table
    return made + head + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(made)


async def _read(tmp_path: Path, content: bytes, kind: str, characters: int = 1000, seconds: float = 20) -> str:
    file = tmp_path / "0f"
    file.write_bytes(content)
    return await read_document(file, kind, characters, seconds)


def _zip(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def _word() -> bytes:
    docx = pytest.importorskip("docx", reason="the extra `documents` is not installed")
    made, document = io.BytesIO(), docx.Document()
    document.add_paragraph("Hola, ñandú")
    row = document.add_table(1, 2).rows[0]
    row.cells[0].text, row.cells[1].text = "rent", "650"
    document.save(made)
    return made.getvalue()


def _excel() -> bytes:
    openpyxl = pytest.importorskip("openpyxl", reason="the extra `documents` is not installed")
    made, book = io.BytesIO(), openpyxl.Workbook()
    book.active.append(["Ana", 3, None, "你好"])
    book.save(made)
    return made.getvalue()


def _slides() -> bytes:
    pptx = pytest.importorskip("pptx", reason="the extra `documents` is not installed")
    made, show = io.BytesIO(), pptx.Presentation()
    show.slides.add_slide(show.slide_layouts[0]).shapes.title.text = "Título"
    show.save(made)
    return made.getvalue()


def _open_document() -> bytes:
    odf = pytest.importorskip("odf.opendocument", reason="the extra `documents` is not installed")
    text = pytest.importorskip("odf.text")
    made, document = io.BytesIO(), odf.OpenDocumentText()
    document.text.addElement(text.P(text="Buenos días"))
    document.write(made)
    return made.getvalue()


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (_pdf, "pdf", "The rent is 650"),
        (_word, "docx", "Hola, ñandú\nrent | 650"),
        (_excel, "xlsx", "# Sheet\nAna | 3 |  | 你好"),
        (_slides, "pptx", "# 1\nTítulo"),
        (_open_document, "odt", "Buenos días"),
        (lambda: b"<p>Hi</p><script>evil()</script>there", "html", "Hi\nthere"),
        (lambda: "Año".encode("cp1252"), "txt", "Año"),
        (lambda: "Año".encode("utf-16"), "txt", "Año"),
    ],
)
async def test_the_text_of_each_format_is_read(tmp_path: Path, make: object, kind: str, said: str) -> None:
    """In whatever encoding and script."""
    assert callable(make)
    text = await _read(tmp_path, make(), kind)
    assert said in text and "evil" not in text


@pytest.mark.parametrize(
    ("content", "kind", "problem"),
    [
        (_zip(**{"word/document.xml": bytes(50_000_000)}), "docx", "bomb"),
        (_zip(**{f"{number}.xml": b"" for number in range(20_001)}), "xlsx", "bomb"),
        (b"PK not an archive", "odt", "damaged"),
        (b"%PDF-1.4 nothing", "pdf", "damaged"),
        (os.urandom(2000) + b"\0", "txt", "damaged"),
        (b"", "pdf", "damaged"),
    ],
    ids=["dense", "many", "no archive", "no PDF", "no text", "empty"],
)
async def test_what_is_damaged_or_unpacks_to_too_much_is_told(
    tmp_path: Path, content: bytes, kind: str, problem: str
) -> None:
    """No reader opens it."""
    if kind == "pdf":
        pytest.importorskip("pypdf", reason="the extra `documents` is not installed")
    with pytest.raises(Unreadable, match=f"^{problem}$"):
        await _read(tmp_path, content, kind)


async def test_a_reader_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    """With all that it started."""
    fifo = tmp_path / "0f"
    os.mkfifo(fifo)
    with pytest.raises(Unreadable, match="damaged"):
        await read_document(fifo, "txt", 100, 0.2)


async def test_no_more_is_read_than_is_shown(tmp_path: Path) -> None:
    """Whatever the document holds."""
    assert await _read(tmp_path, b"word " * 1_000_000, "txt", 50) == ("word " * 10).strip()


@pytest.mark.parametrize(
    ("name", "mime", "kind"),
    [
        ("a.PDF", "", "pdf"),
        ("", "application/pdf", "pdf"),
        ("notes.md", "text/markdown", "txt"),
        ("data.json", "application/json", "txt"),
        ("a.zip", "application/zip", ""),
        ("song", "audio/mpeg", ""),
        ("page.htm", "", "html"),
    ],
)
def test_the_format_is_told_by_name_or_kind(name: str, mime: str, kind: str) -> None:
    """The name first, because chats guess the kind from it."""
    assert document_format(name, mime) == kind
