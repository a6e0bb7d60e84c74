"""Detect tags that quote other texts, such as web pages and forwarded messages, and must not act.

Once such a text holds a known tag in any disguise, every element whose content also stands in it counts as quoted.
"""

import html
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cached_property

# Characters without width: controls, zero-width and direction marks, fillers, variation selectors, the Tags block.
_UNSEEN = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_VISIBLE = re.compile(rf"[^\s{_UNSEEN}]")
# Also dropped: ligatures and squared words, because normalising makes four to eighteen letters of each; and lone
# surrogates with what stands in for them, because a reply has lost its own by now.
_NOT_COMPARED = re.compile(f"[{_UNSEEN}\u3300-\u3357\ufdf0-\ufdff\ud800-\udfff\ufffd]+")
# Letters of the Tags block are ASCII that models read and people do not see.
_TAGS_BLOCK = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
_IN_TAGS_BLOCK = re.compile("[\U000e0020-\U000e007e]")
# Normalising a base with n marks costs n² steps; thirty is what Unicode itself calls enough for any language.
# Whatever is no letter, and is not in the large blocks that hold no marks: those are listed only to be quick.
_MARKS = r"^\x00-\u02ff\u3400-\u9fff\uac00-\ud7a3\w\s"
_TOO_MANY_MARKS = re.compile(rf"([{_MARKS}]{{30}})[{_MARKS}]++")
_REFERENCE = re.compile(r"(&(?:#[0-9]++|#[xX][0-9a-fA-F]++|[a-zA-Z][a-zA-Z0-9]{1,31}+);?)")
_PADDING = re.compile(r"#([xX]?)0+(?=[0-9a-fA-F])")
_LONGEST_REFERENCE = 40
_AMPERSANDS = "&＆﹠"
_MOST_AMPERSANDS = 10_000
_MOST_NOT_COMPARED = 100_000
_EDGES = " .,:;!¡?¿…'\"`´*_~()[]{}«»“”‘’-–—"
_UNWRAPPINGS = 3
# Python's search in fewer than 30,000 characters can take as many steps as the product of both lengths.
_SHORTEST_SEARCHED = 30_000
_EFFORT = 20_000_000
_LEAST_EFFORT = 100_000
_SEPARATOR = "\0"


def normalize(text: str) -> str:
    """Normalise `text`: entities and compatibility forms resolved, nothing invisible, one case, single blanks."""
    for _ in range(_UNWRAPPINGS):
        text = _NOT_COMPARED.sub("", text)
        if not text.isascii():
            # Letters are taken apart from their marks, because putting them together takes ten times as long.
            text = unicodedata.normalize("NFKD", _TOO_MANY_MARKS.sub(r"\1", text))
        wrapped, text = text, _unescaped(text)
        if text == wrapped:
            break
    else:
        text = _NOT_COMPARED.sub("", text)
    return " ".join(text.casefold().split())


def _unescaped(text: str) -> str:
    """Resolve HTML entities, each kind once, because html.unescape() is slow."""
    if "&" not in text:
        return text
    pieces = _REFERENCE.split(text)
    resolved = {reference: _resolved(reference) for reference in set(pieces[1::2])}
    pieces[1::2] = [resolved[reference] for reference in pieces[1::2]]
    return "".join(pieces)


def _resolved(reference: str) -> str:
    if len(reference) > _LONGEST_REFERENCE:
        # A number that is no character without its zeros either; of thousands of digits Python makes no number at all.
        reference = _PADDING.sub(r"#\1", reference)[:_LONGEST_REFERENCE]
    return html.unescape(reference)


def is_blank(text: str) -> bool:
    """Return whether a person sees nothing of `text`."""
    return _VISIBLE.search(text) is None


class QuotationCheck:
    """Compares elements with the untrusted texts of a turn.

    Where that would take too long, with hundreds of elements, ten thousand HTML entities or a hundred thousand
    invisible characters, everything counts as quoted.
    """

    def __init__(self, names: Mapping[str, str], untrusted: Sequence[str]) -> None:
        self._names = {name.removesuffix("/"): canonical for name, canonical in names.items()}
        self._untrusted = untrusted
        self._effort = 0

    def __call__(self, name: str, pieces: Sequence[str]) -> bool:
        """Return whether an element, by its name and the pieces of its content, is a quotation."""
        if self._is_flood:
            return True
        if not self._mentioned:
            return False
        self._effort += len(pieces) * max(len(self._haystack), _LEAST_EFFORT)
        self._effort += _ampersands(pieces) * (_EFFORT // _MOST_AMPERSANDS)
        if self._effort > _EFFORT:
            return True
        sought = [text for piece in pieces if (text := normalize(piece).strip(_EDGES))]
        return all(text in self._haystack for text in sought) if sought else name in self._mentioned

    @cached_property
    def _is_flood(self) -> bool:
        return (
            _ampersands(self._untrusted) > _MOST_AMPERSANDS
            or sum(len(_NOT_COMPARED.findall(text)) for text in self._untrusted) > _MOST_NOT_COMPARED
        )

    @cached_property
    def _haystack(self) -> str:
        readings = (reading for text in self._untrusted for reading in _readings(text))
        return _SEPARATOR.join(normalize(reading) for reading in readings).ljust(_SHORTEST_SEARCHED, _SEPARATOR)

    @cached_property
    def _mentioned(self) -> frozenset[str]:
        name = "|".join(re.escape(name) for name in self._names) or "(?!)"
        markup = re.compile(rf"<[\s/]*+({name})(?![\w-])")
        text = self._haystack
        for look_alike in "‹〈⟨❮":
            text = text.replace(look_alike, "<")
        return frozenset(self._names[name] for name in set(markup.findall(text)))


def _readings(text: str) -> tuple[str, ...]:
    return (text, text.translate(_TAGS_BLOCK)) if _IN_TAGS_BLOCK.search(text) else (text,)


def _ampersands(texts: Sequence[str]) -> int:
    return sum(text.count(sign) for text in texts for sign in _AMPERSANDS)
