"""Split HTML into its tags and texts, in a time that is linear in its length however it is written. Pure."""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Final, NamedTuple

from kenobot.core import lazy

_TAG = lazy.regex(
    r"<(?P<end>/?)(?P<name>[a-zA-Z][^\s/<>]*+)(?P<given>(?:[^\"'<>]++|\"[^\"]*+\"|'[^']*+')*+)>"
    r"|<(?P<loose>/?[a-zA-Z][^<>]*+)>|<(?P<other>!--|[!?][^<>]*+>|/[^<>]*+>)|(?P<text>[^<]++|<)"
)
_GIVEN = lazy.regex(r"(?P<name>[^\s/=<>\"']++)(?:\s*+=\s*+(?:\"(?P<a>[^\"]*+)\"|'(?P<b>[^']*+)'|(?P<c>[^\s\"'>]++)))?")
_RAW: Final = frozenset("script style xmp iframe noembed noframes".split())  # whose content is no markup
_PLAIN: Final = frozenset("title textarea".split())  # whose content is text


class Token(NamedTuple):
    """A text, or a tag by its name: with a "/" before it where it ends an element.

    is_closed: it says that it holds nothing, which counts outside of HTML's own elements alone.
    """

    tag: str
    text: str = ""
    given: Mapping[str, str] = {}  # bounded: the attributes of one tag; turn
    is_closed: bool = False


def read_tokens(html: str) -> Iterator[Token]:
    """Yield the tags and texts. Comments and declarations are left out."""
    at, ends = 0, dict[str, int]()
    while (found := _TAG.match(html, at)) is not None:
        at = found.end()
        if (text := found["text"]) is not None:
            yield Token("", unescape(text))
        elif found["other"] == "!--":
            end = html.find("-->", max(at - 2, 0))
            at = len(html) if end < 0 else end + 3
        elif found["other"] is None:
            name = (found["name"] or (re.split(r"[\s/]", (found["loose"] or "").lstrip("/"), maxsplit=1)[0])).lower()
            is_end = bool(found["end"]) or (found["loose"] or "").startswith("/")
            given = found["given"] or ""
            yield Token(f"/{name}") if is_end else Token(name, "", _attributes(given), given.endswith("/"))
            if not is_end and name in _RAW | _PLAIN:
                end = _find_end(html, name, at, ends)
                yield Token("", unescape(html[at:end]) if name in _PLAIN else html[at:end])
                at = end


def _attributes(written: str) -> dict[str, str]:
    """Return the attributes of a tag, the first of each name."""
    given: dict[str, str] = {}
    for found in _GIVEN.finditer(written):
        value = next((found[group] for group in ("a", "b", "c") if found[group] is not None), "")
        given.setdefault(found["name"].lower(), unescape(value))
    return given


def _find_end(html: str, name: str, at: int, ends: dict[str, int]) -> int:
    """Return where an element ends whose content is no markup. ends: where there are no more of a name."""
    if ends.get(name, at + 1) <= at:
        return len(html)
    found = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(html, at)
    if found is None:
        ends[name] = at
        return len(html)
    return found.start()
