"""Records as lines for people."""

from zoneinfo import ZoneInfo

from kenobot.cli.memory.record_text import record_line, record_text

_ROW = {
    "id": 1,
    "form": "summary",
    "text": "# tom\n\n" + "- he asked for a lot of things\n" * 30,
    "category": "week",
    "trust": "owner",
    "mentions": 1,
    "created": "2026-11-28T03:30:00.000Z",
}


def test_a_summary_is_two_lines_and_a_fact_is_whole() -> None:
    """What is longer stands in --json."""
    assert len(record_text(_ROW)) <= 110
    fact = {**_ROW, "form": "note", "text": "The spare key is " + "under the pot " * 20}
    assert record_text(fact) == fact["text"]


def test_a_day_is_the_owners() -> None:
    """Half past three in UTC is the evening before in New York."""
    assert record_line(_ROW, ZoneInfo("America/New_York")).endswith("2026-11-27)")
    assert record_line(_ROW, ZoneInfo("Europe/Madrid")).endswith("2026-11-28)")
