"""Cutting a formatted text into parts."""

from typing import Any

import pytest

from kenobot.channels.telegram.markdown import parse_markdown
from kenobot.channels.telegram.split import split_message
from kenobot.ports.messages import MessagePart, TextEntity
from tests.unit.channels.telegram.cases import conformance


def texts(text: str, limit: int) -> list[str]:
    return [part.text for part in split_message(text, (), limit)]


@conformance("telegram.chunk")
def test_cuts_where_the_original_cuts(case: dict[str, Any]) -> None:
    """Parts are the original's, except that leading white space of a part's first line is kept."""
    text = case["input"]["text"]
    if isinstance(text, dict):
        text = text.get("join", "").join([text["repeat"]] * text["times"])
    parts = texts(text, case["input"]["max"])
    if "quirk" in case:
        parts = [part.strip() for part in parts]
    assert len(parts) == len(case["expected"])
    for part, expected in zip(parts, case["expected"], strict=True):
        assert len(part) == expected["length"] if isinstance(expected, dict) else part == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("one two\n\nthree\nfour", 15, ["one two", "three\nfour"]),
        ("a\n\nbcdefg\nhi", 10, ["a\n\nbcdefg", "hi"]),
        ("one two three", 8, ["one two", "three"]),
        ("a\n  indented", 10, ["a", "  indented"]),
        ("abc   def", 5, ["abc", "def"]),
        ("\n\n\nabcdef\n\n\n", 6, ["abcdef"]),
        ("   \n \n", 2, []),
        ("\u200b\u2060", 4, []),
        ("", 4, []),
    ],
)
def test_prefers_paragraphs_then_lines_then_words(text: str, limit: int, expected: list[str]) -> None:
    """The cut falls on the best boundary that fits, and its white space goes."""
    assert texts(text, limit) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("aaa😀", 4, ["aaa", "😀"]),
        ("aaae\u0301b", 4, ["aaa", "e\u0301b"]),
        ("aa👩\u200d🚀", 6, ["aa", "👩\u200d🚀"]),
        ("aa👍🏽", 5, ["aa", "👍🏽"]),
        ("a❤\ufe0f", 2, ["a", "❤\ufe0f"]),
        ("🇪🇸🇫🇷🇩🇪", 6, ["🇪🇸", "🇫🇷", "🇩🇪"]),
        ("e" + "\u0301" * 9, 4, ["e" + "\u0301" * 3, "\u0301" * 4, "\u0301" * 2]),
    ],
)
def test_keeps_together_what_a_reader_sees_as_one_character(text: str, limit: int, expected: list[str]) -> None:
    """Accents, joined emoji and flags are cut only when they alone are longer than a part."""
    assert texts(text, limit) == expected


def test_formatting_continues_after_a_cut() -> None:
    """A code block that is cut is code in both parts, with its language; offsets start anew."""
    text, spans = parse_markdown("😀\n```py\nab\ncd\n```")
    assert split_message(text, spans, 5) == [
        MessagePart("😀\nab", (TextEntity("pre", 3, 2, "py"),)),
        MessagePart("cd\n", (TextEntity("pre", 0, 3, "py"),)),
    ]


@pytest.mark.parametrize(
    ("markdown", "limit", "expected"),
    [
        ("one two\n```\nab\ncd\n```", 12, ["one two", "ab\ncd\n"]),
        ("one `two three` four", 12, ["one", "two three", "four"]),
        ("see [the long page](https://a.b)", 15, ["see", "the long page"]),
        ("- aa bb\n  cc\n- dd ee\n  ff\n- gg", 20, ["- aa bb\n  cc", "- dd ee\n  ff\n- gg"]),
        ("- aa\n- bb\n  - cc\n  - dd\n- ee", 22, ["- aa", "- bb\n  - cc\n  - dd", "- ee"]),
        ("1. aaa bbb\n\n2. ccc ddd", 16, ["1. aaa bbb", "2. ccc ddd"]),
        ("aa\n| b | c |\n|---|---|\n| d | e |\nff", 30, ["aa", "| b | c |\n|---|---|\n| d | e |", "ff"]),
        ("aaaa aaaa\n# bb\n\ncc dd\nee", 20, ["aaaa aaaa", "bb\n\ncc dd\nee"]),
        ("aaaa\n# bb\n```\ncc\ndd\n```", 12, ["aaaa", "bb\ncc\ndd\n"]),
        ("- aaaa bbbb cccc", 8, ["- aaaa", "bbbb", "cccc"]),
    ],
)
def test_keeps_together_what_belongs_together(markdown: str, limit: int, expected: list[str]) -> None:
    """Code, links, items with what is in them, tables, headings with what follows; unless a part cannot hold it."""
    text, spans = parse_markdown(markdown)
    assert [part.text for part in split_message(text, spans, limit)] == expected


def test_a_long_reply_is_cut_in_no_time_to_speak_of() -> None:
    """A hundred thousand characters of what is kept together, cut into parts that all fit."""
    text, spans = parse_markdown("# a\n- **b** `c` [d](https://e.f)\n  - g\n| h |\n|---|\n" * 2000)
    parts = split_message(text, spans)
    assert max(len(part.text) for part in parts) <= 4096
    assert "".join("".join(part.text.split()) for part in parts) == "".join(text.split())


def test_a_short_text_is_one_part_as_it_is() -> None:
    """What fits is not touched."""
    text, spans = parse_markdown("**a** b\n")
    assert split_message(text, spans) == [MessagePart("a b\n", (TextEntity("bold", 0, 1),))]


def test_the_limit_is_telegrams_in_utf16_units() -> None:
    """4096 units are one message, one more makes two."""
    assert [len(part.text) for part in split_message("a" * 4096)] == [4096]
    assert [len(part.text) for part in split_message("😀" * 2048 + "a")] == [2048, 1]
