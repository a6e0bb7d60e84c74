"""Read the values of a PDF's forms and the annotations on its pages."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pdfminer.pdfpage import PDFPage
from pdfminer.pdftypes import PDFStream, resolve1
from pdfminer.psparser import PSLiteral, literal_name
from pdfminer.utils import Matrix, apply_matrix_rect, decode_text

from kenobot.agent.media.formats.pdf_text import Glyph

_HIDDEN: Final = 2 | 32  # flags of an annotation that is not shown
_PASSWORD: Final = 1 << 13  # flags of a field
_PUSH: Final = 1 << 16
_SIZE: Final = re.compile(rb"([\d.]+)\s+Tf")
_SHOWN: Final = re.compile(
    rb"\(((?:[^()\\]|\\.)*)\)\s*(?:Tj|')|\[((?:\((?:[^()\\]|\\.)*\)|[^\]()])*)\]\s*TJ", re.DOTALL
)
_STRING: Final = re.compile(rb"\(((?:[^()\\]|\\.)*)\)", re.DOTALL)
_ESCAPE: Final = re.compile(rb"\\([()\\])")
_WIDTH: Final = 0.5  # of a letter's height, usually
_MOST_PARENTS: Final = 20
_REMARKS: Final = frozenset(
    "Text Highlight Underline Squiggly StrikeOut Caret Square Circle Ink Line Polygon PolyLine".split()
)


def read_annotations(page: PDFPage, ctm: Matrix) -> Iterator[tuple[list[Glyph], str]]:
    """Yield the text of each annotation of a page in its place, or its remark on the page.

    ctm: how the page is turned.
    """
    for reference in resolve1(page.annots) or ():
        annotation = resolve1(reference)
        if not isinstance(annotation, dict) or _number(annotation.get("F")) & _HIDDEN:
            continue
        kind, contents = literal_name(resolve1(annotation.get("Subtype", ""))), _text(annotation.get("Contents"))
        if kind == "Widget":
            yield _place(_field_value(annotation), annotation, ctm), ""
        elif kind in ("FreeText", "Stamp"):
            yield _place(contents if kind == "FreeText" and contents else _appearance(annotation), annotation, ctm), ""
        elif kind in _REMARKS and contents.strip():
            author = _text(annotation.get("T"))
            yield [], f"[comment{' by ' if author else ''}{author}: {' / '.join(contents.split(chr(10)))}]"


def _field_value(widget: Mapping[str, object]) -> str:
    """Return the displayed value of a form field."""
    kind, flags = literal_name(_inherit(widget, "FT") or ""), _number(_inherit(widget, "Ff"))
    if kind == "Btn":
        if flags & _PUSH:
            look = resolve1(widget.get("MK"))
            return _text(look.get("CA")) if isinstance(look, dict) else ""
        state = literal_name(resolve1(widget.get("AS")) or _inherit(widget, "V") or "Off")
        return "☐" if state == "Off" else "☒"
    if kind == "Tx" and flags & _PASSWORD:
        return ""
    value = _inherit(widget, "V")
    if kind not in ("Tx", "Ch") or not value:
        return _appearance(widget)
    chosen = [resolve1(each) for each in value] if isinstance(value, list) else [value]
    shown = dict(_options(_inherit(widget, "Opt")))
    return "\n".join(shown.get(_text(each), _text(each)) for each in chosen)


def _options(options: object) -> Iterator[tuple[str, str]]:
    """Yield the value of each choice and the words that show it."""
    for each in options if isinstance(options, list) else ():
        pair = resolve1(each)
        if isinstance(pair, list) and len(pair) == 2:
            yield _text(pair[0]), _text(pair[1])


def _inherit(widget: Mapping[str, object], name: str) -> object:
    """Return a property of a field, its own or that of one above it."""
    field: object = widget
    for _ in range(_MOST_PARENTS):
        if not isinstance(field, dict | Mapping):
            break
        if name in field:
            return resolve1(field[name])
        field = resolve1(field.get("Parent"))
    return None


def _appearance(annotation: Mapping[str, object]) -> str:
    """Return the words that an annotation is drawn with, as far as its font is a plain one."""
    forms = resolve1(annotation.get("AP"))
    drawn = resolve1(forms.get("N")) if isinstance(forms, dict) else None
    pieces = list[bytes]()
    for found in _SHOWN.finditer(drawn.get_data()) if isinstance(drawn, PDFStream) else ():
        pieces.append(found[1] if found[1] is not None else b"".join(_STRING.findall(found[2])))
    text = "\n".join(_text(_ESCAPE.sub(rb"\1", piece)) for piece in pieces)
    return text if text.isprintable() or all(each.isprintable() or each in "\r\n\t" for each in text) else ""


def _place(text: str, annotation: Mapping[str, object], ctm: Matrix) -> list[Glyph]:
    """Return a text as it lies in the box of an annotation."""
    box = [float(resolve1(each)) for each in resolve1(annotation.get("Rect")) or ()]
    lines = [line for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if line.strip()]
    if len(box) != 4 or not lines:
        return []
    x0, y0, x1, y1 = apply_matrix_rect(ctm, (box[0], box[1], box[2], box[3]))
    given = _SIZE.search(_bytes(_inherit(annotation, "DA")))
    size = float(given[1]) if given and float(given[1]) else min(12.0, 0.8 * (y1 - y0) / len(lines))
    top = (y0 + y1 + size) / 2 if len(lines) == 1 and y1 - y0 < 3 * size else y1
    return [
        Glyph(
            " ".join(line.split()),
            x0 + 2,
            max(x0 + 3, min(x1, x0 + 2 + _WIDTH * size * len(line))),
            top - (at + 1) * size,
            top - at * size,
        )
        for at, line in enumerate(lines)
    ]


def _text(value: object) -> str:
    value = resolve1(value)
    if isinstance(value, PDFStream):
        value = value.get_data()
    return (
        literal_name(value)
        if isinstance(value, PSLiteral)
        else decode_text(value)
        if isinstance(value, bytes)
        else str(value or "")
    )


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else b""


def _number(value: object) -> int:
    value = resolve1(value)
    return value if isinstance(value, int) else 0
