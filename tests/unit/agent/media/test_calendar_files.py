"""A calendar file is read, shown as a list, and its events become reminders on a yes."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kenobot.agent.media.formats.calendar import EVENT, calendar_lines
from kenobot.ports.channel import Capabilities
from kenobot_testing.clock import ManualClock
from tests.unit.agent.media.media_scene import document, media_scene

_FILE = (Path(__file__).parents[3] / "data" / "outlook.ics").read_bytes()
_JOBS = "SELECT text, rule, zone, next_due FROM job WHERE state = 'active' ORDER BY next_due, id"
_ONE = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:x
BEGIN:VEVENT
UID:1
SUMMARY:{name}
DTSTART{start}
END:VEVENT
END:VCALENDAR
"""
_SERIES = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:x
BEGIN:VEVENT
UID:1
SUMMARY:Stand-up
DTSTART{start}
RRULE:FREQ=DAILY{end}
EXDATE{left_out}
END:VEVENT
END:VCALENDAR
"""


def test_events_are_read_with_their_zones_and_recurrences() -> None:
    """Outlook's zones by their IANA names; what a rule alone does not tell, time by time."""
    assert [*calendar_lines(_FILE)] == [
        "Calendar, events: 10",
        "- 2026-12-01 09:00 (Europe/Berlin): Dentist — Calle Mayor 5",
        "- 2026-12-01 09:00 (zone not known: Foo Time): Odd",
        "- 2026-12-03 (all day): All day",
        "- 2026-12-04 08:00 (local time): Floating",
        "- 2026-12-07 10:00 (Europe/Madrid): Team",
        "- 2026-12-07 18:00 (Europe/Paris; FREQ=WEEKLY;UNTIL=20270301T010000;BYDAY=MO): Choir",
        "- 2026-12-09 10:00 (UTC): Call",
        "- 2026-12-10 09:00 (UTC): Custom",
        "- 2026-12-10 10:00 (zone not known: Customized Time Zone; FREQ=WEEKLY): Custom weekly",
        "- 2026-12-21 10:00 (Europe/Madrid): Team",
    ]


@pytest.mark.parametrize(
    ("start", "left_out", "lines"),
    [
        (
            ";TZID=Europe/Madrid:20240108T093000",
            ";TZID=Europe/Madrid:20260216T093000",
            ["- 2026-02-15 09:30 (Europe/Madrid): Stand-up", "- 2026-02-17 09:30 (Europe/Madrid): Stand-up"],
        ),
        (
            ":20240108T093000",
            ":20260216T093000",
            ["- 2026-02-15 09:30 (local time): Stand-up", "- 2026-02-17 09:30 (local time): Stand-up"],
        ),
        (
            ";VALUE=DATE:20240108",
            ";VALUE=DATE:20260216",
            ["- 2026-02-15 (all day): Stand-up", "- 2026-02-17 (all day): Stand-up"],
        ),
    ],
)
def test_of_a_series_that_has_run_for_long_what_is_to_come_is_read(start: str, left_out: str, lines: list[str]) -> None:
    """One that leaves out a day is read time by time, sixty from today; of one that is over the first stay."""
    now = datetime(2026, 2, 15, 15, 30, tzinfo=UTC)
    running = _SERIES.format(start=start, left_out=left_out, end="").encode()
    found = [line for line in calendar_lines(running, now) if "2026-02-14" not in line]
    assert found[1:3] == lines
    assert found[0] == "Calendar, events: 60"
    end = ";COUNT=3"
    over = _SERIES.format(start=start, left_out=left_out, end=end).encode()
    assert [line[2:12] for line in calendar_lines(over, now)][1:] == ["2024-01-08", "2024-01-09", "2024-01-10"]


def test_of_the_events_of_years_what_is_to_come_is_read() -> None:
    """As a calendar that is exported whole has them; how many there are in all is said."""
    event = "BEGIN:VEVENT\nUID:{name}\nSUMMARY:{name}\nDTSTART:{day}T090000Z\nEND:VEVENT\n"
    events = [event.format(name=f"Old {n}", day=f"2025{n % 12 + 1:02}{n % 28 + 1:02}") for n in range(600)]
    events.append(event.format(name="Dentist", day="20260301"))
    raw = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n{''.join(events)}END:VCALENDAR\n".encode()
    now = datetime(2026, 2, 15, 15, 30, tzinfo=UTC)
    assert [*calendar_lines(raw, now)] == ["Calendar, events: 601", "- 2026-03-01 09:00 (UTC): Dentist"]


async def test_a_series_that_has_run_for_long_is_offered(tmp_path: Path) -> None:
    """Though it began two years ago and leaves out a day."""
    series = _SERIES.format(start=":20240108T093000Z", left_out=":20260216T093000Z", end="").encode()
    scene, _ = media_scene(tmp_path, {"d": series}, clock=ManualClock())
    async with scene:
        told = await scene.say("", attachments=(document("work.ics"),))
        assert "Sunday 15 February" in told and "Tuesday 17 February" in told and "Monday 16 February" not in told


@pytest.mark.parametrize("name", ["a: b (c; d)", "x\\ny", "- 2026-01-01 (UTC): z", "ñ" * 300, ""])
def test_whatever_an_event_is_called_it_stays_one_line(name: str) -> None:
    """And is read as it was written."""
    _, line = calendar_lines(_ONE.format(name=name, start=":20261201T090000Z").encode())
    assert EVENT.fullmatch(line) is not None and line.startswith("- 2026-12-01 09:00 (UTC): ")


async def test_events_are_shown_and_taken_on_a_yes(tmp_path: Path) -> None:
    """An unknown zone is asked about; a file that is sent again adds nothing; the taking can be undone."""
    scene, channel = media_scene(tmp_path, {"d": _FILE}, clock=ManualClock())
    channel.capabilities = Capabilities(buttons=True)
    async with scene:
        told = await scene.say("", attachments=(document("work.ics", "text/calendar"),))
        assert "- Tuesday 1 December, 8:00: Dentist — Calle Mayor 5\n" in told
        assert "Choir (every Monday at 18:00, until" in told, told
        assert "I do not know the time zone “Customized Time Zone”, “Foo Time”" in told
        assert await scene.rows(_JOBS) == []
        assert (await scene.press("Only the others")).startswith("Reminders set: 8.")
        rows = await scene.rows(_JOBS)
        assert rows[0] == ("Dentist — Calle Mayor 5", "", "Europe/Berlin", "2026-12-01T08:00:00+00:00")
        assert not any(row[0] in ("Odd", "Custom weekly") for row in rows)
        await scene.press("Undo")
        assert await scene.rows(_JOBS) == []
        await scene.say("add these", attachments=(document("work.ics"),))
        assert (await scene.say("yes")).startswith("Reminders set: 10.")
        await scene.say("", attachments=(document("work.ics"),))
        assert (await scene.say("yes")).startswith("Reminders set: 0.")


async def test_what_is_over_is_not_offered_and_a_question_goes_to_the_model(tmp_path: Path) -> None:
    """The model sees the events."""
    old = _ONE.format(name="Old", start=":20200101T090000Z").encode()
    scene, _ = media_scene(tmp_path, {"d": old, "e": _FILE}, "At six.", clock=ManualClock())
    async with scene:
        assert "is over" in await scene.say("", attachments=(document("old.ics"),))
        assert await scene.say("When is the choir?", attachments=(document("a.ics", handle="e"),)) == "At six."
        assert "Choir" in scene.requests[-1]


async def test_reminders_go_out_as_a_calendar_file(tmp_path: Path) -> None:
    """All of them with the promises that have a day, the one that is named, or the one spoken of last."""
    scene, channel = media_scene(tmp_path, {}, clock=ManualClock(), extraction=True)
    channel.capabilities = Capabilities(sends=frozenset({"document"}))
    async with scene:
        await scene.say("remind me every Monday at 9 to water the plants")
        await scene.say("remind me tomorrow at 8 to call Luis")
        assert "calendar file, with 2 in it" in await scene.say("export my reminders")
        [file] = channel.sent[-1].part.attachments
        assert (file.name, file.mime) == ("agenda.ics", "text/calendar")
        lines = [line for line in calendar_lines(file.text.encode()) if line.startswith("- ")]
        assert lines[0].startswith("- 2026-02-15 08:00 (UTC): call Luis")
        assert "FREQ=WEEKLY" in lines[1] and lines[1].endswith("): water the plants")
        for wish, name in (("send me that as .ics", "call Luis"), ("mándame lo de plants en .ics", "water the plants")):
            await scene.say(wish)
            [line] = [*calendar_lines(channel.sent[-1].part.attachments[0].text.encode())][1:]
            assert line.endswith(name)
