"""Read from the styles of a web page whether, and how, its text is shown. Pure."""

import re
from collections.abc import Mapping
from typing import Final

from kenobot.core import lazy

_SELECTOR = lazy.regex(r"([a-z][\w-]*)?([.#][\w-]+)?", re.IGNORECASE)
_COMMENT = lazy.regex(r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|$)")
_BRACES = lazy.regex(r"[{}]")
_SIZE = lazy.regex(r"(?<![\w.])(\d*\.?\d+)(?:px|pt|r?em|%|\s*(?:/|$))")
_NO_SIZE = lazy.regex(r"0*\.?0*(?:px|pt|r?em|%)?")
_HIDING: Final[Mapping[str, tuple[str, ...]]] = {
    "display": ("none",),
    "visibility": ("hidden", "collapse"),
    "mso-hide": ("all",),
}
_MOST_VALUE: Final = 300  # characters


def read_style(written: str) -> dict[str, str]:
    """Return the properties of a style by their names."""
    properties: dict[str, str] = {}
    for each in written.split(";"):
        name, _, value = each.partition(":")
        value = value[:_MOST_VALUE].partition("!")[0].strip()
        if value:
            properties[name.strip().lower()] = value.lower() if "font" not in name else value
    return properties


def hides(style: Mapping[str, str]) -> bool:
    """Return whether a style hides its element."""
    if any(style.get(name) in values for name, values in _HIDING.items()):
        return True
    opacity = style.get("opacity", "")
    clipped = "hidden" in (style.get("overflow"), style.get("overflow-y"))
    heights = (style.get(name, "") for name in ("height", "max-height"))
    return (bool(opacity) and _NO_SIZE.fullmatch(opacity) is not None) or (
        clipped and any(each and _NO_SIZE.fullmatch(each) for each in heights)
    )


def text_size(style: Mapping[str, str]) -> float | None:
    """Return the size of letters, of whatever unit; None where a style does not say."""
    found = _SIZE.search(style.get("font-size", style.get("font", "")).lower())
    return float(found[1]) if found else None


def is_struck(style: Mapping[str, str]) -> bool:
    """Return whether a style strikes text out."""
    return "line-through" in style.get("text-decoration", "") + style.get("text-decoration-line", "")


def keeps_lines(style: Mapping[str, str], outer: bool) -> bool:
    """Return whether line breaks are shown. outer: whether they are in the element around."""
    space = style.get("white-space", "")
    return outer if not space else space.startswith(("pre", "break-spaces"))


def find_hidden(sheet: str, hidden: set[str]) -> None:
    """Add the names that the plain rules of a style sheet hide to those of earlier ones."""
    sheet, depth, begin, prelude = _COMMENT.sub("", sheet), 0, 0, ""
    for brace in _BRACES.finditer(sheet):
        if brace[0] == "{":
            if not depth:
                prelude = sheet[begin : brace.start()].rpartition(";")[2].strip()
                begin = brace.end()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                if not prelude.startswith("@"):
                    _add_rule(prelude, sheet[begin : brace.start()], hidden)
                begin = brace.end()
        else:
            begin = brace.end()


def _add_rule(selectors: str, rule: str, hidden: set[str]) -> None:
    is_hiding = hides(read_style(rule))
    for selector in selectors.split(","):
        name = selector.strip()
        if name and _SELECTOR.fullmatch(name) and name not in ("body", "html"):
            (hidden.add if is_hiding else hidden.discard)(name)
