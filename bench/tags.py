"""How long the tag scanner takes over a megabyte of every hostile text we could think of: `python -m bench.tags`."""

import sys
import time

from kenobot.postprocessors.scanner import scan

MEGABYTE = 1_000_000
NAMES = {
    "memory": "memory",
    "chat-memory": "chat-memory",
    "working-memory": "working-memory",
    "chat-context": "chat-context",
    "user-update": "user-update",
    "user": "user-update",
    "update-preferences": "user-update",
    "bootstrap-complete/": "bootstrap-complete",
}


def filled(unit: str) -> str:
    """A megabyte of `unit`."""
    return unit * (MEGABYTE // len(unit))


def balanced(opener: str, closer: str) -> str:
    """A megabyte of openers and then as many closers."""
    count = MEGABYTE // len(opener + closer)
    return opener * count + closer * count


TAG = "<memory>x</memory>"
TEXTS = {
    "openers": filled("<memory>"),
    "broken openers": filled("<memory"),
    "openers with attributes": filled("<memory a>"),
    "broken attributes": filled("<memory a "),
    "closers": filled("</memory>"),
    "brackets": filled("<"),
    "brackets with blanks": filled("< "),
    "one bracket, then blanks": "<" + " " * MEGABYTE + "memory",
    "backticks": filled("`"),
    "backticks and a tag": filled("` ") + TAG,
    "unclosed backtick runs": "".join("`" * size + " " for size in range(1, 1400)) + TAG,
    "fences": filled("```\n"),
    "fences and a tag": filled("```\n") + TAG,
    "unclosed fences": "".join("`" * size + "a\n" for size in range(1400, 2, -1)) + TAG,
    "line breaks": filled("\n") + TAG + filled("\n"),
    "nested, one name": balanced("<memory>", "</memory>"),
    "nested, two names": balanced("<memory><chat-memory>", "</chat-memory></memory>"),
    "overlapping": balanced("<memory><chat-memory>", "</memory></chat-memory>"),
    "nested unclosed": f"<memory>{filled('<chat-memory>')}</memory>",
    "ten thousand tags": "".join(f"<memory>fact {number}</memory> " for number in range(10_000)),
    "one tag of a megabyte": f"<memory>{'a' * MEGABYTE}</memory>",
    "markup formed by removal": filled("<mem<memory>x</memory>ory>"),
    "cut openers": filled("<memo"),
    "placeholders": filled("<user>"),
    "prose": filled("What a fine day it is, <b>indeed</b>. "),
}


def main() -> int:
    """Print the milliseconds for each text, best of three."""
    for title, text in TEXTS.items():
        best = min(timed(text) for _ in range(3))
        print(f"{title:28} {len(text):>9,} characters {best:8.1f} ms")
    return 0


def timed(text: str) -> float:
    start = time.perf_counter()
    scan(text, NAMES)
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    sys.exit(main())
