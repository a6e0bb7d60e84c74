"""Documents are read in a process of their own, and what would take too much is refused."""

import io
import os
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

import pytest

from kenobot.agent.media.documents import document_format, read_document
from kenobot.agent.media.problems import Unreadable

_FILES: Final = Path(__file__).parents[3] / "data" / "documents"


def _pdf() -> bytes:
    pytest.importorskip("pdfminer", reason="the extra `documents` is not installed")
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
        made += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 6\n0000000000 65535 f \n" + table
    return made + head + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(made)


def _mail() -> bytes:
    message = EmailMessage()
    message["Subject"] = "Reunión"
    message.set_content("Es el jueves.", cte="base64")
    return message.as_bytes()


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


def _file(name: str) -> Callable[[], bytes]:
    return (_FILES / name).read_bytes


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (_pdf, "pdf", "The rent is 650"),
        (_file("python-docx.docx"), "docx", "The rent is 950 euros a month."),
        (_file("textedit.rtf"), "txt", "La reunión es el jueves."),
        (_file("libreoffice.odt"), "txt", "Contrato de alquiler"),
        (_mail, "eml", "Subject: Reunión\nEs el jueves."),
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


@cache
def _dense() -> bytes:
    return _zip(**{"word/document.xml": bytes(50_000_000)})


@pytest.mark.parametrize(
    ("content", "kind", "problem"),
    [
        (_dense, "docx", "bomb"),
        (lambda: b"junk" + _dense(), "docx", "bomb"),
        (lambda: _zip(**{f"{number}.xml": b"" for number in range(20_001)}), "xlsx", "bomb"),
        (b"PK not an archive", "odf", "damaged"),
        (b"%PDF-1.4 nothing", "pdf", "damaged"),
        (Random(1).randbytes(2000) + b"\0", "txt", "unknown_kind"),
        (_zip(**{"Index/Document.iwa": b"pages"}), "txt", "unknown_kind"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "txt", "unknown_kind"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "xlsx", "locked"),
        (b"", "pdf", "damaged"),
    ],
    ids=["dense", "behind", "many", "no archive", "no PDF", "no text", "no document", "Outlook", "locked", "empty"],
)
async def test_what_is_damaged_or_unpacks_to_too_much_is_told(
    tmp_path: Path, content: bytes | Callable[[], bytes], kind: str, problem: str
) -> None:
    """No reader opens it."""
    if kind == "pdf":
        pytest.importorskip("pdfminer", reason="the extra `documents` is not installed")
    with pytest.raises(Unreadable, match=f"^{problem}$"):
        await _read(tmp_path, content() if callable(content) else content, kind)


async def test_what_is_broken_in_the_middle_is_read_so_far(tmp_path: Path) -> None:
    """And that there was more is said."""
    parts = dict[str, bytes]()
    with zipfile.ZipFile(_FILES / "excelize.xlsx") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/worksheets/sheet2.xml"] = parts["xl/worksheets/sheet2.xml"][:-40]
    text = await _read(tmp_path, _zip(**parts), "xlsx")
    assert text.startswith("# Sheet1\n15%") and text.endswith("# Two\n[the rest of it could not be read]")


async def test_a_reader_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    """With all that it started."""
    fifo = tmp_path / "0f"
    os.mkfifo(fifo)
    with pytest.raises(Unreadable, match="damaged"):
        await read_document(fifo, "txt", 100, 0.2)


async def test_no_more_is_read_than_is_shown(tmp_path: Path) -> None:
    """And how much is left out is said."""
    note = "[… 4,999,950 characters more, which are not shown]"
    assert await _read(tmp_path, b"word " * 1_000_000, "txt", 50) == f"{('word ' * 10).strip()}\n{note}"


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
        ("letter.RTF", "application/octet-stream", "rtf"),
        ("forwarded.eml", "", "eml"),
        ("", "message/rfc822", "eml"),
        ("sheet.fods", "text/xml", "odf"),
        ("form.docm", "", "docx"),
    ],
)
def test_the_format_is_told_by_name_or_kind(name: str, mime: str, kind: str) -> None:
    """The name first, because chats guess the kind from it."""
    assert document_format(name, mime) == kind
