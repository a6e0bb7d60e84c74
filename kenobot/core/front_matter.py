"""Render and parse front matter, the lines between `---` and `---` at the head of a Markdown file. Pure.

What is written is JSON where a plain word will not do, and so YAML as well. What is read is what people and their
editors make of that: quotes of both kinds, lists and maps on one line or below each other, comments, any line ends.
What is not asked for by name is kept as it is.
"""

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from kenobot.core import lazy
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json

LineEnding = Literal["\n", "\r\n", "\r"]

_KEY = lazy.regex(r"([^\W\d][\w.-]*)[ \t]*:(?:[ \t]+(.*))?")
_PLAIN = lazy.regex(r"[^\W\d_](?:[\w .+#/@%-]*[\w+#%])?")
_ENCODER = json.JSONEncoder(ensure_ascii=False)
_UNSAFE = lazy.regex("[\x7f-\x9f\u2028\u2029\ufeff]")  # line ends to YAML, and what it does not allow
_MEANT = frozenset({"true", "false", "null", "yes", "no", "on", "off", "none"})
_ITEM = lazy.regex(r"[ \t]*-[ \t]+(.*)")
_ENTRY = lazy.regex(r"""[ \t]+("(?:[^"\\]|\\.)*"|'[^']*'|[^:"'\[{][^:]*?)[ \t]*:(?:[ \t]+(.*))?""")


class UnusableFileError(ValueError):
    """The text of a file cannot be understood; `str` says why, as the end of a sentence about the file."""


@dataclass(frozen=True, slots=True)
class FrontMatterPage:
    """A text in its parts. values: by the names asked for; None when there is no front matter at all.

    extra_lines: the other lines of the front matter, as they are.
    """

    values: dict[str, Json] | None
    extra_lines: tuple[str, ...]
    body: str


def line_ending_of(text: str) -> LineEnding:
    pairs = text.count("\r\n")
    counts: dict[LineEnding, int] = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return max(counts, key=lambda ends: counts[ends])


def normalize_newlines(text: str) -> str:
    """Return `text` with the same line end everywhere."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse(text: str, names: Collection[str]) -> FrontMatterPage:
    """Take `text`, with line ends unified, apart. Raises UnusableFileError."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return FrontMatterPage(None, (), text)
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        raise UnusableFileError("its front matter has no end (a line with ---)")
    values: dict[str, Json] = {}
    rest: list[str] = []
    at = 1
    while at < end:
        line = lines[at]
        stop = at + 1
        while stop < end and (lines[stop][:1] in (" ", "\t") or lines[stop].startswith("- ")) and lines[stop].strip():
            stop += 1
        match = _KEY.fullmatch(line.rstrip())
        if match is None and line.strip() and not line.startswith("#"):
            raise UnusableFileError(f"line {at + 1} of its front matter is not understood")
        if match is None or match[1] not in names:
            rest.extend(lines[at:stop])
        elif match[1] in values:
            raise UnusableFileError(f"its front matter says {match[1]} twice")
        else:
            values[match[1]] = _value(match[1], match[2] or "", lines[at + 1 : stop])
        at = stop
    return FrontMatterPage(values, tuple(rest), "\n".join(lines[end + 1 :]))


def value_lines(values: Mapping[str, Json]) -> list[str]:
    """Render the lines of front matter with these values. A list of objects gets a line for each of them."""
    lines: list[str] = []
    for name, value in values.items():
        if isinstance(value, str | int | float):
            lines.append(f"{name}: {_scalar(value)}")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append(f"{name}:")
            lines += [f"  - {_dump(item)}" for item in value]
        else:
            lines.append(f"{name}: {_dump(value)}")
    return lines


def join_page(lines: Sequence[str], body: str) -> str:
    """Put a text below the lines of its front matter."""
    return "\n".join(["---", *lines, "---", "", body, ""])


@lru_cache(512)  # most values of a record are those of the record before
def _render_text(value: str) -> str:
    is_plain = _PLAIN.fullmatch(value) and value.casefold() not in _MEANT
    return value if is_plain else _dump(value)


def _scalar(value: str | float) -> str:
    if isinstance(value, str):
        return _render_text(value)
    return _dump(value) if isinstance(value, bool) or not math.isfinite(value) else repr(value)


def _dump(value: Json) -> str:
    said = _ENCODER.encode(value)
    if said.isascii() and "\x7f" not in said:
        return said
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", said)


def _value(name: str, written: str, below: list[str]) -> Json:
    written = written.strip()
    if not below:
        return _inline(name, written)
    if written:
        raise UnusableFileError(f"its front matter's {name} goes on below its line")
    items = [_ITEM.fullmatch(line) for line in below]
    if all(items):
        return [_inline(name, match[1].strip()) for match in items if match]
    entries = [_ENTRY.fullmatch(line) for line in below]
    if all(entries):
        pairs = [(_inline(name, match[1].strip()), match[2] or "") for match in entries if match]
        return {str(key): _inline(name, value.strip()) for key, value in pairs}
    raise UnusableFileError(f"its front matter's {name} is not understood")


def _inline(name: str, written: str) -> Json:
    """Parse a value on one line: JSON, or what YAML makes of the same without quotes."""
    if written[:1] in ('"', "[", "{"):
        try:
            found: Json = json.loads(written)
        except ValueError:
            return _read_loose(name, written)
        return found
    if written[:1] == "'":
        if len(written) < 2 or written[-1] != "'":
            raise UnusableFileError(f"its front matter's {name} is not understood")
        return written[1:-1].replace("''", "'")
    if written.casefold() in ("true", "false"):
        return written.casefold() == "true"
    if written.casefold() in ("", "null", "~"):
        return None
    try:
        return int(written)
    except ValueError:
        pass
    try:
        number = float(written)
    except ValueError:
        return written
    return number if math.isfinite(number) else written  # a word such as "Inf"


def _read_loose(name: str, written: str) -> Json:
    """Return `[a, b]` and `{a: b}` without quotes."""
    inside = written[1:-1].strip()
    if written[0] == "[" and written[-1] == "]" and not re.search(r'[\[{"\]}]', inside):
        return [_inline(name, item.strip()) for item in inside.split(",") if item.strip()]
    if written[0] == "{" and written[-1] == "}" and not re.search(r'[\[{"\]}]', inside):
        pairs = [item.partition(":") for item in inside.split(",") if item.strip()]
        if all(colon for _, colon, _ in pairs):
            return {key.strip(): _inline(name, value.strip()) for key, _, value in pairs}
    raise UnusableFileError(f"its front matter's {name} is not understood")
