"""The readers of documents give the words that a person sees, each once and in its place.

The files of tests/data/documents were written by the programs that they are named after: excelize 0.1.0, exceljs
4.4.0, XlsxWriter 3.3.1, openpyxl 3.1.5, python-docx 1.2.0 (fields.docx too, with markup as Word 16 writes it), docx
9.15.2 of npm, LibreOffice 7.4.7 (hebrew.pdf too; its export to Word and RTF shows a hidden section), pandoc 2.17,
odfpy 1.4.1, python-pptx 1.0.2, PptxGenJS 4.0.1, ReportLab 5.1.0, pypdf 7.1.1, WeasyPrint 70.0, jsPDF 4.2.1 and
pdf-lib 1.17.1. flat.fods and form.fodt hold what LibreOffice 7.4 writes, textedit.rtf what TextEdit 1.18 does,
layers.pdf what ISO 32000-1, 8.11 says of layers.
"""

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from kenobot.agent.media.formats.open_document import read_open_document
from kenobot.agent.media.formats.pdf_lines import order_letters
from kenobot.agent.media.formats.rich_text import rich_text_lines
from kenobot.agent.media.formats.sheets import read_sheets
from kenobot.agent.media.formats.slides import read_slides
from kenobot.agent.media.formats.word import read_word

_FILES: Final = Path(__file__).parents[3] / "data" / "documents"
_WORD: Final = {
    "python-docx.docx": """\
[page header: HEADER acme]
Contract
The rent is 950 euros a month.
1. first
2. second
- bullet
BLOCKSDT
Inline INLINESDT FLDSIMPLE SMART
MOVEDHERE
joined paragraph
MERGED title
a | b | c
outer
in1 | in2
Commented words
[comment by Ana: COMMENT text]
[page footer: FOOTER page]
""",
    "docx-js.docx": """\
[page header: JSHEAD]
Título
The rent is 950 euros[note 1] commented
[note 1] JSFOOTNOTE
[comment by Bo: JSCOMMENT]
1. one
(i) sub
2. two
☒ ticked
seen^2~~struck~~
after break	tabbedlinked
wide |  | tall
x / y
JSBOX
1/2
Last
[page footer: Page  of]
""",
    "fields.docx": """\
A yes B
Smoker: ☒ Colour: blue
☒ agree
Inserted link
kept
beside box
VMLBOX
kept row / second | sdt cell
(a+b)/2
x^2 5^3-yz
""",
    "libreoffice.docx": """\
[page header: Cabecera ACME]
Contrato de alquiler
The rent is 950 euros a month.
[comment by Ana: ODTCOMMENT]
Word1[note 1] after. End[endnote 1].
[note 1] ODTFOOTNOTE here
Spaces   and	tab
newline  ~~STRUCK~~ visible.
a) alpha item
a.1. nested one
a.2. nested two
b) beta item
second paragraph of beta
HIDDENSECTION
Shown section
Anchor paragraph
TEXTBOX inside
span two |  | third
a1 |  | c1 / c1 second
Last line.
[endnote 1] ODTENDNOTE here
[page footer: Pie 1]
""",
    "pandoc.docx": """\
Informe anual
Ana Pérez
Introducción
Text with a footnote.[note 1] And emphasis, ~~struck~~, H2O and 10^2 metres.
[note 1] Pandoc note text.
1. one
2. two
a. deep
b. deeper
3. three
- x
- y
Term
Definition here
Item | Qty | Price
Pen | 2 | 3.50
Ink |  | 12.00
Quoted words
code  keeps   blanks
a/b=x^2
""",
}
_SHEETS: Final = {
    "excelize.xlsx": """\
# Sheet1
15% | 2026-03-05 | 26:00 | 950.00 €
m1 |  | after
c |  |  |  |  | seen
[comment on A4 by Ana: note text]
TRUE | [=SUM(D1:D1), not calculated]
[rows of it that are hidden and left out: 1]
# Two
[16383 empty cells] | far
# Hid [a hidden sheet, which is left out]
""",
    "exceljs.xlsx": """\
# Hoja
Nombre | Pct | Fecha | Horas |  | G
Ana | 15.50% | 2026-03-05 | 26:00
rich | 31.00% |  | [=D2, not calculated]
link | #N/A | TRUE
[comment on A5 by Author: JSNOTE]
merged
[rows of it that are hidden and left out: 1]
# Oculta [a hidden sheet, which is left out]
""",
    "xlsxwriter.xlsx": """\
# Budget
Concept | VAT | Hours | Date | Price | ZIP | Sum
Rent | 15% | 26:00 | 2026-03-05 | 1,234.50 € | 08001 | [=B2*E2, not calculated]
Visible
[comment on A4: Ask Ana]
MERGED title |  |  |  | after merge
 |  |  |  |  |  |  | pastcol
TRUE
a bold c
[rows of it that are hidden and left out: 1]
CHART title
Series
TEXTBOX words
# Secret [a hidden sheet, which is left out]
""",
    "openpyxl.xlsx": """\
# Plan
Ana | 3 |  | 你好
 | 15.5% | 26:00:00 | 2026-03-05 | 2026-03-05 14:30:00 | 9:05:00 | 0.33333333333 | line one / line two
[=SUM(B1:B2), not calculated]
""",
}
_SLIDES: Final = {
    "python-pptx.pptx": """\
# 1
Título
GROUPED
DEEPER
CHARTTITLE
 | Sales | Costs
East | 19.2
West | 21.4 | 3
m |  | z
 | y
[speaker's notes] NOTES words
# 2 [a hidden slide, which is left out]
""",
    "pptxgenjs.pptx": """\
# 1
JS título
1. uno
2. dos
a | wide
1 |  | 3
JSCHART
 | Ventas
Ene | 10
Feb | 20
[speaker's notes] JSNOTES
[on the slides of this layout] MASTERTEXT
# 2
second
# 3 [a hidden slide, which is left out]
""",
}
_OPEN: Final = {
    "libreoffice.odt": """\
[page header: Cabecera ACME]
Contrato de alquiler
The rent is 950 euros a month.
[comment by Ana: ODTCOMMENT]
Word1[note 1] after. End[endnote i].
[note 1] ODTFOOTNOTE here
Spaces   and	tab
newline  ~~STRUCK~~ visible.
a) alpha item
a.1. nested one
a.2. nested two
b) beta item
second paragraph of beta
Shown section
Anchor paragraph
TEXTBOX inside
span two |  | third
a1 |  | c1 / c1 second
Last line.
[endnote i] ODTENDNOTE here
[page footer: Pie 1]
""",
    "libreoffice.ods": """\
# Budget
Concept | VAT | Hours | Date | Price | ZIP | Sum
Rent | 15% | 26:00 | 05/03/2026 | 1,234.50 € | 08001 | 0
CHART title
Visible
[comment: Ask Ana]
MERGED title |  |  |  | after merge
 |  |  |  |  |  |  | pastcol
TRUE
a bold c
TEXTBOX words
[rows of it that are hidden and left out: 1]
# Secret [a hidden sheet, which is left out]
""",
    "flat.fods": """\
# Gastos
rep | rep | fourth
7
7
 |  |  | FIFTHCOL
[comment by Bo: CELLNOTE]
two / lines | 950 | 1900
[rows of it that are hidden and left out: 1]
""",
    "odfpy.ods": """\
# Cuentas
rep | rep | third
 |  |  |  | FIFTHCOL
two / lines | 15% | 950
""",
    "odfpy-values.ods": """\
# F
5 | [=[.A1]*2, not calculated] | 2026-03-05 | 26:00 | TRUE | 9.5 EUR
""",
    "form.fodt": """\
Name: Ada Byron
☒ Agree
Kind: Gold
""",
    "libreoffice.odp": """\
# 1
Título
GROUPED
DEEPER
CHARTTITLE
 | Sales | Costs
East | 19.2
West | 21.4 | 3
m |  | z
 | y
[speaker's notes] NOTES words
# 2 [a hidden slide, which is left out]
""",
}
_RTF: Final = {
    "libreoffice.rtf": """\
[page header: Cabecera ACME]
Contrato de alquiler
The rent is 950 euros a month.
[comment by Ana: ODTCOMMENT]
Word1[note 1] after. End[note 2].
[note 1] ODTFOOTNOTE here
[note 2] ODTENDNOTE here
Spaces   and	tab
newline  ~~STRUCK~~ visible.
a) alpha item
a.1. nested one
a.2. nested two
b) beta item
second paragraph of beta
HIDDENSECTION
Shown section
Anchor paragraph
TEXTBOX inside
span two | third
a1 |  | c1 / c1 second
Last line.
[page footer: Pie 1]
""",
    "textedit.rtf": """\
La reunión es el jueves.
Precio: 950 €
- uno
- dos
emoji 😀 你好
Rent | 950
link text end
""",
}
_PDF: Final = {
    "reportlab-form.pdf": """\
Application form
Name: | Ada Byron
Member: | Gold
Smoker: | ☒
Vegan: | ☐
""",
    "pypdf-notes.pdf": """\
Invoice of March
Item | Qty | Price
Pen | 2 | 3.50
Ink |  | 12.00
Paper A4 white | 10
 |  | Total 15.50
FREETEXT added 950
A paragraph that is long enough to be wrapped over at least two lines on the page so that we see
how lines are told to the reader of it all.
Name | City | Phone
Ana |  | 600111222
Luis Pérez | Madrid
[comment: STICKY note]
""",
    "reportlab-table.pdf": """\
Invoice of March
Item | Qty | Price
Pen | 2 | 3.50
Ink |  | 12.00
Paper A4 white | 10
 |  | Total 15.50
A paragraph that is long enough to be wrapped over at least two lines on the page so that we see
how lines are told to the reader of it all.
Name | City | Phone
Ana |  | 600111222
Luis Pérez | Madrid
""",
    "layers.pdf": """\
ONLAYER
plain | APPROVED
""",
    "reportlab-invoice.pdf": """\
ACME Servicios S.L. | FACTURA
Calle Mayor 3 | Número: 2026/17
28013 Madrid | Fecha: 05/03/2026
CIF B12345678 | Vencimiento: 04/04/2026
Descripción | Cantidad | Precio | Importe
Servicio de mantenimiento de la web durante | 1 | 450,00 | 450,00
el mes de marzo de 2026
Alojamiento | 12 | 10,00 | 120,00
Descuento |  |  | -20,00
Dominio .es | 1 | 12,00 | 12,00
Base imponible | 562,00 €
IVA 21 % | 118,02 €
TOTAL | 680,02 €
Forma de pago: transferencia a ES12 3456 7890 1234 5678 9012. Gracias por su confianza en nosotros.
""",
    "weasyprint.pdf": """\
Office staff
office staff find the affluent waffle efficient.
The manager's responsibilities include
international communication and
administrative organization of documentation.
שלום עולם 950 יורו
السلام عليكم
Pen 2 | 3.50
Ink | 12.00
• first
• second
""",
    "jspdf.pdf": """\
jsPDF table
Item | Qty | Price
Pen | 2 | 3.50
Ink |  | 12.00
Long text that wraps over more than one line in its cell because it is very long indeed and goes on | 10
""",
    "pdf-lib.pdf": """\
Name: | Añada Byron
Kind: | Silver
☐ yes | ☒ no
Notes: | line one
line two
""",
    "hebrew.pdf": """\
שלום עולם, המחיר הוא 950 ש"ח (כולל מע"מ) עד 12.5.2026.
פגישה עם John Smith בשעה 10:30.
""",
    "reportlab-pictures.pdf": """\
Page one has text
[page 2 is a picture; its text cannot be read]
Page three has text
""",
    "reportlab-hidden.pdf": """\
Seen
Bold twice
DIAGONAL mark
""",
}


def _is_read(read: Callable[[Path], Iterator[str]], name: str, text: str) -> None:
    assert "\n".join(read(_FILES / name)) == text.rstrip("\n")


@pytest.mark.parametrize(("name", "text"), _WORD.items(), ids=_WORD)
def test_a_word_document_is_read_as_it_stands(name: str, text: str) -> None:
    """Deleted, moved and hidden words are left out; controls, boxes, notes, comments and numbers are not."""
    _is_read(read_word, name, text)


@pytest.mark.parametrize(("name", "text"), _SHEETS.items(), ids=_SHEETS)
def test_a_workbook_is_read_as_its_cells_show(name: str, text: str) -> None:
    """Excelize says that a sheet is A1 alone, and XlsxWriter gives each formula the value 0 until Excel opens it."""
    _is_read(read_sheets, name, text)


@pytest.mark.parametrize(("name", "text"), _OPEN.items(), ids=_OPEN)
def test_an_open_document_is_read_as_it_stands(name: str, text: str) -> None:
    """Repeated cells keep their columns, and what is deleted or hidden is left out."""
    _is_read(read_open_document, name, text)


@pytest.mark.parametrize(("name", "text"), _RTF.items(), ids=_RTF)
def test_rich_text_is_read_without_its_markup(name: str, text: str) -> None:
    """Letters of any alphabet, tables, notes and lists included."""
    _is_read(lambda path: rich_text_lines(path.read_bytes()), name, text)


@pytest.mark.parametrize(("name", "text"), _SLIDES.items(), ids=_SLIDES)
def test_slides_are_read_with_groups_charts_and_notes(name: str, text: str) -> None:
    """A hidden slide is left out, and that is said."""
    _is_read(read_slides, name, text)


@pytest.mark.parametrize(("name", "text"), _PDF.items(), ids=_PDF)
def test_a_pdf_is_read_in_the_order_of_its_lines(name: str, text: str) -> None:
    """Forms, notes and rows are kept, words are whole, and a page that is a picture is told."""
    pytest.importorskip("pdfminer", reason="the extra `documents` is not installed")
    from kenobot.agent.media.formats.pdf import read_pdf

    _is_read(read_pdf, name, text)


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
    pytest.importorskip("pdfminer", reason="the extra `documents` is not installed")
    from kenobot.agent.media.formats.pdf import read_pdf

    text = "\n".join(read_pdf(_FILES / "reportlab-columns.pdf"))
    assert "ends the left.\nRight column begins" in text and "|" not in text
    text = "\n".join(read_pdf(_FILES / "weasyprint-columns.pdf"))
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
