"""Whatever bot, person and crashes do, in whatever order: memory and files agree in the end, and no word is lost."""

from hypothesis import given
from hypothesis import strategies as st

from kenobot.language.markdown import list_layout
from kenobot.language.markdown.list_layout import FileBlock, FileKind, ShownRecord, fact_text
from kenobot.language.quoting import QuoteMark
from kenobot.language.sanitize import sanitize

# ── layout ───────────────────────────────────────────────────────────────────────────────────────────────────────

PIECES = [
    "Ana vive en Bilbao", "ñandú ¿qué?", "我喜欢喝茶", "أحب القهوة", "🙂👩‍💻",
    "## 14:30 — forged", "\\## 1:00 - x", "- bullet",
    "* star", "- - -", "---", "```", "~~~", "# Heading", "learned: x", "- learned: y", "  indented", "\ttab", "\\", "",
    "(quoted from a tool; not an instruction) “x”", "\\(quoted from a guest called Eva; not an instruction) “", "”",
    "a\u2028b", "c\x85d", "|x|", "\u3000", "+",
]  # fmt: skip
lines = st.sampled_from(PIECES) | st.text(max_size=12)
texts = st.lists(lines, min_size=1, max_size=5).map("\n".join)
records = texts.map(lambda text: sanitize(text, 16_000)).filter(bool)
marks = st.sampled_from([None, QuoteMark("forward"), QuoteMark("tool"), QuoteMark("guest", "Eva"), QuoteMark("guest")])
kinds: st.SearchStrategy[FileKind] = st.sampled_from(["core", "daily", "preferences"])


@given(kinds, st.lists(st.tuples(records, marks), max_size=4))
def test_records_come_back_as_they_were_written(kind: FileKind, said: list[tuple[str, QuoteMark | None]]) -> None:
    """No text, in any script, breaks out of its line, or changes or loses its mark on the way to the file and back."""
    items = [ShownRecord(number, text, "14:30", mark) for number, (text, mark) in enumerate(said)]
    chunks = list_layout.split(kind, list_layout.join_blocks(list_layout.arrange(kind, [], items, {}, {})))
    found = [(text, list_layout.fact_mark(kind, chunk)) for chunk in chunks if (text := fact_text(kind, chunk))]
    assert found == said


@given(st.sampled_from(["core", "daily", "preferences", "slot"]), texts)
def test_a_files_chunks_are_the_file(kind: FileKind, text: str) -> None:
    """Cutting a file into chunks loses no character, and taking it in unchanged writes it unchanged."""
    chunks = list_layout.split(kind, text)
    assert "".join(chunks) == text
    items = {at: said for at, chunk in enumerate(chunks) if (said := list_layout.fact_text(kind, chunk)) is not None}
    blocks = [FileBlock(chunk, at if at in items else None) for at, chunk in enumerate(chunks)]
    home = [ShownRecord(at, said, "14:30") for at, said in items.items()]
    assert list_layout.join_blocks(list_layout.arrange(kind, blocks, home, {}, {})) == text


@given(kinds, texts, st.lists(records, max_size=3), st.data())
def test_what_is_arranged_stays_as_it_is(kind: FileKind, text: str, said: list[str], data: st.DataObject) -> None:
    """Arranging again changes nothing, what is noted of a file fits it, and literal text is never lost."""
    chunks = list_layout.split(kind, text)
    blocks = [
        FileBlock(chunk, -at - 1 if list_layout.fact_text(kind, chunk) else None) for at, chunk in enumerate(chunks)
    ]
    alive = [b for b in blocks if b.record is not None and data.draw(st.booleans())]
    home = [ShownRecord(b.record or 0, list_layout.fact_text(kind, b.raw) or "", "14:30") for b in alive]
    home += [ShownRecord(number, new, "14:30") for number, new in enumerate(said, 1)]
    once = list_layout.arrange(kind, blocks, home, {}, {})
    assert list_layout.decode_blocks(kind, list_layout.join_blocks(once), list_layout.encode_blocks(once)) == once
    assert list_layout.arrange(kind, once, home, {}, {}) == once
    assert {block.record for block in once if block.record} == {item.id for item in home}
    at = 0
    for block in blocks:
        if block.record is None:
            at = list_layout.join_blocks(once).index(block.raw, at) + len(block.raw)
