"""Whatever stands on a card comes back from it, and a person's edit of it is told apart from memory's own changes."""

import json

from hypothesis import given
from hypothesis import strategies as st

from kenobot.core import front_matter
from kenobot.core.front_matter import LineEnding, UnusableFileError
from kenobot.language.fingerprint import key_of
from kenobot.language.markdown import record_format
from kenobot.language.markdown.record_format import FileLink
from kenobot.language.sanitize import sanitize
from kenobot.ports.records import Record

PIECES = [
    "Ana vive en Bilbao", "我喜欢喝茶", "أحب القهوة", "🙂👩‍💻", "---", "...", "id: 3", "checksum: c0",
    "# Heading", "- a", "  b", "a: b", "'", '"', "\\", "null", "true", "12", "C#", "C++", "[x]", "{y}", "\ttab", "",
    "\u3000", "\ufeff", "\u2060", "~",
]  # fmt: skip
lines = st.sampled_from(PIECES) | st.text(max_size=12)
texts = st.lists(lines, min_size=1, max_size=5).map("\n".join).map(lambda text: sanitize(text, 16_000)).filter(bool)
words = st.sampled_from([*PIECES, "x y", "yes"]) | st.text(max_size=8)
values = st.none() | st.booleans() | st.integers(-5, 5) | words | st.lists(words, max_size=3)
attributes = st.dictionaries(words, values, max_size=3)
moments = st.sampled_from(["2026-02-14T14:30:00.000000+00:00", "2025-12-31T23:59:59.999999+00:00"])
shares = st.sampled_from([0.0, 0.1, 0.30000000000000004, 1.0])
ends: st.SearchStrategy[LineEnding] = st.sampled_from(["\n", "\r\n", "\r"])
links = st.builds(
    FileLink, st.integers(1, 9), st.sampled_from(["supersedes", "related"]), shares, shares, st.integers(1, 3), moments,
    moments, words,
)  # fmt: skip


def cleaned(text: str) -> str:
    return sanitize(text, 200).replace("\n", " ")


records = st.builds(
    lambda **fields: Record(**fields),  # noqa: PLW0108 - the other fields are as they are by default
    id=st.integers(1, 99),
    form=st.sampled_from(["note", "episode", "scratchpad"]),
    category=words.map(cleaned),
    scope=st.sampled_from(["owner", "chat:c", "user:u"]),
    text=texts,
    trust=st.sampled_from(["owner", "guest", "tool"]),
    tier=st.sampled_from(["daily", "core"]),
    status=st.sampled_from(["active", "superseded", "forgotten"]),
    confidence=shares,
    mentions=st.integers(0, 9),
    created=moments,
    updated=moments,
    day=st.just("2026-02-14"),
    changed_event=st.integers(0, 99),
    subject=words.map(cleaned),
    attributes=attributes.map(lambda found: json.dumps(found, ensure_ascii=False)),
    tags=st.lists(words.map(cleaned), max_size=3).map(lambda found: json.dumps(found, ensure_ascii=False)),
    importance=shares,
    valid_from=moments,
    valid_to=st.none() | moments,
    last_seen=moments,
    source_messages=st.lists(st.integers(1, 9), max_size=3).map(json.dumps),
    key=texts.map(key_of),
)
rests = st.lists(st.sampled_from(["mood: good", "# mine", "", "aliases:", "ünder: 'x"]), max_size=3).map(tuple)


@given(records, st.lists(links, max_size=2), rests, ends)
def test_a_card_says_what_the_record_says(
    record: Record, found: list[FileLink], rest: tuple[str, ...], ends: LineEnding
) -> None:
    """Every value, link, word and line of a person's own, in every script and with every line end."""
    read = record_format.parse(record_format.render(record, found, rest, ends))
    assert read.is_unedited and read.extra_lines == rest and read.text == record.text
    assert read.line_ending == ends
    assert list(read.links) == found
    for name in (
        "id",
        "form",
        "scope",
        "trust",
        "tier",
        "status",
        "confidence",
        "created",
        "importance",
        "day",
    ):
        assert read.values[name] == getattr(record, name), name
    assert read.values["seen"] == record.mentions
    assert read.values.get("valid_to") == record.valid_to
    assert (read.values.get("category", ""), read.values.get("subject", "")) == (record.category, record.subject)
    assert read.values["attributes"] == {k: v for k, v in json.loads(record.attributes).items() if k != "by"}
    assert (read.values["tags"], read.values["evidence"]) == (
        json.loads(record.tags),
        json.loads(record.source_messages),
    )


@given(records, ends, st.data())
def test_any_change_of_a_card_is_seen(record: Record, ends: LineEnding, data: st.DataObject) -> None:
    """A letter put in, taken out or put otherwise; line ends alone are no change."""
    text = record_format.render(record, [], (), "\n")
    at = data.draw(st.integers(0, len(text) - 1))
    typed = data.draw(st.sampled_from(["", "x", "é"]))
    other = text[:at] + typed + text[at + data.draw(st.integers(0, 1)) :]
    try:
        read = record_format.parse(other)
    except UnusableFileError:
        return
    line = text[text.rindex("\n", 0, at) + 1 if "\n" in text[:at] else 0 :].partition("\n")[0]
    assert other == text or not read.is_unedited or line.startswith("checksum:")
    assert record_format.parse(text.replace("\n", ends)).is_unedited


@given(st.text(alphabet="a:-[]{}\"'#,\\ \n\t1", max_size=60))
def test_whatever_people_write_is_read_or_refused(text: str) -> None:
    """In a plain sentence; nothing else ever happens."""
    try:
        page = front_matter.parse(f"---\n{text}\n---\nbody", {"a", "b"})
    except UnusableFileError as error:
        assert str(error) and not str(error).endswith(".")
    else:
        assert "body" in page.body or "---" in text
