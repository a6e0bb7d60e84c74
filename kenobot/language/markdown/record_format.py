"""Render and parse a record file: front matter and text, from which the record could be made again. Pure.

The last line of the front matter is a checksum of all the rest, so that any reader can tell whether a person has
changed the file since it was written. `revision` is the last event that the file knows of: what a person changed is
told apart from what memory changed since.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from kenobot.core import front_matter, lazy
from kenobot.core.front_matter import LineEnding, UnusableFileError
from kenobot.language.fingerprint import key_of
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.records import Record

_TIMES = ("created", "updated", "valid_from", "valid_to", "confirmed", "expires", "last_seen", "last_used")
_COUNTS = ("seen", "uses")
_SHARES = ("confidence", "importance")
_IN_ORDER = (
    "id", "form", "category", "scope", "subject", "attributes", "tags", "pinned", "confidence", "importance", "status",
    "lifecycle", "verification", "policy", "tier", "source", "trust", "by", "lang", "day", *_TIMES, *_COUNTS,
    "stability", "evidence", "links", "key",
)  # fmt: skip
_LEFT_OUT_WHEN_BLANK = ("by", "lang", "key", "links", "valid_to", "confirmed", "expires", "last_used")
COLUMN_OF = {"policy": "policy_class", "seen": "mentions", "uses": "use_count"}
FIELD_NAMES = frozenset({*_IN_ORDER, "revision", "checksum"})
_CHECKSUM = lazy.regex(r"\Achecksum:[^\n]*\n?|\nchecksum:[^\n]*")
_STATUS = ("active", "superseded", "expired", "archived", "forgotten", "invalidated")


class FileLink(NamedTuple):
    """A link from the file's record to another."""

    to: int
    type: str
    weight: float
    confidence: float
    seen: int
    first_at: str
    last_at: str
    why: str


@dataclass(frozen=True, slots=True)
class RecordFile:
    """Content of a record file. values: checked, by name, only what stands there. is_unedited: nobody changed it since
    it was written.

    extra_lines: lines of the front matter that are a person's own. text: what stands below, None when that is blank.
    """

    values: Mapping[str, Json]
    extra_lines: tuple[str, ...]
    text: str | None
    is_unedited: bool
    line_ending: LineEnding
    links: tuple[FileLink, ...] = ()

    @property
    def id(self) -> int | None:
        found = self.values.get("id")
        return found if isinstance(found, int) else None

    @property
    def revision(self) -> int:
        found = self.values.get("revision")
        return found if isinstance(found, int) else 0


def render(
    record: Record, links: Sequence[FileLink], rest: Sequence[str], ends: LineEnding, body: str | None = None
) -> str:
    """Render the file of `record`, whose `changed_event` is taken for the last event that it knows of.

    rest: what a person added to the front matter. body: instead of the record's own text.
    """
    attributes = json.loads(record.attributes)
    by = attributes.pop("by", "")
    values: dict[str, Json] = {
        **record._asdict(),
        **{name: getattr(record, column) for name, column in COLUMN_OF.items()},
        "attributes": attributes,
        "tags": json.loads(record.tags),
        "pinned": record.policy_class == "protected",
        "by": by,
        "evidence": list(record.source_message_ids),
        "links": [_render_link(link) for link in links],
        "key": record.key if record.key != key_of(record.text) else "",
    }
    kept = {name: values[name] for name in _IN_ORDER if values[name] or name not in _LEFT_OUT_WHEN_BLANK}
    kept["revision"] = record.changed_event
    text = with_checksum(kept, record.text if body is None else body, rest)
    return text if ends == "\n" else text.replace("\n", ends)


def with_checksum(values: Mapping[str, Json], body: str, rest: Sequence[str] = ()) -> str:
    """Render a page that ends its front matter with its own checksum."""
    lines = front_matter.value_lines(values)
    checksum = f"checksum: {_sum(front_matter.join_page([*lines, *rest], body))}"
    return front_matter.join_page([*lines, checksum, *rest], body)


def parse(text: str) -> RecordFile:
    """Parse a record file, whoever wrote it. Raises UnusableFileError."""
    ends = front_matter.line_ending_of(text)
    page = front_matter.parse(front_matter.normalize_newlines(text), FIELD_NAMES)
    values = page.values or {}
    checksum = values.pop("checksum", None)
    checked = {name: _check(name, value) for name, value in values.items() if name != "links"}
    links = values.get("links") or []
    if not isinstance(links, list):
        raise UnusableFileError("its front matter's links are not a list")
    ours = checksum is not None and checksum == _sum(front_matter.normalize_newlines(text))
    return RecordFile(
        values={name: value for name, value in checked.items() if value is not None},
        extra_lines=page.extra_lines,
        text=page.body.strip() or None,
        is_unedited=ours,
        line_ending=ends,
        links=tuple(_link(link) for link in links),
    )


def is_written_as(text: str, digest: str, line_ending: LineEnding) -> bool:
    """Return whether a file is, to the letter, the one of ours that was noted with this checksum."""
    marked = f"\nchecksum: {digest}\n" in front_matter.normalize_newlines(text)
    return marked and file_checksum(text) == digest and front_matter.line_ending_of(text) == line_ending


def file_checksum(text: str) -> str:
    """Compute the checksum of a file, whatever its line ends."""
    return _sum(front_matter.normalize_newlines(text))


def _sum(text: str) -> str:
    """Hash a file's text without its checksum line; the hash begins with a letter, so it needs no quotes."""
    head, mark, tail = text.partition("\n---\n")
    bare = _CHECKSUM.sub("", head) + mark + tail
    return "c" + hashlib.sha256(bare.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def _check(name: str, value: Json) -> Json:
    """Check that a value is as its name demands, and return it so. Raises UnusableFileError."""
    checked = _of_kind(name, value)
    if checked is None and value not in (None, ""):
        raise UnusableFileError(f"its front matter's {name} cannot be {json.dumps(value, ensure_ascii=False)}")
    return checked


def _of_kind(name: str, value: Json) -> Json:
    if value is None:
        return None
    if name in _TIMES:
        return value if isinstance(value, str) and _is_time(value) else None
    if name in _SHARES or name == "stability":
        fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        return float(value) if fits and 0 <= float(value) <= (1 if name in _SHARES else 100) else None  # type: ignore[arg-type]
    if name in ("id", "revision", *_COUNTS):
        return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
    if name == "tags":
        listed = value if isinstance(value, list) else [value]
        return None if any(isinstance(item, list | dict) or item is None for item in listed) else [*map(_word, listed)]
    if name == "evidence":
        return value if isinstance(value, list) and all(isinstance(item, int) for item in value) else None
    if name in ("pinned", "attributes"):
        return value if isinstance(value, bool if name == "pinned" else dict) else None
    if isinstance(value, list | dict) or (name == "status" and value not in _STATUS):
        return None
    return _word(value)


def _word(value: Json) -> str:
    """Convert a value to the word that was written, such as a number where a word is asked for."""
    return value if isinstance(value, str) else json.dumps(value)


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).utcoffset() is not None
    except ValueError:
        return False


def _render_link(link: FileLink) -> dict[str, Json]:
    """Render a link, without what it has in common with most."""
    to, kind, weight, confidence, seen, first_at, last_at, why = link
    shown: dict[str, Json] = {"to": to, "type": kind, "first": first_at}
    if last_at != first_at:
        shown["last"] = last_at
    if weight != 1:
        shown["weight"] = weight
    if confidence != 1:
        shown["confidence"] = confidence
    if seen != 1:
        shown["seen"] = seen
    if why:
        shown["why"] = why
    return shown


def _link(shown: Json) -> FileLink:
    """Parse a link. Raises UnusableFileError."""
    try:
        if not isinstance(shown, dict):
            raise TypeError
        first = str(shown["first"])
        found = FileLink(
            int(str(shown["to"])),
            str(shown["type"]),
            float(str(shown.get("weight", 1))),
            float(str(shown.get("confidence", 1))),
            int(str(shown.get("seen", 1))),
            first,
            str(shown.get("last", first)),
            str(shown.get("why", "")),
        )
        if not _is_time(found.first_at) or not _is_time(found.last_at):
            raise ValueError(found.first_at)
    except (KeyError, TypeError, ValueError) as error:
        raise UnusableFileError("its front matter's links are not understood") from error
    return found
