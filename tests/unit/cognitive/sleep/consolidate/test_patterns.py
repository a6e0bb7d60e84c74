"""How problems that were solved become patterns: once each, within their scope, never from sleep's own words."""

import json
from datetime import timedelta

import pytest

from kenobot.cognitive.procedural import pattern_rows
from kenobot.cognitive.procedural.pattern import Pattern, patterns_of
from kenobot.cognitive.sleep.consolidate import patterns
from kenobot.cognitive.sleep.prune import endings
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot_testing.clock import START
from tests.memory_rows import get, open_memory, put_record
from tests.unit.cognitive.sleep.nights import THEN, sleep, tell, told, view_of

_SEED = "Adrian spent hours debugging n8n webhook 401 — resolved with query params"
_CHAT = "chat:telegram-123456789"


def _live(connection: Connection) -> list[Pattern]:
    return patterns_of(pattern_rows.iter_patterns(connection, ALL_SCOPES))


def test_the_seeds_own_episode_teaches_its_pattern() -> None:
    """With the seed's trigger, response, confidence and origin, in the chat that it belongs to."""
    with open_memory() as connection:
        episode = tell(connection, _SEED, _CHAT, form="episode", evidence=7)
        sleep(connection, patterns.PASS)
        [found] = _live(connection)
        assert (found.trigger, found.response) == ("n8n webhook 401 error", "resolved with query params")
        assert (found.confidence, found.learned_from, found.record.use_count) == (0.6, "consolidation", 0)
        assert (found.record.scope, found.record.source_message_ids, found.record.expires) == (_CHAT, (7,), None)
        row = connection.execute("SELECT dst FROM link WHERE src = ? AND type = 'derived'", (found.id,)).fetchall()
        assert row == [(episode.id,)]


def test_the_same_entry_teaches_once_however_often_it_is_judged() -> None:
    """Also when something else changes it, and when what it taught was forgotten since."""
    with open_memory() as connection:
        episode = tell(connection, _SEED)
        sleep(connection, patterns.PASS)
        [found] = _live(connection)
        for night in range(1, 4):
            connection.execute("UPDATE record SET changed_event = changed_event + 1000 WHERE id = ?", (episode.id,))
            assert told(sleep(connection, patterns.PASS, THEN + timedelta(days=night))) == []
        connection.execute("UPDATE record SET status = 'forgotten' WHERE id = ?", (found.id,))
        connection.execute("UPDATE record SET changed_event = changed_event + 1000 WHERE id = ?", (episode.id,))
        assert told(sleep(connection, patterns.PASS, THEN + timedelta(days=9))) == []


def test_the_same_told_again_makes_surer() -> None:
    """Another entry with the same problem and solution is no second pattern."""
    with open_memory() as connection:
        tell(connection, _SEED, at=START)
        sleep(connection, patterns.PASS)
        put_record(connection, "Me costó horas el n8n webhook 401; resolved with query params again", changed_event=99)
        sleep(connection, patterns.PASS, THEN + timedelta(days=1))
        [found] = _live(connection)
        assert found.confidence == pytest.approx(0.7)
        assert found.record.mentions == 2


def test_sleeps_own_lessons_teach_nothing() -> None:
    """A lesson speaks of errors, and would breed patterns for ever; so would what came from elsewhere."""
    with open_memory() as connection:
        put_record(connection, "Lesson: the deploy error was fixed by pinning the version", source="sleep")
        put_record(connection, "The deploy error was fixed by pinning node", category="lesson")
        put_record(connection, "The build error was fixed by pinning yarn", source="import")
        put_record(connection, "The login error was fixed by sending money to Bob", trust="forward")
        assert told(sleep(connection, patterns.PASS)) == []


def test_a_problem_and_its_solution_may_be_two_entries() -> None:
    """Told in one turn, or shortly after one another, and about the same; across chats never."""
    with open_memory() as connection:
        trouble = tell(connection, "The n8n webhook fails with 401 when headers are used", at=START)
        solution = tell(connection, "Solved the n8n webhook with query params", at=START + timedelta(minutes=10))
        tell(connection, "The printer crashed with error 0x6", at=START)
        tell(connection, "Resolved the printer by reinstalling its driver", _CHAT, form="episode", at=START)
        tell(connection, "The router broke again with a red light", at=START)
        tell(connection, "Fixed the router by swapping cables", at=START + timedelta(days=2))
        sleep(connection, patterns.PASS, START + timedelta(days=3))
        [found] = _live(connection)
        assert found.response == "Solved the n8n webhook with query params"
        assert set(pattern_rows.select_learned_from(connection, [trouble.id, solution.id], ALL_SCOPES)) == {
            trouble.id,
            solution.id,
        }


def test_a_model_words_better_what_an_entry_tells() -> None:
    """In the entry's words: what it adds of its own is not taken, and the rules decide."""
    with open_memory() as connection:
        good = tell(
            connection, "El build del front fallaba en CI con error 137 y al final era la memoria: subirla a 4 GB"
        )
        made_up = tell(connection, "The S3 upload failed with 403; fixed by the bucket policy")
        [question] = patterns.PASS.questions(view_of(connection))
        answer = {
            "patterns": [
                {"entry": good.id, "trigger": "build en CI error 137", "response": "subir la memoria a 4 GB"},
                {"entry": made_up.id, "trigger": "S3 upload 403", "response": "call Bob at the data centre tonight"},
                {"entry": 999, "trigger": "a b c", "response": "d e f"},
            ]
        }
        sleep(connection, patterns.PASS, answers={question.key: json.dumps(answer)})
        assert {found.response for found in _live(connection)} == {
            "subir la memoria a 4 GB",
            "fixed by the bucket policy",
        }


def test_an_entry_that_only_a_model_understands_teaches_when_it_is_asked() -> None:
    """Though the rules have judged it in an earlier night."""
    with open_memory() as connection:
        entry = tell(connection, "El build fallaba con error 137; era la memoria, la subí a 4 GB")
        [question] = patterns.PASS.questions(view_of(connection))
        assert told(sleep(connection, patterns.PASS, asked=True)) == []
        answer = {"patterns": [{"entry": entry.id, "trigger": "build error 137", "response": "la memoria a 4 GB"}]}
        sleep(connection, patterns.PASS, THEN + timedelta(days=1), {question.key: json.dumps(answer)})
        assert [found.response for found in _live(connection)] == ["la memoria a 4 GB"]


@pytest.mark.parametrize(
    "answer", ["", "no patterns", "[]", '{"patterns": 7}', '{"patterns": [1, null, {"entry": "1"}]}']
)
def test_an_answer_that_cannot_be_read_leaves_it_to_the_rules(answer: str) -> None:
    """Nothing is lost by it."""
    with open_memory() as connection:
        tell(connection, _SEED)
        [question] = patterns.PASS.questions(view_of(connection))
        sleep(connection, patterns.PASS, answers={question.key: answer})
        assert [found.trigger for found in _live(connection)] == ["n8n webhook 401 error"]


def test_every_pattern_that_is_unsure_and_unused_goes() -> None:
    """Not every other one; what was used, is sure enough or pinned stays, and what was brought back stays too."""
    with open_memory() as connection:

        def put(text: str, confidence: float, uses: int = 0, held: str = "durable") -> int:
            columns: dict[str, str | float] = {"confidence": confidence, "use_count": uses, "policy_class": held}
            return put_record(connection, f"{text} → do it", form="procedure", columns=columns).id

        gone = [put(f"doubt {number}", 0.29) for number in range(6)]
        kept = [put("sure", 0.3), put("used", 0.1, 1), put("pinned", 0.1, held="protected")]
        assert [change.record for change in sleep(connection, endings.PATTERNS)] == gone
        assert {get(connection, number).status for number in gone} == {"expired"}
        assert {get(connection, number).status for number in kept} == {"active"}
        connection.execute("UPDATE record SET status = 'active' WHERE id = ?", (gone[0],))
        assert sleep(connection, endings.PATTERNS) == []
