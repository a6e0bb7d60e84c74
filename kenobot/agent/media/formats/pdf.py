"""Read the pages of PDF files, with the values of forms and annotations."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pdfminer.converter import PDFLayoutAnalyzer
from pdfminer.layout import LTChar, LTComponent, LTContainer, LTCurve, LTFigure, LTImage, LTLine, LTPage, LTRect
from pdfminer.pdfcolor import PDFColorSpace
from pdfminer.pdfdevice import PDFTextSeq
from pdfminer.pdfdocument import PDFDocument, PDFPasswordIncorrect
from pdfminer.pdffont import PDFFont, PDFSimpleFont
from pdfminer.pdfinterp import PDFGraphicState, PDFPageInterpreter, PDFResourceManager, PDFTextState
from pdfminer.pdfpage import PDFPage
from pdfminer.pdfparser import PDFParser
from pdfminer.pdftypes import PDFObjRef, resolve1
from pdfminer.psparser import PSLiteral, literal_name
from pdfminer.utils import Matrix, Rect, apply_matrix_rect

from kenobot.agent.media.formats.pdf_forms import read_annotations
from kenobot.agent.media.formats.pdf_grids import Rule, Strikes
from kenobot.agent.media.formats.pdf_layout import page_lines
from kenobot.agent.media.formats.pdf_tags import Shift, Shifts
from kenobot.agent.media.formats.pdf_text import Glyph
from kenobot.core.symbol_fonts import is_symbol_font, read_symbols

_INVISIBLE: Final = (3, 7)  # ways of drawing letters
_THIN: Final = 2.5  # points
_SMALLEST: Final = 1.5  # size of letters that can be read, in points
_COVERS: Final = 0.5  # of a page: a picture of this size is what the page shows
_MOST_GROUNDS: Final = 300
_WHITE: Final = 0.97
_MARK: Final = 4  # letters of a raised mark at most
_UNUSED: Final = (127, 129, 141, 143, 144, 157)  # codes that draw a bullet (ISO 32000-1, annex D.2)
_RAISED: Final = 1.2  # times the size that a document gives to raised letters: these are drawn on the line


def read_pdf(path: Path) -> Iterator[str]:
    """Yield the lines of the pages. A page that is a picture is noted where others have a text.

    Raises PermissionError for a file that is locked.
    """
    with path.open("rb") as file:
        try:
            document = PDFDocument(PDFParser(file))
        except PDFPasswordIncorrect:
            raise PermissionError("locked") from None
        resources, pictures, has_text = _Fonts(), list[int](), False
        off, shifts = _layers_off(document), Shifts(document)
        for number, page in enumerate(PDFPage.create_pages(document), 1):
            reader = _PageReader(resources, off, shifts)
            try:
                PDFPageInterpreter(resources, reader).process_page(page)
                lines = list(reader.lines(page))
            except Exception:  # of whatever kind a broken page makes it raise
                lines = [f"[page {number} could not be read]"]
            if not lines and reader.draws:
                pictures.append(number)
            if lines or not has_text:
                yield from (_note_picture(each) for each in pictures if lines)
                pictures = [] if lines else pictures
            has_text |= bool(lines)
            yield from lines
        if has_text:
            yield from map(_note_picture, pictures)


def _note_picture(number: int) -> str:
    return f"[page {number} is a picture; its text cannot be read]"


class _Drawn(NamedTuple):
    """Describe how a letter is drawn. string: the number of the string that it is part of."""

    string: int
    shift: Shift | None


class _PageReader(PDFLayoutAnalyzer):
    """Collect the letters and rules of one page. off: the numbers of layers that are not shown."""

    def __init__(self, resources: PDFResourceManager, off: frozenset[int], shifts: Shifts) -> None:
        super().__init__(resources, laparams=None)
        self.draws = False
        self._off, self._shifts = off, shifts
        self._page: PDFPage | None = None
        self._strings = 0
        self._drawn: dict[int, _Drawn] = {}
        self._contents: list[int] = []  # the number of each that is open
        self._layers: dict[str, int] = {}
        self._tags: list[bool] = []  # whether each that is open is hidden
        self._invisible = _figure()
        self._shown: LTPage | None = None
        self._turn: Matrix = (1, 0, 0, 1, 0, 0)
        self._area: Rect = (0, 0, 0, 0)

    # ── what the interpreter draws ───────────────────────────────────────────────────────────────────────────────

    def begin_page(self, page: PDFPage, ctm: Matrix) -> None:
        super().begin_page(page, ctm)
        self._page = page
        self._turn, self._area = ctm, apply_matrix_rect(ctm, page.cropbox)
        for name, layer in dict(resolve1(page.resources.get("Properties")) or {}).items():
            self._layers[name] = getattr(layer, "objid", 0)

    def receive_layout(self, ltpage: LTPage) -> None:
        self._shown = ltpage

    def begin_tag(self, tag: PSLiteral, props: object = None) -> None:
        layer = self._layers.get(literal_name(props), 0) if isinstance(props, PSLiteral) else 0
        self._tags.append(literal_name(tag) == "OC" and layer in self._off)
        content = resolve1(props.get("MCID")) if isinstance(props, Mapping) else None
        inherited = self._contents[-1] if self._contents else -1
        self._contents.append(content if isinstance(content, int) else inherited)

    def end_tag(self) -> None:
        if self._tags:
            self._tags.pop()
            self._contents.pop()

    def render_string(
        self, textstate: PDFTextState, seq: PDFTextSeq, ncs: PDFColorSpace, graphicstate: PDFGraphicState
    ) -> None:
        item, self.cur_item = self.cur_item, _figure()
        super().render_string(textstate, seq, ncs, graphicstate)
        letters, self.cur_item = [each for each in self.cur_item if isinstance(each, LTChar)], item
        target = item if textstate.render not in _INVISIBLE else self._invisible
        self._strings += 1
        shift = self._find_shift() if len(letters) <= _MARK else None
        for letter in () if any(self._tags) else letters:
            target.add(letter)
            self._drawn[id(letter)] = _Drawn(self._strings, shift)

    def _find_shift(self) -> Shift | None:
        content = self._contents[-1] if self._contents else -1
        return self._shifts.find(self._page, content) if content >= 0 and self._page is not None else None

    def handle_undefined_char(self, font: PDFFont, cid: int) -> str:
        return ""

    # ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────

    def lines(self, page: PDFPage) -> Iterator[str]:
        """Yield the lines of the page, and the comments on it last."""
        if self._shown is None:
            return
        items, area = list(_flatten(self._shown)), self._shown.width * self._shown.height
        pictures = [each for each in items if isinstance(each, LTImage)]
        if sum(each.width * each.height for each in pictures) > _COVERS * area:  # what a scanner read in it
            items += _flatten(self._invisible)
        grounds = [each for each in items if isinstance(each, LTImage | LTCurve) and _is_ground(each)]
        rules = [rule for each in items if isinstance(each, LTCurve) for rule in self._rules(each)]
        strikes = Strikes(rules)
        turned: dict[int, list[Glyph]] = {0: []}
        for each in items:
            if isinstance(each, LTChar) and self._is_seen(each, grounds):
                angle, glyph = _turn_glyph(each, self._drawn.get(id(each), _Drawn(0, None)))
                if not angle and strikes.cross(glyph, each.matrix[5]):
                    glyph = glyph._replace(struck=True)
                turned.setdefault(angle, []).append(glyph)
        remarks = list[str]()
        for glyphs, remark in read_annotations(page, self._turn):
            turned[0] += glyphs
            remarks += [remark] if remark else []
        self.draws = bool(items)
        for angle, glyphs in turned.items():
            for line in page_lines(glyphs, [] if angle else rules):
                if shown := read_symbols(line):
                    yield shown
        yield from remarks

    def _is_seen(self, letter: LTChar, grounds: Sequence[LTComponent]) -> bool:
        if letter.size < _SMALLEST:
            return False
        x, y = (letter.x0 + letter.x1) / 2, (letter.y0 + letter.y1) / 2
        if not (self._area[0] <= x <= self._area[2] and self._area[1] <= y <= self._area[3]):
            return False
        if not _is_white(letter.graphicstate.ncolor) or len(grounds) > _MOST_GROUNDS:
            return True
        return any(each.x0 <= x <= each.x1 and each.y0 <= y <= each.y1 for each in grounds)

    def _rules(self, drawn: LTCurve) -> Iterator[Rule]:
        if not isinstance(drawn, LTLine | LTRect) or self._shown is None:
            return
        x0, y0, x1, y1 = drawn.bbox
        if min(x1 - x0, y1 - y0) < _THIN:
            if max(x1 - x0, y1 - y0) > _THIN:
                yield Rule(x0, y0, x1, y1)
        elif (
            isinstance(drawn, LTRect)
            and x1 - x0 < 0.95 * self._shown.width
            and (drawn.stroke or not _is_white(drawn.non_stroking_color))
        ):
            yield from (Rule(x0, y0, x0, y1), Rule(x1, y0, x1, y1), Rule(x0, y0, x1, y0), Rule(x0, y1, x1, y1))


def _flatten(container: Iterable[object]) -> Iterator[LTComponent]:
    for each in container:
        if isinstance(each, LTContainer):
            yield from _flatten(each)
        elif isinstance(each, LTComponent):
            yield each


def _figure() -> LTFigure:
    return LTFigure("", (0, 0, 0, 0), (1, 0, 0, 1, 0, 0))


def _turn_glyph(letter: LTChar, drawn: _Drawn) -> tuple[int, Glyph]:
    """Return the angle of a letter in degrees, and where it lies once the page is turned by it."""
    a, b, _, _, x, y = letter.matrix
    angle, text = round(math.degrees(math.atan2(b, a))), _letters(letter)
    if not angle:
        y0, y1 = letter.y0, letter.y1
        if drawn.shift and letter.size > _RAISED * drawn.shift.height:
            y0, y1 = y0 + drawn.shift.up, y0 + drawn.shift.up + drawn.shift.height
        return 0, Glyph(text, letter.x0, letter.x1, y0, y1, string=drawn.string)
    along, across = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    wide = letter.adv * math.hypot(a, b)
    if abs(across) > abs(along):
        high = (letter.width - wide * abs(along)) / abs(across)
    else:
        high = (letter.height - wide * abs(across)) / abs(along)
    left, bottom = x * along + y * across, y * along - x * across
    return angle, Glyph(text, left, left + wide, bottom, bottom + max(high, 1.0), string=drawn.string)


def _letters(letter: LTChar) -> str:
    """Return the text of a letter. Private ones that are not known are kept, as they may mark an item of a list."""
    text = letter.get_text()
    return read_symbols(text, letter.fontname, is_plain="symbol" in letter.fontname.lower()) or text


class _Fonts(PDFResourceManager):
    """Load fonts, with the signs of symbol fonts that do not say which their letters are."""

    def get_font(self, objid: object, spec: Mapping[str, object]) -> PDFFont:
        font, encoding = super().get_font(objid, spec), resolve1(spec.get("Encoding"))
        name = literal_name(resolve1(spec.get("BaseFont", "")))
        is_told = isinstance(encoding, dict) and "Differences" in encoding
        if isinstance(font, PDFSimpleFont) and font.unicode_map is None and not is_told and is_symbol_font(name):
            font.cid2unicode = {code: read_symbols(chr(0xF000 + code), name) for code in range(0x20, 0x100)}
        elif isinstance(font, PDFSimpleFont) and _name_encoding(encoding) == "WinAnsiEncoding":
            font.cid2unicode = {**dict.fromkeys(_UNUSED, "•"), **font.cid2unicode}
        return font


def _name_encoding(encoding: object) -> str:
    base = resolve1(encoding.get("BaseEncoding")) if isinstance(encoding, dict) else encoding
    return literal_name(base) if isinstance(base, PSLiteral) else ""


def _is_white(color: object) -> bool:
    if isinstance(color, int | float):
        return color >= _WHITE
    if not isinstance(color, tuple) or not all(isinstance(each, int | float) for each in color):
        return False
    return all(each <= 1 - _WHITE for each in color) if len(color) == 4 else all(each >= _WHITE for each in color)


def _is_ground(drawn: LTComponent) -> bool:
    """Return whether white letters can be seen on something."""
    return isinstance(drawn, LTImage) or (
        isinstance(drawn, LTCurve) and drawn.fill and not _is_white(drawn.non_stroking_color)
    )


def _layers_off(document: PDFDocument) -> frozenset[int]:
    """Return the numbers of the layers that are not shown when the document is opened."""
    layers = resolve1(document.catalog.get("OCProperties"))
    shown = resolve1(layers.get("D")) if isinstance(layers, dict) else None
    if not isinstance(shown, dict):
        return frozenset()
    off = {each.objid for each in resolve1(shown.get("OFF")) or () if isinstance(each, PDFObjRef)}
    if literal_name(shown.get("BaseState", "ON")) == "OFF":
        on = {each.objid for each in resolve1(shown.get("ON")) or () if isinstance(each, PDFObjRef)}
        off |= {each.objid for each in resolve1(layers.get("OCGs")) or () if isinstance(each, PDFObjRef)} - on
    return frozenset(off)
