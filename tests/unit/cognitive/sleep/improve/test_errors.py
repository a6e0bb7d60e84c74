"""Whose trouble was it, and what is to be learned from it: once, from our own, and never from a lesson."""

import json
from datetime import timedelta

import pytest

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.sleep.improve import errors
from kenobot.cognitive.sleep.improve.errors import PASS
from kenobot.cognitive.sleep.plan.changes import AdmitRecord
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.memory_rows import get, open_memory, put_record
from tests.nights import carry_out, view

_NIGHT = START + timedelta(hours=14)
_MISSING = "Config error: missing DATABASE_URL in configuration"


def _lessons(connection: Connection) -> list[Record]:
    rows = connection.execute("SELECT id FROM record WHERE category = 'lesson' ORDER BY id").fetchall()
    return [get(connection, row[0]) for row in rows]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("401 Unauthorized", "external"),
        ("n8n webhooks: use query params — headers cause 401 errors", "external"),
        ("El servidor no responde", "external"),
        ("Error de red al llamar a la API", "external"),
        ("Falta la clave de la API", "configuration"),
        ("Variable de entorno sin definir", "configuration"),
        ("Parámetro no válido en la petición", "user"),
        ("Fecha incorrecta en el formulario", "user"),
        ("Algo ha ido mal", "internal"),
        ("何かがおかしい", "internal"),
    ],
)
def test_trouble_is_told_apart_in_both_languages(text: str, kind: str) -> None:
    """A 401 comes from outside, as the seed says of its own example."""
    assert errors.classify(text) == kind


def test_our_own_trouble_teaches_a_lesson_once() -> None:
    """It stands in MEMORY.md with a link to where it comes from; later nights add nothing (KenoBot 7)."""
    with open_memory() as connection:
        source = put_record(connection, _MISSING, form="episode")
        carry_out(connection, PASS, _NIGHT)
        [lesson] = _lessons(connection)
        assert lesson.text == f"Configuration issue: {_MISSING} (learned 2026-02-15)"
        assert (lesson.tier, lesson.trust, lesson.source, lesson.scope) == ("core", "model", "sleep", "owner")
        assert connection.execute("SELECT src, dst FROM link WHERE type = 'derived'").fetchall() == [
            (lesson.id, source.id)
        ]
        for night in range(1, 4):
            assert carry_out(connection, PASS, _NIGHT + timedelta(days=night), since=START) == []
        assert len(_lessons(connection)) == 1


def test_a_lesson_is_the_line_that_tells_of_the_error() -> None:
    """Not what stands around it, nor a heading; an entry without such a line teaches nothing."""
    policy = DEFAULT.pruning
    entry = "## 09:00 — Deployed the new parser\n# Errors\nError: it crashed on empty input\nLunch after that"
    lesson = errors.lesson_text(entry, "internal", "2026-02-22", policy)
    assert lesson == "Internal issue: Error: it crashed on empty input (learned 2026-02-22)"
    assert errors.lesson_text("## 09:00 — all went well today", "internal", "2026-02-22", policy) is None
    assert (
        errors.lesson_text("all went well today", "internal", "2026-02-22", policy, "Check the input first") is not None
    )


def test_a_spanish_lesson_is_in_spanish() -> None:
    """The words around an entry are of its language."""
    with open_memory() as connection:
        put_record(connection, "El script falló con una excepción al ordenar la lista de invitados", form="episode")
        carry_out(connection, PASS, _NIGHT)
        [lesson] = _lessons(connection)
        assert lesson.text.startswith("Fallo interno: El script falló")
        assert lesson.text.endswith("(aprendido 2026-02-15)")


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({}, "The webhook gives a 401 error"),
        ({}, "Error: invalid parameter in the form"),
        ({}, "Juan failed his driving exam"),
        ({}, "Ana likes jazz"),
        ({"source": "sleep"}, _MISSING),
        ({"category": "lesson"}, _MISSING),
        ({"trust": "tool"}, _MISSING),
        ({"trust": "forward"}, _MISSING),
        ({"source": "import"}, _MISSING),
        ({"status": "forgotten"}, _MISSING),
    ],
)
def test_nothing_is_learned_from_elsewhere(columns: dict[str, str | float], text: str) -> None:
    """Not from what comes from outside, from a slip, from life, from its own lessons, from what others wrote."""
    with open_memory() as connection:
        put_record(connection, text, columns=columns)
        carry_out(connection, PASS, _NIGHT)
        assert [lesson.source for lesson in _lessons(connection)] == (["extraction"] if "category" in columns else [])


def test_what_was_looked_at_is_marked_with_its_class() -> None:
    """The mark is a tag, beside the tags that were there."""
    with open_memory() as connection:
        record = put_record(connection, "The webhook gives a 401 error", tags='["n8n"]')
        [change] = carry_out(connection, PASS, _NIGHT)
        assert json.loads(get(connection, record.id).tags) == ["n8n", "error:external"]
        assert (change.kind, change.reason) == ("classified", "it came from outside: nothing to be learned")


def test_a_model_judges_many_at_once_and_the_rules_what_it_leaves_out() -> None:
    """One question for all; what it says of an entry holds, and an entry it says nothing of goes by its words."""
    with open_memory() as connection:
        put_record(connection, "The export failed: it sorted before it filtered", form="episode")
        put_record(connection, _MISSING, form="episode")
        put_record(connection, "Juan failed his driving exam", form="episode")
        [question] = PASS.questions(view(connection, _NIGHT))
        assert "[1] > The export failed" in question.text
        said = {"class": "internal", "entry": 1, "lesson": "Filter before sorting in the export."}
        answer = json.dumps({"entries": [said, {"entry": 3, "class": "none"}, {"entry": 9, "class": "internal"}]})
        carry_out(connection, PASS, _NIGHT, answers={question.key: f"Here you are: {answer}"})
        assert [lesson.text for lesson in _lessons(connection)] == [
            "Internal issue: Filter before sorting in the export. (learned 2026-02-15)",
            f"Configuration issue: {_MISSING} (learned 2026-02-15)",
        ]
        assert PASS.questions(view(connection, _NIGHT)) == []


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I cannot help",
        "{",
        "[]",
        '{"entries": 5}',
        '{"entries": [{"entry": "1", "class": "internal"}]}',
        '{"entries": [{"entry": 1, "class": "fatal"}]}',
        '{"entries": [{"entry": 0, "class": "internal"}]}',
    ],
)
def test_an_answer_that_cannot_be_read_leaves_all_to_the_rules(answer: str) -> None:
    """Nothing is learned from nonsense, and nothing lost."""
    assert errors.parse_verdicts(answer, 1, DEFAULT.pruning) == {}


def test_a_question_stays_the_same_while_its_answers_are_carried_out() -> None:
    """Whoever goes on after a crash finds the answer that was given before it."""
    with open_memory() as connection:
        put_record(connection, _MISSING, form="episode")
        put_record(connection, "The export failed: it sorted before it filtered", form="episode")
        before = PASS.questions(view(connection, _NIGHT))
        first = next(iter(PASS.plan(view(connection, _NIGHT))))
        assert isinstance(first.parts[1], AdmitRecord)
        connection.execute("UPDATE record SET tags = '[\"error:configuration\"]' WHERE id = 1")
        assert PASS.questions(view(connection, _NIGHT)) == before


def test_lessons_stay_in_the_scope_of_the_trouble_and_scopes_share_no_question() -> None:
    """A guest's trouble is nobody else's lesson."""
    with open_memory() as connection:
        put_record(connection, _MISSING, scope="user:fake-2", trust="guest")
        put_record(connection, "Traceback: the import crashed with an exception")
        assert len(PASS.questions(view(connection, _NIGHT))) == 2
        carry_out(connection, PASS, _NIGHT)
        assert {lesson.scope for lesson in _lessons(connection)} == {"owner", "user:fake-2"}


def test_what_cannot_be_mended_by_trying_again_weighs_more() -> None:
    """Lost data is remembered before a hiccup."""
    assert errors.is_recoverable("Request timeout")
    assert errors.is_recoverable("fatal: timeout")
    assert not errors.is_recoverable("Fatal: the database is corrupt")
    assert not errors.is_recoverable("Error irrecuperable: datos perdidos")
