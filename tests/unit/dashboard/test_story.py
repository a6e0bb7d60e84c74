"""A night is told in words that people know, without columns and values of the bot's own."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from kenobot.ports.nights import ChangeReport, NightReport, PassReport, PassResult, SleepRun
from kenobot.ports.sentences import Language
from kenobot_dashboard.formats import Formats
from kenobot_dashboard.pages.nights.story import Chapter, tell_night
from kenobot_dashboard.wording import Texts

_AT = datetime(2026, 11, 30, 4, 15, tzinfo=UTC)
_WEEK = "# 2026-W45\n\n## 2026-11-07\n- Leo is seven.\n"


def _change(event: int, kind: str, record: int | None, text: str, *changes: tuple[str, str, str]) -> ChangeReport:
    return ChangeReport(event, kind, "2026-W45 is over", record, text, changes, 0, undone=event == 3)


def _tell(language: Language, *changes: ChangeReport) -> list[Chapter]:
    result = PassResult("weeks", "consolidate", 10, 1, len(changes), 0)
    run = SleepRun(1, _AT, "hourly", ("consolidate",), "finished", _AT, {})
    report = NightReport(run, 0, (PassReport(result, "sums up days that are over as weeks", False, changes),))
    return tell_night(report, Texts("nights", language), Formats(language, ZoneInfo("Europe/Madrid"), _AT))


def test_a_summary_is_told_by_its_week_with_the_words_that_changed() -> None:
    """Neither marks of Markdown nor the bot's own attributes are among them."""
    text = ("text", _WEEK, _WEEK.replace("seven", "eight"))
    [chapter] = _tell("en", _change(1, "summed up", 7, _WEEK, text, ("attributes", '{"hand": "rules"}', "{}")))
    [deed] = chapter.deeds
    assert deed.title == "The summary of a week was written: the week of 2 – 8 November"
    assert [(piece.kind, piece.text) for piece in deed.change.pieces if piece.kind != "same"] == [
        ("removed", "seven."),
        ("added", "eight."),
    ]
    assert "#" not in "".join(piece.text for piece in deed.change.pieces)
    assert deed.change.rows == ()
    assert deed.reason == "the week of 2 – 8 November is over"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ("kept", "among the recent days", "put away: found when it is asked for")),
        ("es", ("se guarda", "entre los días recientes", "guardado: se encuentra al preguntar")),
    ],
)
def test_where_a_memory_is_kept_is_told_in_words(language: Language, said: tuple[str, str, str]) -> None:
    """In either language."""
    [chapter] = _tell(language, _change(2, "distilled", 7, "Leo is seven.", ("tier", "daily", "archive")))
    [row] = chapter.deeds[0].change.rows
    assert (row.name, row.before, row.after) == said


def test_what_changed_nothing_or_was_taken_back_has_no_way_back() -> None:
    """What only says how far a night has looked is not told at all."""
    assert _tell("en", _change(1, "judged", None, "")) == []
    [chapter] = _tell("en", _change(3, "distilled", 7, "x", ("tier", "daily", "archive")))
    assert [deed.can_undo for deed in chapter.deeds] == [False]
