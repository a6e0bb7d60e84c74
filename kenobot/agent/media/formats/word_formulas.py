"""Write the formulas of Word and PowerPoint (OMML) in a line. Pure."""

from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element

from kenobot.agent.media.formats.package import local
from kenobot.core.formulas import (
    Term,
    join_terms,
    write_fraction,
    write_over,
    write_root,
    write_scripts,
    write_table,
)

_M: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_VAL: Final = _M + "val"
_LEFT_OUT: Final = ("del", "moveFrom", "phant")
_MOST_DEPTH: Final = 100


def write_formula(element: Element) -> str:
    """Write a formula; several of one paragraph one after another."""
    if local(element) == "oMathPara":
        return "; ".join(filter(None, (write_formula(each) for each in element)))
    return _write(element, 0).text.strip()


def _write(element: Element | None, depth: int) -> Term:
    name = "" if element is None else local(element)
    if element is None or depth > _MOST_DEPTH or name in _LEFT_OUT or name.endswith("Pr"):
        return Term("")
    if name == "t":
        return Term(element.text or "")
    if name == "r":
        return Term("".join(_write(each, depth + 1).text for each in element))
    if element.tag == _M + "m":  # another namespace has one, around all
        return write_table([_write(cell, depth + 2) for cell in row] for row in element.iterfind(_M + "mr"))
    if name == "eqArr":
        return write_table([_write(row, depth + 1)] for row in element.iterfind(_M + "e"))
    if name == "d":
        return _write_fenced(element, [_write(each, depth + 1) for each in element.iterfind(_M + "e")])
    parts = {local(each): _write(each, depth + 1) for each in element if not local(each).endswith("Pr")}
    return _write_object(element, name, parts) or join_terms(_write(each, depth + 1) for each in element)


def _write_object(element: Element, name: str, parts: dict[str, Term]) -> Term | None:
    """Write an object of a kind that has its own form; None for any other."""
    base, below, above = (parts.get(each, Term("")) for each in ("e", "sub", "sup"))
    match name:
        case "f" if _property(element, "type") == "noBar":
            return Term("; ".join(parts.get(each, Term("")).text for each in ("num", "den")))
        case "f":
            return write_fraction(parts.get("num", Term("")), parts.get("den", Term("")))
        case "sSup" | "sSub" | "sSubSup":
            return write_scripts(base, below, above)
        case "sPre":
            return Term(write_scripts(Term(""), below, above).text + base.text, is_loose=True)
        case "rad":
            return write_root(base, parts.get("deg", Term("")).text)
        case "nary":
            return join_terms([write_scripts(Term(_property(element, "chr", "∫")), below, above), base])
        case "func":
            return join_terms([parts.get("fName", Term("")), base])
        case "limLow" | "limUpp":
            return write_over(base, parts.get("lim", Term("")), is_below=name == "limLow")
        case "acc" | "bar" | "groupChr":
            sign = "¯" if name == "bar" else _property(element, "chr", "\u0302" if name == "acc" else "⏟")
            place = _property(element, "pos", "bot")
            return write_over(base, Term(sign), is_below=name != "acc" and place == "bot")
    return None


def _write_fenced(element: Element, parts: Sequence[Term]) -> Term:
    opens, between, closes = (
        _property(element, name, usual) for name, usual in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
    )
    return Term(f"{opens}{between.join(each.text for each in parts)}{closes}")


def _property(element: Element, name: str, usual: str = "") -> str:
    """Return the value of a property. usual: where it is not there."""
    found = element.find(f"./{_M}{local(element)}Pr/{_M}{name}")
    return usual if found is None else found.get(_VAL, "")
