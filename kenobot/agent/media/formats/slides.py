"""Read PowerPoint slides: their shapes with groups, tables, charts and diagrams, notes and comments."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from kenobot.agent.media.formats.package import Package, add_text, chart_lines, is_on, join_text, local
from kenobot.agent.media.formats.slide_order import find_placeholders, order_shapes
from kenobot.agent.media.formats.word import diagram_lines
from kenobot.agent.media.formats.word_formulas import write_formula
from kenobot.core.list_numbers import write_number
from kenobot.core.symbol_fonts import read_symbols
from kenobot.core.table_rows import write_row

_A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P: Final = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def read_slides(path: Path) -> Iterator[str]:
    """Yield the lines of each slide under its number. What every slide of a layout shows comes once."""
    package = Package(path)
    main = package.main_part()
    presentation = package.load(main)
    if presentation is None:
        raise ValueError("no presentation")
    relations, shown = package.relations(main), set[str]()
    for number, each in enumerate(presentation.iterfind(f"{_P}sldIdLst/{_P}sldId"), 1):
        relation = relations.get(each.get(_R + "id", ""))
        slide = None if relation is None else package.load(relation.part)
        if relation is None or slide is None:
            continue
        if not is_on(slide, "show"):
            yield f"# {number} [a hidden slide, which is left out]"
            continue
        yield f"# {number}"
        yield from _Shapes(package, relation.part).lines(slide)
        yield from _iterate_beside(package, relation.part)
        if is_on(slide, "showMasterSp"):
            yield from _read_background(package, relation.part, shown)


class _Shapes:
    """The shapes of one part. is_layout: leave out the placeholders, which a slide fills itself."""

    def __init__(self, package: Package, part: str, *, is_layout: bool = False) -> None:
        self._package = package
        self._part = part
        self._relations = package.relations(part)
        self._is_layout = is_layout

    def lines(self, root: Element) -> Iterator[str]:
        """Yield the lines of all shapes, in their order."""
        tree = root.find(f"{_P}cSld/{_P}spTree")
        yield from self._shapes(order_shapes(tree if tree is not None else (), self._find_inherited()))

    def _find_inherited(self) -> list[dict[str, Element]]:
        """Return the placeholders of the layout and of the master."""
        layouts = self._package.find_related(self._part, "slideLayout")
        masters = [each for layout in layouts for each in self._package.find_related(layout, "slideMaster")]
        return [find_placeholders(self._package.load(each)) for each in (*layouts, *masters)]

    def _shapes(self, shapes: Iterable[Element]) -> Iterator[str]:
        for shape in shapes:
            name = local(shape)
            if name == "AlternateContent":
                yield from self._shapes(next(iter(shape), ()))
            elif self._is_left_out(shape):
                continue
            elif name == "grpSp":
                yield from self._shapes(order_shapes(shape))
            elif name in ("sp", "cxnSp"):
                yield from text_lines(shape.find(_P + "txBody"))
            elif name == "graphicFrame":
                yield from self._frame(shape)

    def _is_left_out(self, shape: Element) -> bool:
        named = shape.find(f"./*/{_P}cNvPr")
        if named is not None and named.get("hidden") in ("1", "true"):
            return True
        return self._is_layout and shape.find(f"./*/{_P}nvPr/{_P}ph") is not None

    def _frame(self, frame: Element) -> Iterator[str]:
        for each in frame.iter():
            match local(each):
                case "tbl":
                    for row in each.iterfind(_A + "tr"):
                        if line := write_row(map(_cell, row.iterfind(_A + "tc"))):
                            yield line
                    return
                case "chart" | "relIds" as name:
                    relation = self._relations.get(each.get(_R + ("id" if name == "chart" else "dm"), ""))
                    part = None if relation is None else self._package.load(relation.part)
                    if part is not None:
                        yield from chart_lines(part) if name == "chart" else diagram_lines(part)
                    return


def text_lines(body: Element | None) -> Iterator[str]:
    """Yield the paragraphs of a text body, with the numbers of lists."""
    counts: dict[int, int] = {}
    for paragraph in body.iterfind(_A + "p") if body is not None else ():
        text = join_text(_inline(paragraph))
        if not text.strip():
            continue
        properties = paragraph.find(_A + "pPr")
        level = 0 if properties is None else int(properties.get("lvl", "0"))
        numbered = None if properties is None else properties.find(_A + "buAutoNum")
        counts = {
            each: count for each, count in counts.items() if each < level or (each == level and numbered is not None)
        }
        if numbered is None:
            yield text
            continue
        counts[level] = counts.get(level, int(numbered.get("startAt", "1")) - 1) + 1
        form = numbered.get("type", "arabicPeriod")
        number, end = write_number(counts[level], form), ")" if "Paren" in form else "." if "Period" in form else ""
        yield f"{'(' if form.endswith('ParenBoth') else ''}{number}{end} {text}"


def _inline(paragraph: Element) -> list[str]:
    line = list[str]()
    for child in paragraph:
        match local(child):
            case "r" | "fld":
                look = child.find(_A + "rPr")
                raised = look is not None and not look.get("baseline", "0").startswith(("0", "-"))
                struck = look is not None and look.get("strike", "noStrike") != "noStrike"
                fonts = () if look is None else (look.find(_A + "sym"), look.find(_A + "latin"))
                font = next((each.get("typeface", "") for each in fonts if each is not None), "")
                for each in child.iterfind(_A + "t"):
                    add_text(line, read_symbols(each.text or "", font), is_raised=raised, is_struck=struck)
            case "br":
                line.append("\n")
            case "m" | "AlternateContent":
                line.append(write_formula(next(iter(child), child) if local(child) == "AlternateContent" else child))
    return line


def _cell(cell: Element) -> str:
    if "1" in (cell.get("hMerge"), cell.get("vMerge")) or "true" in (cell.get("hMerge"), cell.get("vMerge")):
        return ""
    return "\n".join(text_lines(cell.find(_A + "txBody")))


def _iterate_beside(package: Package, part: str) -> Iterator[str]:
    """Yield the speaker's notes of a slide and its comments."""
    for notes in package.find_related(part, "notesSlide"):
        root = package.load(notes)
        for shape in root.iter(_P + "sp") if root is not None else ():
            place = shape.find(f"./*/{_P}nvPr/{_P}ph")
            if place is not None and place.get("type") == "body":
                for line in text_lines(shape.find(_P + "txBody")):
                    yield f"[speaker's notes] {line}"
    for comments in package.find_related(part, "comments"):
        root = package.load(comments)
        for comment in root.iter() if root is not None else ():
            if local(comment) in ("cm", "reply"):
                own = (each for child in comment if local(child) in ("text", "txBody") for each in child.iter())
                if text := "".join(each.text or "" for each in own if local(each) in ("text", "t")):
                    yield f"[comment: {text}]"


def _read_background(package: Package, part: str, shown: set[str]) -> Iterator[str]:
    """Yield the lines of a slide's layout and master, once for all slides."""
    for layout in package.find_related(part, "slideLayout"):
        root = package.load(layout)
        masters = package.find_related(layout, "slideMaster") if is_on(root, "showMasterSp") else []
        for each in (layout, *masters):
            background = None if each in shown else package.load(each)
            shown.add(each)
            if background is not None:
                for line in _Shapes(package, each, is_layout=True).lines(background):
                    yield f"[on the slides of this layout] {line}"
