"""What recall is measured on is read as its makers meant it."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kenobot.ports.errors import ConfigError
from kenobot_evals.recall import datasets

LOCOMO = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ann",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "Hello", "blip_caption": "a red door"},
            {"speaker": "Bob", "dia_id": "D1:2", "text": "Hi"},
        ],
    },
    "qa": [
        {"question": "What was red?", "answer": "a door", "evidence": ["D1:1; D1:9"], "category": 4},
        {"question": "What was blue?", "evidence": ["D1:1"], "category": 5},
        {"question": "Who knows?", "answer": "nobody", "evidence": [], "category": 1},
    ],
}
LONGMEMEVAL = {
    "question_id": "q1",
    "question_type": "single-session-user",
    "question": "Where do I live?",
    "question_date": "2023/05/30 (Tue) 23:40",
    "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/19 (Fri) 02:21"],
    "haystack_session_ids": ["late", "early"],
    "haystack_sessions": [
        [{"role": "user", "content": "I live in Graz", "has_answer": True}, {"role": "assistant", "content": "Nice"}],
        [{"role": "user", "content": "Hello"}],
    ],
    "answer_session_ids": ["late"],
}
LATER = "2024-04-26T05:56:00+00:00"
ASSISTANT = {
    "id": "chat-1",
    "turns": [
        {"id": "0", "role": "user", "at": "2024-03-15T10:00:00+01:00", "text": "Plan my sprint"},
        {"id": "1", "role": "assistant", "at": "2024-03-15T09:01:00+00:00", "text": "Of course"},
    ],
    "questions": [
        {
            "id": "q",
            "category": "plan",
            "question": "What?",
            "asked_at": LATER,
            "evidence": ["0"],
            "evidence_by_words": ["1"],
        },
        {
            "id": "n",
            "category": "abstention",
            "question": "Who?",
            "asked_at": LATER,
            "evidence": [],
        },
    ],
}


def _load(folder: Path, data: object) -> list[datasets.Conversation]:
    (folder / "set.json").write_text(json.dumps(data), "utf-8")
    return datasets.load(str(folder / "set.json"))


def test_locomo_gives_turns_with_speaker_and_time_and_questions_with_and_without_an_answer(tmp_path: Path) -> None:
    """A picture is told by its caption; an answer that is not in the data counts as never found."""
    (conversation,) = _load(tmp_path, [LOCOMO])
    first = conversation.passages[0]
    assert (first.attributed_text, first.at) == (
        "Ann: Hello [image: a red door]",
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
    )
    assert [(q.text, q.category, set(q.gold)) for q in conversation.questions] == [
        ("What was red?", "single-hop", {"D1:1", "D1:9"}),
        ("What was blue?", "nothing", set()),
    ]


def test_longmemeval_gives_a_haystack_in_order_of_time(tmp_path: Path) -> None:
    """Each question has a home of its own; what is marked as the answer is the answer."""
    (conversation,) = _load(tmp_path, [LONGMEMEVAL])
    assert [unit.key for unit in conversation.passages] == ["early:0", "late:0", "late:1"]
    (question,) = conversation.questions
    assert (question.gold, question.at.day, conversation.passages[2].role) == (("late:0",), 30, "assistant")


def test_a_question_of_longmemeval_without_an_answer_has_no_gold(tmp_path: Path) -> None:
    """Its name says so."""
    (conversation,) = _load(tmp_path, [{**LONGMEMEVAL, "question_id": "q1_abs"}])
    assert (conversation.questions[0].gold, conversation.questions[0].category) == ((), "nothing")


def test_a_chat_with_an_assistant_gives_turns_by_role_and_questions_with_and_without_an_answer(tmp_path: Path) -> None:
    """It is private: nobody is named, and times are told in UTC."""
    (conversation,) = _load(tmp_path, [ASSISTANT])
    assert [(unit.key, unit.role, unit.who, unit.at.hour) for unit in conversation.passages] == [
        ("0", "user", "", 9),
        ("1", "assistant", "", 9),
    ]
    assert [(q.id, q.gold, q.at.month) for q in conversation.questions] == [("q", ("0",), 4), ("n", (), 4)]
    assert [q.by_words for q in conversation.questions] == [("1",), ()]


def test_what_ships_is_as_large_as_promised() -> None:
    """Three hundred notes and questions of two people, in two languages and across, with changes and gaps."""
    homes = datasets.load("own")
    kinds = Counter(question.category for home in homes for question in home.questions)
    assert [home.name for home in homes] == ["es", "en"]
    assert sum(len(home.passages) for home in homes) >= 300
    assert kinds.total() - kinds["nothing"] >= 300
    assert min(kinds[kind] for kind in ("update", "neg", "person", "date", "across", "nothing")) >= 15


def test_every_question_that_ships_is_answered_by_what_ships() -> None:
    """No answer points at a turn or note that is not there."""
    for name in datasets.BUILT_IN:
        for conversation in datasets.load(name):
            known = {unit.key for unit in conversation.passages}
            assert all(set(question.gold) <= known for question in conversation.questions)
            assert {unit.replaces for unit in conversation.passages} <= known | {""}


def test_a_question_may_be_answered_by_several_notes(tmp_path: Path) -> None:
    """The one that it was written for, first, and those that it names besides."""
    (tmp_path / "set.jsonl").write_text(
        '{"id": "a", "lang": "en", "at": "2025-01-01", "kind": "fact", "text": "I run", "ask": []}\n'
        '{"id": "b", "lang": "en", "at": "2025-01-02", "kind": "fact", "text": "I swim", '
        '"ask": [{"lang": "en", "text": "Which sport do I do?", "also": ["a"]}, {"lang": "es", "text": "¿Nado?"}]}\n'
    )
    (home,) = datasets.load(str(tmp_path / "set.jsonl"))
    assert [question.gold for question in home.questions] == [("b", "a"), ("b",)]


def test_questions_that_nothing_answers_are_many_in_both_languages() -> None:
    """Enough of them that a percent is more than one question."""
    unanswered = [question for home in datasets.load("own") for question in home.questions if not question.gold]
    languages = Counter(question.lang for question in unanswered)
    assert len({question.text for question in unanswered}) == len(unanswered) >= 120
    assert min(languages["es"], languages["en"]) >= 60


@pytest.mark.parametrize(("split", "asked"), [("t1", 0), ("when", 0), ("en", 0)])
def test_a_part_is_a_conversation_a_category_or_a_language(split: str, asked: int) -> None:
    """And nothing else of it is asked."""
    found = datasets.select_part(datasets.load("talks"), split)
    questions = [(each.name, q) for each in found for q in each.questions]
    assert len(questions) > asked
    assert all(split in (name, q.category, q.lang) for name, q in questions)


def test_a_part_that_is_not_there_is_named() -> None:
    """With the names of those that are."""
    with pytest.raises(ConfigError, match="t2"):
        datasets.select_part(datasets.load("talks"), "t9")


def test_a_limit_takes_some_of_each_conversation() -> None:
    """So that a quick look is no look at one home only."""
    found = datasets.select_part(datasets.load("talks"), "", 7)
    assert sorted(len(each.questions) for each in found) == [3, 4]


@pytest.mark.parametrize("text", ["[1, 2]", "{}", "nonsense"])
def test_a_file_of_another_form_is_refused_in_plain_words(tmp_path: Path, text: str) -> None:
    """No traceback."""
    (tmp_path / "set.json").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match="neither"):
        datasets.load(str(tmp_path / "set.json"))


def test_another_session_begins_after_a_pause() -> None:
    """Turns within half an hour of each other are of one session; notes are of none."""
    chat = {
        "id": "c",
        "turns": [
            {"id": str(at), "role": "user", "at": f"2024-03-15T{time}:00+00:00", "text": "Plan"}
            for at, time in enumerate(("09:00", "09:29", "09:59", "10:00"))
        ],
        "questions": [],
    }
    assert datasets._document(chat)[0].number_sessions() == {"0": 0, "1": 0, "2": 1, "3": 1}
    assert datasets.load("own")[0].number_sessions() == {}
