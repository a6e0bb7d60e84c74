"""Render records as a prompt shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from kenobot.cognitive.recall.results.memory import Excerpt, FormerMemory, MemoryPack, RecalledMemory, SearchReport
from kenobot.core.sized_cache import SizedCache
from kenobot.core.token_estimate import clip_to_tokens, estimate_tokens
from kenobot.language.fingerprint import OWNER_SUBJECT
from kenobot.language.quoting import IMPORTED, quote_untrusted
from kenobot.ports.recall import MemoryEntry
from kenobot.ports.records import Record

_UNSURE = 0.4
CLIPPED = " […]"
"""End of a line that was cut."""
FORMER_HEADING = (
    "### Replaced since\n"
    "_Wholly or in part. “until” says until when it was so; “told before” leaves open whether it ever was._"
)
_NAME = 60  # characters of a name in a heading
_NOTHING = (
    "_Beyond what is shown here, nothing is remembered that seems to be about this message. When asked, say so; "
    "do not guess._"
)
_DOUBTS = {
    "none": "_What follows may only come near what this message asks for. Use it, and whatever else is shown here, "
    "where it really answers; where nothing does, say that this is not remembered, and do not guess._",
    "low": "_It is uncertain whether what follows answers this message. Where nothing that is shown here does, say "
    "so; do not guess._",
}


def render_record(record: Record, indent: str = "  ") -> str:
    """Render the text of a record as one item, quoted where it is untrusted. indent: of its further lines."""
    return quote_untrusted(record.text, _trust_to_show(record), record.by, indent) + _confidence_mark(record)


def render_log_entry(record: Record, zone: ZoneInfo) -> str:
    """Render a record as an entry of a daily log."""
    return _entries.get(
        _LogEntry(record.created, record.text, _trust_to_show(record), record.by, _confidence_mark(record), zone),
        _render_entry,
    )


class _LogEntry(NamedTuple):
    """All that an entry of a daily log is made of."""

    created: str
    text: str
    trust: str
    by: str
    mark: str
    zone: ZoneInfo


_entries = SizedCache[_LogEntry, str](4096, 2_000_000, len)
"""Entries rendered lately: a new memory is told in the next prompt of every chat."""


def _render_entry(entry: _LogEntry) -> str:
    at = datetime.fromisoformat(entry.created).astimezone(entry.zone)
    return f"## {at:%H:%M} — {quote_untrusted(entry.text, entry.trust, entry.by)}{entry.mark}"


def _confidence_mark(record: Record) -> str:
    """Return what is shown behind a confidence: the model that reads it writes to others as well."""
    return " _(told in confidence)_" if record.is_confided else ""


def _trust_to_show(record: Record) -> str:
    """Return the trust that a record is quoted by: what a guest says of themselves is their own."""
    if record.is_hearsay:
        return IMPORTED
    return "owner" if record.trust == "guest" and record.scope.startswith("user:") else record.trust


def render_memory(record: Record, confidence: float, zone: ZoneInfo) -> str:
    """Render a record as an item of a list, with its day and a warning where it is disputed or unsure."""
    marks = [datetime.fromisoformat(record.valid_from or record.created).astimezone(zone).date().isoformat()]
    if record.verification == "disputed":
        marks.append("disputed")
    elif confidence < _UNSURE:
        marks.append("unsure")
    return f"- {render_record(record)} _({', '.join(marks)})_"


def render_former(former: FormerMemory, zone: ZoneInfo) -> str:
    """Render what was remembered before, with its day, and until when it was so, or only that it was told before."""
    told = datetime.fromisoformat(former.record.valid_from or former.record.created).astimezone(zone).date()
    end = f"until {former.ended}" if former.held else f"told before, replaced on {former.ended}"
    part = "in part " if former.partly else ""
    return f"- {render_record(former.record)} _({told.isoformat()}, {part}{end})_"


def subject_heading(subject: str) -> str:
    """Render the heading above the memories of one subject."""
    if subject in ("", OWNER_SUBJECT):
        return "**About the owner:**"
    return f"**About {' '.join(subject.replace('*', ' ').split())[:_NAME]}:**"


def group_by_subject(memories: Sequence[RecalledMemory]) -> str:
    """Render memories, grouped by subject where there are several, in the order of each subject's best."""
    groups: dict[str, list[str]] = {}
    for memory in memories:
        groups.setdefault(subject_heading(memory.record.subject), []).append(memory.line)
    if list(groups) == [subject_heading(OWNER_SUBJECT)]:
        return "\n".join(groups[subject_heading(OWNER_SUBJECT)])
    return "\n".join("\n".join([heading, *lines]) for heading, lines in groups.items())


def shorten(line: str, room: int) -> str:
    """Cut a line to `room` tokens, with a mark."""
    if estimate_tokens(line) <= room:
        return line
    return clip_to_tokens(line, max(1, room - estimate_tokens(CLIPPED))) + CLIPPED


def render_search(report: SearchReport) -> str:
    """Render a search for the model, the likelier kind first; "" when there is nothing to say."""
    sections = []
    if report.memories:
        sections.append(f"### Remembered about this\n{group_by_subject(report.memories)}")
    if report.excerpts:
        sections.append("### Said earlier\n" + "\n".join(_by_exchange(report.excerpts)))
    if report.memories and isinstance(report.shown[0], Excerpt):
        sections.reverse()
    if report.former:
        sections.append("\n".join([FORMER_HEADING, *(each.line for each in report.former)]))
    if not sections and report.need == "full" and not report.dropped.get("on show already"):
        return _NOTHING
    if sections and report.answer_probability is not None and report.level in _DOUBTS:
        sections.insert(0, _DOUBTS[report.level])
    return "\n\n".join(sections)


def _by_exchange(excerpts: Sequence[Excerpt]) -> list[str]:
    """List the lines of excerpts, those of one exchange together, as they were said."""
    groups: dict[int, list[Excerpt]] = {}
    for each in excerpts:
        groups.setdefault(each.beside or each.turn.id, []).append(each)
    return [each.line for group in groups.values() for each in sorted(group, key=lambda one: one.turn.id)]


def search_pack(report: SearchReport) -> MemoryPack:
    """Make the section that shows a search."""
    return MemoryPack(
        {"recalled": render_search(report)},
        tuple(item.line for item in (*report.shown, *report.former)),
        tuple(MemoryEntry(memory.record.id, "recalled", memory.explain()) for memory in report.memories),
        search=report,
    )
