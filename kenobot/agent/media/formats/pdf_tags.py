"""Read from the structure of a tagged PDF which of its text is raised or lowered."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from pdfminer.data_structures import NumberTree
from pdfminer.pdfdocument import PDFDocument
from pdfminer.pdfpage import PDFPage
from pdfminer.pdftypes import resolve1
from pdfminer.psparser import PSException

_MOST: Final = 100_000  # pages and pieces of them


class Shift(NamedTuple):
    """Measure how far a text is raised above its line, and how high its letters are, in the units of the page."""

    up: float
    height: float


class Shifts:
    """Look up what a document says of its raised text: its font may have letters of their own for it."""

    def __init__(self, document: PDFDocument) -> None:
        root = resolve1(document.catalog.get("StructTreeRoot"))
        tree = root.get("ParentTree") if isinstance(root, Mapping) else None
        try:
            found = NumberTree(tree).values if tree is not None else []
        except (PSException, TypeError, ValueError, RecursionError):
            found = []
        self._elements = dict(found[:_MOST])

    def find(self, page: PDFPage, content: int) -> Shift | None:
        """Return the shift of a marked content of a page, if it has one."""
        elements = resolve1(self._elements.get(resolve1(page.attrs.get("StructParents"))))
        if not isinstance(elements, list) or not 0 <= content < len(elements):
            return None
        element = resolve1(elements[content])
        given = resolve1(element.get("A")) if isinstance(element, Mapping) else None
        for each in map(resolve1, given if isinstance(given, list) else [given]):
            if isinstance(each, Mapping):
                up, height = resolve1(each.get("BaselineShift")), resolve1(each.get("LineHeight"))
                if isinstance(up, int | float) and isinstance(height, int | float) and up and height > 0:
                    return Shift(float(up), float(height))
        return None
