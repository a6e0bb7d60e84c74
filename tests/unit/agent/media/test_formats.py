"""The readers of documents give the words that a person sees, each once and in its place.

The files of tests/data/documents were written by the programs that they are named after: excelize 0.1.0, exceljs 4.4.0,
XlsxWriter 3.3.1, openpyxl 3.1.5, python-docx 1.2.0 (fields.docx too, with markup as Word 16 writes it), docx 9.15.2 of
npm, LibreOffice 7.4.7 (hebrew.pdf and libreoffice-nested.rtf too; its export to Word and RTF shows a hidden section),
pandoc 2.17, odfpy 1.4.1, python-pptx 1.0.2, PptxGenJS 4.0.1, ReportLab 5.1.0, pypdf 7.1.1, WeasyPrint 70.0, fpdf2
2.8.9, jsPDF 4.2.1, pdf-lib 1.17.1, Typst 0.15.2 and Chromium 155 (the page of a browser, printed). flat.fods, form.fodt
and hidden.fodt hold what LibreOffice 7.4 writes, textedit.rtf what TextEdit 1.18 does, layers.pdf what ISO 32000-1,
8.11 says of layers.
"""

import zipfile
from pathlib import Path
from typing import Final

import pytest

from kenobot.agent.media.documents import document_format
from kenobot.agent.media.formats.equations import write_equation
from kenobot.agent.media.formats.open_document import read_open_document
from kenobot.agent.media.formats.pdf_lines import order_letters
from kenobot.agent.media.formats.reading_order import Box, order_by_place
from kenobot.agent.media.formats.word import read_word
from kenobot.agent.media.read_document import read_lines
from tests.cases import each

_FILES: Final = Path(__file__).parents[3] / "data" / "documents"
_TEXTS: Final = sorted(path.name.removesuffix(".txt") for path in _FILES.glob("*.txt"))


def _read(name: str) -> str:
    if name.endswith(".pdf"):
        pytest.importorskip("pdfminer", reason="the extra `documents` is not installed")
    return "\n".join(read_lines(_FILES / name, document_format(name, "")))


@each("name", _TEXTS)
def test_a_document_is_read_as_a_person_sees_it(name: str) -> None:
    """Every visible word comes once and in its place, as the text beside each file has it; none that is hidden does."""
    assert _read(name) == (_FILES / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        ("םולש", "שלום"),
        ("12.5.2026 דע", "עד 12.5.2026"),
        (")ןכ( 950", "950 (כן)"),
        ("say םולש now", "say שלום now"),
        ("oﬃce", "office"),
        ("abc 12", "abc 12"),
    ],
)
def test_letters_are_put_in_the_order_of_reading(drawn: str, read: str) -> None:
    """A page draws Hebrew from left to right too (LibreOffice 7.4.7, WeasyPrint 70.0)."""
    assert order_letters(list(drawn)) == read


def test_columns_of_a_pdf_are_read_one_after_another() -> None:
    """Not line by line across them."""
    text = _read("reportlab-columns.pdf")
    assert "ends the left.\nRight column begins" in text and "|" not in text
    text = _read("weasyprint-columns.pdf")
    places = ("Annual report", "Background", "Outcome", "from all parties.\nFigures", "Item | Qty | Price")
    assert sorted(places, key=text.index) == [*places]


_FLAT: Final = """<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:drawooo="http://openoffice.org/2010/draw"
 ><office:body>{}</office:body></office:document>"""


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            '<office:spreadsheet><table:table table:name="S"><table:table-row><table:table-cell><text:p>a</text:p>'
            '</table:table-cell><table:table-cell office:value-type="float" office:value="99"><text:p/>'
            "</table:table-cell></table:table-row></table:table></office:spreadsheet>",
            ["# S", "a"],
        ),
        (
            '<office:presentation><draw:page><draw:custom-shape drawooo:display="none"><text:p>unseen</text:p>'
            "</draw:custom-shape><draw:custom-shape><text:p>seen</text:p></draw:custom-shape></draw:page>"
            "</office:presentation>",
            ["# 1", "seen"],
        ),
    ],
    ids=["a value that its format hides", "a hidden shape"],
)
def test_what_libreoffice_hides_is_left_out(tmp_path: Path, body: str, lines: list[str]) -> None:
    file = tmp_path / "flat.xml"
    file.write_text(_FLAT.format(body), encoding="utf-8")

    assert list(read_open_document(file)) == lines


def test_a_section_goes_on_with_the_first_head_of_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "sections.docx"
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    relation = '<Relationships xmlns="{}"><Relationship Id="r1" Type="{}/{}" Target="{}"/></Relationships>'
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("_rels/.rels", relation.format(package, office, "officeDocument", "word/document.xml"))
        archive.writestr("word/_rels/document.xml.rels", relation.format(package, office, "header", "header1.xml"))
        archive.writestr("word/header1.xml", f'<w:hdr xmlns:w="{word}"><w:p><w:r><w:t>Head</w:t></w:r></w:p></w:hdr>')
        archive.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{word}" xmlns:r="{office}"><w:body><w:p><w:pPr><w:sectPr>'
            '<w:headerReference w:type="first" r:id="r1"/></w:sectPr></w:pPr><w:r><w:t>one</w:t></w:r></w:p>'
            "<w:p><w:r><w:t>two</w:t></w:r></w:p><w:sectPr><w:titlePg/></w:sectPr></w:body></w:document>",
        )

    assert list(read_word(file)) == ["[page header: Head]", "one", "two"]


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        (' EQ \\* jc2 \\* "Font:MS Mincho" \\* hps10 \\o\\ad(\\s\\up 9(とうきょう),東京)', "東京 (とうきょう)"),
        ("EQ \\f(1;2)", "1/2"),
        ("eq \\r(3,x) + \\r(2)", "√x + √2"),
        ("EQ \\o\\ac(○,1)", "○1"),
        ("EQ \\f(1", "1"),
        ("PAGE \\* MERGEFORMAT", ""),
        ("EQUATION x", ""),
    ],
)
def test_a_field_that_draws_signs_is_written_in_a_line(code: str, shown: str) -> None:
    """Readings of kanji and fractions have no other text in the document (LibreOffice 7.4.7, Word 16: `EQ`)."""
    assert write_equation(code) == shown


@pytest.mark.parametrize(
    ("places", "order"),
    [
        ("a 1 6 8 1, b 5 2 3 1, c 1 2 3 1", "cba"),
        ("a 1 2 3 1, b 1 3 3 1, c 5 2 3 1, d 5 3 3 1", "abcd"),
        ("a 1 1 3 1, b 5 1 3 1, c 1 3 3 1", "abc"),
        ("a 5 1 3 1, b 1 1 3 1", "ba"),
        ("a 1 5 3 1, b, c 1 1 3 1", "cab"),
    ],
)
def test_shapes_are_put_in_the_order_of_reading(places: str, order: str) -> None:
    """Columns that are drawn one after another stay; a shape without a place stays behind the one before it."""
    shapes = [each.split() for each in places.split(",")]
    boxes = [(Box(*map(float, place)) if place else None, name) for name, *place in shapes]
    assert "".join(order_by_place(boxes)) == order
