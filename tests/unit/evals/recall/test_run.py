"""What is measured is the product: its database, its index, its one door."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kenobot.agent.experts.further_queries import MAX_QUERIES
from kenobot.cli import main
from kenobot.cognitive.memory import Memory
from kenobot.cognitive.recall.results.memory import MemoryQuery, SearchReport
from kenobot.cognitive.recall.search.recall import recall_with_queries
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import ConfigError
from kenobot.ports.memory import Candidate, Decision
from kenobot.storage.connection import Connection
from kenobot_evals.recall.caching_embedder import CachingEmbedder
from kenobot_evals.recall.datasets import BUILT_IN, Conversation, Passage, Question, load, load_queries
from kenobot_evals.recall.eval_home import EvalHome, EvalOptions, open_eval_home
from kenobot_evals.recall.explain import explain_misses
from kenobot_evals.recall.run import RecallReport, run
from kenobot_testing.embedder import WordEmbedder

BEGAN = datetime(2024, 3, 2, 18, 0, tzinfo=UTC)
END = BEGAN + timedelta(days=40)


def _turn(key: str, who: str, text: str, day: int = 0, second: int = 0) -> Passage:
    return Passage(key, text, BEGAN + timedelta(days=day, seconds=second), who=who)


TALK = Conversation(
    "talk",
    (
        _turn("a1", "Ann", "My sister moved to Graz last week"),
        _turn("a2", "Bob", "How does she like the mountains?", second=1),
        _turn("a3", "Ann", "She adores them, and bought skis", second=2),
        _turn("b1", "Bob", "The boiler broke again", day=9),
        _turn("b2", "Ann", "Call the plumber then", day=9, second=1),
    ),
    (
        Question("talk:0", "Where did Ann's sister move?", "single", ("a1",), END),
        Question("talk:1", "What broke at Bob's?", "single", ("b1",), END),
        Question("talk:2", "Who painted the fence?", "nothing", (), END),
    ),
)
NOTES = Conversation(
    "notes",
    (
        Passage("n1", "The office is in Vienna", BEGAN, "note"),
        Passage("n2", "The office is in Linz now", END - timedelta(days=2), "note", replaces="n1"),
        Passage("n3", " \u200b ", BEGAN, "note"),
    ),
    (
        Question("n2:0", "Where is the office?", "update", ("n2",), END),
        Question("n3:0", "What is blank?", "fact", ("n3",), END),
    ),
)


def _silent(*_: object) -> None:
    """Nobody watches."""


def _run(*conversations: Conversation) -> RecallReport:
    return asyncio.run(run(conversations, EvalOptions("none"), SystemClock(), _silent))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[MemoryQuery, SearchReport]]]:
    """Every call of the product's door, with what came of it; the door itself is untouched."""
    calls: list[tuple[MemoryQuery, SearchReport]] = []

    def spy(memory: Memory, connection: Connection, query: MemoryQuery) -> SearchReport:
        assert memory.index is not None
        pack = recall_with_queries(connection, memory.index, query)
        calls.append((query, pack))
        return pack

    monkeypatch.setattr(Memory, "recall", spy)
    yield calls


def test_the_ranking_that_is_measured_is_what_recall_gives(asked: list[tuple[MemoryQuery, SearchReport]]) -> None:
    """One call of the product's door a question, within the budget; its order, and nothing beside it."""
    report = _run(TALK)
    assert [query.text for query, _ in asked] == [question.text for question in TALK.questions]
    keys = [unit.key for unit in TALK.passages]
    for (query, pack), row in zip(asked, report.rows, strict=True):
        assert [keys[excerpt.turn.id - 1] for excerpt in pack.excerpts] == [key for key, _ in row.explained_ranking]
        assert (row.tokens, row.level) == (pack.tokens, pack.level)
        assert query.budget == EvalOptions().budget and pack.tokens <= query.budget


def test_turns_are_found_and_figures_told_by_method() -> None:
    """A question without an answer counts in none of them."""
    report = _run(TALK)
    assert report.scores("recall")["all"].questions == 2
    assert report.scores("recall")["all"].mrr == 1.0
    assert report.scores("bm25")["all"].recall[5] == 1.0
    assert report.scores("dense")["all"].questions == 0


def test_what_a_chat_is_shown_of_needed_words_is_told_where_the_data_names_them() -> None:
    """Of a reply that has no word of the request it is a line beside the message that it answers."""
    said = (
        Passage("m1", "How shall we paint the veranda turquoise", BEGAN),
        Passage("m2", "Buy lime wash and two brushes first, then sand the boards", BEGAN, role="assistant"),
    )
    asked = Question("q", "Go on with the turquoise veranda", "next", ("m1",), END, by_words=("m2",))
    assert _run(Conversation("chat", said, (asked,))).needed[0] == 1.0
    assert _run(TALK).needed == {}


def test_notes_go_in_by_the_door_of_memory() -> None:
    """What is replaced is not found any more; what is not taken in is named as that."""
    report = _run(NOTES)
    first, second = report.rows
    assert [key for key, _ in first.explained_ranking] == ["n2"]
    assert [(verdict.unit, verdict.stage) for verdict in second.misses] == [("n3", "not kept")]


async def test_notes_are_compared_with_every_note_before_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each note is embedded before the next is admitted, so that the same notes have the same links in every run."""
    compared: list[int] = []

    def spy(connection: Connection, candidate: Candidate, occasion: AdmitContext, instead_of: int | None) -> Decision:
        near = occasion.nearness  # None before the first note is embedded
        compared.append(len(near(connection, candidate.scope, "owner", candidate.text, 10)) if near else 0)
        return admit(connection, candidate, occasion, instead_of=instead_of)

    monkeypatch.setattr(Memory, "remember", staticmethod(spy))
    texts = ("The lease runs to May", "The boiler is in the attic", "Aunt Ida plays the cello")
    notes = Conversation("notes", tuple(Passage(text, text, BEGAN, "note") for text in texts), ())
    async with open_eval_home(notes, tmp_path, WordEmbedder(), SystemClock(), _silent):
        assert compared == [0, 1, 2]


async def test_each_miss_has_the_stage_that_lost_it(tmp_path: Path) -> None:
    """Nothing led to it, it may not be shown, or others were better."""
    async with open_eval_home(TALK, tmp_path, None, SystemClock(), _silent) as place:

        async def stage(gold: str, text: str, most: int = 20) -> str:
            question = Question("q", text, "single", (gold,), END)
            (verdict,) = explain_misses(place, question, await place.recall(question, 2000, most), most)
            return verdict.stage

        assert await stage("b1", "Where did the sister move?") == "no candidate"
        assert await stage("a3", "Where did the sister move?", most=1) == "outscored"
        await _veil(place, "a1")
        assert await stage("a1", "Where did the sister move?") == "filtered"


async def _veil(place: EvalHome, key: str) -> None:
    number = next(number for number, each in place.turn_keys.items() if each == key)

    def work(connection: Connection) -> None:
        connection.execute("UPDATE message SET inbox_id = 77 WHERE id = ?", (number,))
        connection.execute("INSERT INTO hidden_turn (inbox_id, record_id) VALUES (77, 1)")

    await place.database.write(work)


async def test_vectors_are_kept_between_runs(tmp_path: Path) -> None:
    """A second run asks the model for nothing."""
    model = WordEmbedder()
    first = CachingEmbedder(model, tmp_path / "vectors.db")
    rows = await first.embed(["a cat", "a dog", "a cat"])
    await first.aclose()
    again = CachingEmbedder(WordEmbedder(), tmp_path / "vectors.db")
    assert [list(row) for row in await again.embed(["a dog", "a cat"])] == [list(rows[1]), list(rows[0])]
    assert len(model.embedded) == 2
    await again.aclose()


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """With the figures of recall beside those of BM25, and what a question costs."""
    assert main(["bench", "recall", "--dataset", "talks", "--embedder", "none", "--limit", "4"]) == 0
    out = capsys.readouterr().out
    assert "| recall, no model | 4 |" in out
    assert "| BM25 alone | 4 |" in out
    assert "tokens on the mean" in out


def test_the_command_explains_a_question(capsys: pytest.CaptureFixture[str]) -> None:
    """What was found and of what its score is made, and an answer marked."""
    words = ["bench", "recall", "--dataset", "talks", "--embedder", "none", "--explain", "t2:4"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert out.startswith("t2:4: Who is Nadia's landlady?")
    assert "* t2.1.9" in out and "lex" in out


def test_an_unknown_question_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """By its name."""
    assert main(["bench", "recall", "--dataset", "talks", "--explain", "t9:9"]) != 0
    assert "t9:9" in capsys.readouterr().err


def test_further_queries_are_compared_with_one_query(tmp_path: Path) -> None:
    """By how many turns answer; what they add is told beside the same questions without."""
    at = datetime(2025, 3, 1, 9, tzinfo=UTC)
    said = ["I joined the rowing club", "Volleyball practice was hard", *(f"Sports day {n}" for n in range(25))]
    units = tuple(Passage(f"u{n}", text, at + timedelta(minutes=n)) for n, text in enumerate(said))
    asked = (
        Question("both", "Which sports have I done?", "multi", ("u0", "u1"), at + timedelta(days=1), "en"),
        Question("one", "Where do I keep fit?", "single", ("u0",), at + timedelta(days=1), "en"),
        Question("none", "Where is the rowing club?", "single", ("u0",), at + timedelta(days=1), "en"),
    )
    queries = tmp_path / "queries.jsonl"
    rows = [{"id": each.id, "queries": ["rowing club", "volleyball practice"]} for each in asked[:2]]
    queries.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    options = EvalOptions("none", queries=load_queries(str(queries)))
    report = asyncio.run(run([Conversation("talk", units, asked)], options, SystemClock(), _silent))
    for scores in report.further_scores().values():
        assert {name: figures.questions for name, figures in scores.items()} == {"one query": 1, "recall": 1}
        assert scores["recall"].recall[5] == 1.0 > scores["one query"].recall[5]
    assert [*report.further_scores()] == ["several turns", "one turn"]


def test_shipped_queries_are_of_questions_that_are_asked() -> None:
    """Each is few and short, and belongs to a question of a set that ships."""
    asked = {question.id for name in BUILT_IN for talk in load(name) for question in talk.questions}
    queries = load_queries("careful")
    assert queries.keys() <= asked
    assert all(len(each) <= MAX_QUERIES for each in queries.values())


def test_queries_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    """With the file that holds them."""
    (tmp_path / "bad.jsonl").write_text('{"id": "one"}', "utf-8")
    with pytest.raises(ConfigError, match=r"bad\.jsonl"):
        load_queries(str(tmp_path / "bad.jsonl"))
