"""Looking through memory: filters, a moment in the past, a timeline and a graph."""

from collections.abc import Mapping
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from kenobot.cognitive.beliefs.links import strengthen_link
from kenobot.cognitive.control.graph import build_graph
from kenobot.cognitive.control.history import list_alive_at, list_confidence
from kenobot.cognitive.control.timeline import count_by_period, list_happenings
from kenobot.cognitive.control.timeline_rows import find_first_event
from kenobot.cognitive.store.change import change
from kenobot.cognitive.store.records import page_of_records
from kenobot.ports.browsing import Days, Happening, Period, RecordFilter
from kenobot.ports.memory_changes import ChangeContext
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.memory_rows import open_memory, put_record

_DAY = timedelta(days=1)
_MADRID = ZoneInfo("Europe/Madrid")


def test_a_page_holds_what_a_filter_chooses_the_newest_first() -> None:
    """Of each column alone and together; letters of a text are taken as they are, and count in any case."""
    with open_memory() as connection:
        tea = put_record(connection, "Ana drinks 100% TEA", subject="ana", tags='["drinks"]', source="extraction")
        dog = put_record(connection, "Toby is a dog", subject="toby", category="person", at=START + _DAY)
        old = put_record(connection, "Ana drinks coffee", subject="ana", status="superseded")
        chosen = {
            "all": RecordFilter(),
            "subject": RecordFilter(subject="ana"),
            "live": RecordFilter(statuses=("active",), subject="ana"),
            "tag": RecordFilter(tag="drinks"),
            "text": RecordFilter(text="100% tea"),
            "no wildcard": RecordFilter(text="d_g"),
            "category": RecordFilter(category="person", source=dog.source),
            "days": RecordFilter(first_day=dog.day),
            "nothing": RecordFilter(subject="ana", category="person"),
        }
        found = {
            name: [each.id for each in page_of_records(connection, ALL_SCOPES, wanted, 10**9, 10)]
            for name, wanted in chosen.items()
        }
        assert found == {
            "all": [old.id, dog.id, tea.id],
            "subject": [old.id, tea.id],
            "live": [tea.id],
            "tag": [tea.id],
            "text": [tea.id],
            "no wildcard": [],
            "category": [dog.id],
            "days": [dog.id],
            "nothing": [],
        }
        known = {record.id: record for record in (tea, dog, old)}
        for name, wanted in chosen.items():
            matching = [number for number in sorted(known, reverse=True) if wanted.matches(known[number])]
            assert matching == found[name], name
        assert page_of_records(connection, ("user:telegram:9",), RecordFilter(), 10**9, 10) == []


def test_a_moment_in_the_past_shows_memory_as_it_was_worded_then() -> None:
    """What came later is not in it, what has ended since is; it can be paged through and narrowed."""
    with open_memory() as connection:
        home = put_record(connection, "Lives in Madrid")
        tea = put_record(connection, "Likes tea")
        put_record(connection, "Has a dog", at=START + 3 * _DAY)
        act = ChangeContext(START + 2 * _DAY, "owner", "moved")
        change(connection, home, "amended", {"text": "Lives in Lyon"}, act)
        change(connection, tea, "expired", {"status": "expired"}, act)
        then = START + _DAY
        alive = list_alive_at(connection, ALL_SCOPES, then, RecordFilter(), 10)
        assert [record.text for record in alive] == ["Likes tea", "Lives in Madrid"]
        page = list_alive_at(connection, ALL_SCOPES, then, RecordFilter(), 1, before=alive[0].id)
        assert [record.text for record in page] == ["Lives in Madrid"]
        assert list_alive_at(connection, ALL_SCOPES, then, RecordFilter(text="lyon"), 10) == []
        now = list_alive_at(connection, ALL_SCOPES, START + 4 * _DAY, RecordFilter(), 10)
        assert [record.text for record in now] == ["Has a dog", "Lives in Lyon"]
        assert list_alive_at(connection, ALL_SCOPES, START - _DAY, RecordFilter(), 10) == []


def test_confidence_is_told_from_the_making_of_a_memory_on() -> None:
    """A point for each change of it, and none for what changed something else."""
    with open_memory() as connection:
        tea = put_record(connection, "Likes tea", confidence=0.5)
        change(connection, tea, "reinforced", {"confidence": 0.7}, ChangeContext(START + _DAY, "owner", "again"))
        change(connection, tea, "pinned", {"policy_class": "protected"}, ChangeContext(START + _DAY, "owner", "kept"))
        change(connection, tea, "weakened", {"confidence": 0.4}, ChangeContext(START + 2 * _DAY, "sleep", "at odds"))
        points = list_confidence(connection, tea.id, ALL_SCOPES)
        assert [(point.value, point.kind) for point in points] == [
            (0.5, "created"),
            (0.7, "reinforced"),
            (0.4, "weakened"),
        ]
        assert list_confidence(connection, tea.id, ("user:telegram:9",)) == []


def test_a_timeline_counts_by_the_days_of_its_owner() -> None:
    """What happened at eleven at night in UTC is of the next day in Madrid; weeks begin on Mondays."""
    late = START.replace(year=2026, month=3, day=1, hour=23, minute=30)  # a Sunday
    with open_memory() as connection:
        tea = put_record(connection, "Likes tea", at=late)
        put_record(connection, "Has a dog", subject="toby", at=late + _DAY)
        change(connection, tea, "superseded", {"status": "superseded"}, ChangeContext(late + _DAY, "owner", "moved"))
        days = Days(date(2026, 3, 1), date(2026, 3, 31), _MADRID)

        def count(
            by: Period, subject: str = "", until: date = days.last
        ) -> list[tuple[str, str, Mapping[Happening, int]]]:
            within = Days(days.first, until, _MADRID)
            found = count_by_period(connection, ALL_SCOPES, within, by, subject=subject)
            return [(each.first, each.last, each.counts) for each in found]

        assert count("day") == [
            ("2026-03-03", "2026-03-03", {"learned": 1, "replaced": 1}),
            ("2026-03-02", "2026-03-02", {"learned": 1}),
        ]
        assert count("week") == [("2026-03-02", "2026-03-08", {"learned": 2, "replaced": 1})]
        assert count("month", "toby") == [("2026-03-01", "2026-03-31", {"learned": 1})]
        assert count("month", until=date(2026, 3, 1)) == []
        items = list_happenings(connection, ALL_SCOPES, days, before=10**9, limit=2)
        assert [(each.happening, each.text, each.reason) for each in items] == [
            ("replaced", "Likes tea", "moved"),
            ("learned", "Has a dog", items[1].reason),
        ]
        more = list_happenings(connection, ALL_SCOPES, days, ("learned",), before=items[1].event, limit=9)
        assert [each.text for each in more] == ["Likes tea"]


def test_a_timeline_quotes_nothing_that_was_forgotten() -> None:
    """It tells that it was, without its words and without a reason that may hold them."""
    with open_memory() as connection:
        tea = put_record(connection, "Likes tea")
        change(connection, tea, "forgotten", {"status": "forgotten"}, ChangeContext(START + _DAY, "owner", "tea, no"))
        days = Days(START.date(), START.date() + 2 * _DAY, _MADRID)
        items = list_happenings(connection, ALL_SCOPES, days, before=10**9, limit=9)
        assert [(each.happening, each.text, each.reason) for each in items] == [
            ("forgotten", "", ""),
            ("learned", "", ""),
        ]


def test_the_first_event_of_a_moment_is_found_also_with_gaps() -> None:
    """Numbers that are gone and moments before and behind all are no trouble."""
    with open_memory() as connection:
        for day in range(20):
            put_record(connection, f"number {day}", at=START + day * _DAY)
        connection.execute("DELETE FROM event WHERE id IN (5, 6, 7, 20)")
        known = connection.execute("SELECT id, at FROM event ORDER BY id").fetchall()
        for day in range(-1, 22):
            moment = stamp(START + day * _DAY)
            first = find_first_event(connection, moment)
            assert [row for row in known if row[0] >= first] == [row for row in known if row[1] >= moment], day


def test_a_graph_joins_memories_by_subjects_topics_and_links() -> None:
    """Classes such as error:external are no topics; ended memories are not in it; the heaviest nodes stay."""
    with open_memory() as connection:
        tea = put_record(connection, "Ana likes tea", subject="ana", tags='["drinks", "error:external"]')
        cup = put_record(connection, "Has a cup", tags='["drinks"]')
        put_record(connection, "Ana likes coffee", subject="ana", status="superseded")
        strengthen_link(connection, cup.id, tea.id, "related", START, "alike")
        topics = build_graph(connection, ALL_SCOPES, "topics", 100)
        assert {(node.id, node.weight) for node in topics.nodes} == {
            ("subject:ana", 1),
            ("subject:owner", 1),
            ("topic:drinks", 2),
        }
        assert {(edge.source, edge.target, edge.kind) for edge in topics.edges} == {
            ("subject:ana", "topic:drinks", "topic"),
            ("subject:owner", "topic:drinks", "topic"),
            ("subject:ana", "subject:owner", "linked"),
        }
        memories = build_graph(connection, ALL_SCOPES, "memories", 100)
        assert (len(memories.nodes), memories.memories, memories.left_out) == (5, 2, 0)
        kinds = [edge.kind for edge in memories.edges]
        assert sorted(kinds) == ["about", "about", "related", "topic", "topic"]
        small = build_graph(connection, ALL_SCOPES, "topics", 1)
        assert ([node.id for node in small.nodes], small.edges, small.left_out) == (["topic:drinks"], (), 2)
        anas = build_graph(connection, ALL_SCOPES, "memories", 100, subject="ana")
        assert {node.label for node in anas.nodes} == {"ana", "drinks", "Ana likes tea"}
