"""Formatters of Telegram messages against the recorded cases: ours, and telegramify-markdown where it is installed.

    python -m bench.formatters CASES.jsonl

Prints how many of the cases of `telegram.markdown_html` and `telegram.chunk` each passes; see ADR 56.
"""

import importlib
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from kenobot.channels.telegram.markdown import parse_markdown
from kenobot.channels.telegram.split import split_message
from kenobot.ports.messages import TextEntity
from tests.unit.channels.telegram.html import as_html

_LIBRARY = "telegramify_markdown"

Formatter = Callable[[str], str]
Splitter = Callable[[str, int], Sequence[str]]


def main() -> None:
    cases = [json.loads(line) for name in sys.argv[1:] for line in Path(name).read_text("utf-8").splitlines()]
    _report("ours", cases, lambda text: as_html(*parse_markdown(text)), _split)
    try:
        library = importlib.import_module(_LIBRARY)
    except ImportError:
        sys.exit(f"{_LIBRARY} is not installed: pip install telegramify-markdown")
    _report(_LIBRARY, cases, partial(_library_html, library), partial(_library_split, library))


def _report(name: str, cases: Sequence[dict[str, Any]], form: Formatter, split: Splitter) -> None:
    formatted = [form(case["input"]) == case["expected"] for case in _plain(cases, "telegram.markdown_html")]
    cut = [_cut_alike(split, case) for case in _plain(cases, "telegram.chunk")]
    print(f"{name}: formatting {sum(formatted)} of {len(formatted)}, cutting {sum(cut)} of {len(cut)}")


def _plain(cases: Sequence[dict[str, Any]], area: str) -> list[dict[str, Any]]:
    """Return the cases whose recorded outcome is one to be wanted."""
    return [case for case in cases if case["area"] == area and "quirk" not in case]


def _cut_alike(split: Splitter, case: dict[str, Any]) -> bool:
    text = case["input"]["text"]
    if isinstance(text, dict):
        text = text.get("join", "").join([text["repeat"]] * text["times"])
    parts = split(text, case["input"]["max"])
    return len(parts) == len(case["expected"]) and all(
        len(part) == wanted["length"] if isinstance(wanted, dict) else part == wanted
        for part, wanted in zip(parts, case["expected"], strict=True)
    )


def _split(text: str, most: int) -> list[str]:
    return [part.text for part in split_message(text, (), most)]


def _library_html(library: Any, markdown: str) -> str:
    text, entities = library.convert(markdown)
    spans = [TextEntity(each.type, each.offset, each.length, each.url or each.language or "") for each in entities]
    spans.sort(key=lambda span: (span.offset, -span.length))
    try:
        return as_html(text, spans)
    except (AssertionError, KeyError):  # overlapping, or of a kind that the original knows not
        return ""


def _library_split(library: Any, text: str, most: int) -> list[str]:
    return [part for part, _ in library.split_entities(text, [], max_utf16_len=most)]


if __name__ == "__main__":
    main()
