"""What holds for every reply that goes out to Telegram."""

import unicodedata
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from kenobot.channels.telegram.markdown import parse_markdown, utf16_length
from kenobot.channels.telegram.split import split_message
from kenobot.ports.messages import MessagePart, TextEntity
from tests.unit.channels.telegram.html import as_html

MARKS = [
    "\\",
    "_",
    "*",
    "**",
    "***",
    "~~",
    "`",
    "``",
    "```",
    "```py\n",
    "\n```\n",
    "[",
    "](http://x)",
    "# ",
    "---",
    "(",
    ")",
]
LETTERS = [
    "a",
    "b ",
    "word",
    "é",
    "e\u0301",
    "😀",
    "👩\u200d🚀",
    "🇪🇸",
    "\u200b",
    "\ud800",
    "\0",
    " ",
    "\n",
    "\n\n",
    "\u2028",
]
PIECES = st.sampled_from([*MARKS, *LETTERS])
MARKDOWN = st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=80))
LIMITS = st.integers(min_value=2, max_value=40)
Mark = tuple[str, str]


def formatting(text: str, spans: tuple[TextEntity, ...]) -> list[tuple[str, frozenset[Mark]]]:
    """Each character that is not white space, with the formatting over it."""
    at, out = 0, list[tuple[str, frozenset[Mark]]]()
    for char in text:
        marks: frozenset[Mark] = frozenset((s.kind, s.detail) for s in spans if s.offset <= at < s.offset + s.length)
        if not char.isspace():
            out.append((char, marks))
        at += utf16_length(char)
    return out


def is_seen(text: str) -> bool:
    return any(unicodedata.category(char) not in {"Cc", "Cf", "Zs", "Zl", "Zp"} for char in text)


@given(MARKDOWN)
def test_spans_are_sound(markdown: str) -> None:
    """Spans are in range, not empty, well nested, and never begin or end inside a surrogate pair."""
    text, spans = parse_markdown(markdown)
    text.encode()
    boundaries = {0}
    for char in text:
        boundaries.add(max(boundaries) + utf16_length(char))
    for span in spans:
        assert span.length > 0
        assert {span.offset, span.offset + span.length} <= boundaries
    as_html(text, spans)


@given(MARKDOWN)
def test_markdown_loses_only_marks(markdown: str) -> None:
    """Rendering adds no letter, and drops nothing but marks, addresses, languages and rules."""
    text, spans = parse_markdown(markdown)
    hidden = Counter(char for span in spans for char in span.detail)
    shown = Counter(char for char in text if char.isalpha())
    written = Counter(char for char in markdown if char.isalpha())
    assert shown <= written
    assert written <= shown + hidden


@given(MARKDOWN, LIMITS)
def test_parts_fit_and_lose_nothing(markdown: str, limit: int) -> None:
    """Every part fits and shows something; together they hold every visible character with its formatting."""
    text, spans = parse_markdown(markdown)
    parts = split_message(text, spans, limit)
    for part in parts:
        assert utf16_length(part.text) <= limit
        assert is_seen(part.text)
        as_html(part.text, part.entities)
    whole = [item for part in parts for item in formatting(part.text, part.entities)]
    assert [item for item in whole if is_seen(item[0])] == [i for i in formatting(text, spans) if is_seen(i[0])]


@given(st.lists(st.sampled_from(["a", "é", "e\u0301", "👩\u200d🚀", "👍🏽", "🇪🇸", "❤\ufe0f"]), max_size=40))
def test_no_part_ends_within_a_character(letters: list[str]) -> None:
    """Where every character fits into a part, none is cut."""
    parts = split_message("".join(letters), (), 8)
    at = 0
    for part in parts:
        end = at
        while "".join(letters[at:end]) != part.text:
            end += 1
            assert end <= len(letters)
        at = end
    assert at == len(letters)


@given(st.text(alphabet=" \n\t\u200b\u2060", max_size=30), LIMITS)
def test_nothing_to_see_makes_no_part(text: str, limit: int) -> None:
    """Telegram would refuse a blank message, so there is none."""
    parts: list[MessagePart] = split_message(text, (), limit)
    assert parts == []
