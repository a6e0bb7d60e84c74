"""Write the formulas of MathML in a line."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final
from xml.etree.ElementTree import Element

from kenobot.core.formulas import (
    NOTHING,
    Term,
    join_terms,
    write_fraction,
    write_over,
    write_root,
    write_scripts,
    write_table,
)

_UNSEEN: Final = str.maketrans({"\u2061": "", "\u2062": "", "\u2063": ",", "\u2064": " "})
_VOID: Final = ("mspace", "none", "mprescripts", "mglyph", "malignmark", "maligngroup")
_LEFT_OUT: Final = ("annotation", "annotation-xml", "mphantom", "none", "mprescripts")
_MOST_DEPTH: Final = 100
_FORMS: Final[Mapping[str, Callable[..., Term]]] = {
    "mfrac": write_fraction,
    "msup": lambda base, above: write_scripts(base, above=above),
    "msub": write_scripts,
    "msubsup": write_scripts,
    "munderover": write_scripts,
    "mover": write_over,
    "munder": lambda base, below: write_over(base, below, is_below=True),
    "mroot": lambda base, degree: write_root(base, degree.text),
}
"""How what has parts of a fixed number is written."""
_PARTS: Final = {"msubsup": 3, "munderover": 3}


def write_mathml(element: Element) -> str:
    """Write a formula of MathML."""
    return _write(element, 0).text.strip()


def _write(element: Element, depth: int) -> Term:
    name = element.tag.rpartition("}")[2].rpartition(":")[2].lower()
    if depth > _MOST_DEPTH or name in ("mi", "mn", "mo", "mtext", "ms"):
        return _write_letters(element, name)
    if name in _LEFT_OUT or name == "mspace":
        return Term(" ") if name == "mspace" else NOTHING
    if name == "mtable":
        return write_table([_write(cell, depth + 2) for cell in row] for row in element)
    parts = [_write(each, depth + 1) for each in element]
    if name in ("semantics", "maction"):
        return next(iter(parts), NOTHING)
    if name == "mmultiscripts":
        return _write_multiscripts(element, parts)
    return _write_layout(element, name, parts)


def _write_layout(element: Element, name: str, parts: list[Term]) -> Term:
    if name == "mfrac" and element.get("linethickness", "1").strip("ptxem ") == "0":
        return Term("; ".join(each.text for each in parts))  # as of a binomial coefficient
    if name in _FORMS and len(parts) == _PARTS.get(name, 2):
        return _FORMS[name](*parts)
    if name == "msqrt":
        return write_root(join_terms(parts))
    if name == "mfenced":
        between = f"{element.get('separators', ',').strip()[:1]} ".lstrip()
        return Term(f"{element.get('open', '(')}{between.join(each.text for each in parts)}{element.get('close', ')')}")
    return join_terms(parts)


def _write_letters(element: Element, name: str) -> Term:
    letters = "".join(element.itertext()).translate(_UNSEEN)
    return Term(letters.replace("\u00a0", " ") if name in ("mtext", "ms") else "".join(letters.split()))


def _write_multiscripts(element: Element, parts: Sequence[Term]) -> Term:
    """Write what has indices and exponents on both sides, as an isotope has."""
    names = [each.tag.rpartition("}")[2].rpartition(":")[2] for each in element]
    at = names.index("mprescripts") if "mprescripts" in names else len(names)
    before, behind = parts[at + 1 :], parts[1:at]
    base = Term(write_scripts(NOTHING, _glue(before[::2]), _glue(before[1::2])).text + _glue(parts[:1]).text)
    return write_scripts(base, _glue(behind[::2]), _glue(behind[1::2]))._replace(is_loose=True)


def _glue(terms: Sequence[Term]) -> Term:
    return Term("".join(each.text for each in terms))


class MathBuilder:
    """Builds the formula of a page from its tags and texts."""

    def __init__(self) -> None:
        self._root = Element("math")
        self._open = [self._root]  # bounded: one page; turn

    def start(self, tag: str, given: Mapping[str, str], *, is_closed: bool) -> None:
        """Begin an element. is_closed: it holds nothing."""
        element = Element(tag, dict(given))
        self._open[-1].append(element)
        if not is_closed and tag not in _VOID and len(self._open) < _MOST_DEPTH:
            self._open.append(element)

    def end(self, tag: str) -> None:
        """End an element, and what is open within it."""
        at = next((at for at in range(len(self._open) - 1, 0, -1) if self._open[at].tag == tag), 0)
        if at:
            del self._open[at:]

    def add(self, words: str) -> None:
        """Add a text."""
        inside = self._open[-1]
        if len(inside):
            inside[-1].tail = (inside[-1].tail or "") + words
        else:
            inside.text = (inside.text or "") + words

    def write(self) -> str:
        """Write the formula in a line."""
        return write_mathml(self._root)
