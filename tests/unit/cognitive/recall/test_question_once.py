"""A question is read once, in `kenobot.language.question.question`, and handed down."""

import ast
from collections.abc import Iterator
from pathlib import Path

from kenobot.cognitive import recall
from kenobot.language.question.question import parse_question

_ROOT = Path(recall.__file__).parent
_ASKED = frozenset({"query.text", "question.text", "sieve.query.text"})


def _readings(tree: ast.Module) -> Iterator[str]:
    """Yield the calls of language that are given the text of a question alone."""
    imported = [each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)]
    names = {
        alias.asname or alias.name
        for each in imported
        if (each.module or "").startswith("kenobot.language")
        for alias in each.names
    }
    for call in (each for each in ast.walk(tree) if isinstance(each, ast.Call)):
        is_language = ast.unparse(call.func).partition(".")[0] in names
        if is_language and [*map(ast.unparse, call.args)] in [[each] for each in _ASKED]:
            yield ast.unparse(call)


def test_nothing_behind_a_query_reads_its_text_again() -> None:
    """What is read of the text alone is a part of `Question`; what is read beside another text is not."""
    found = {
        str(path.relative_to(_ROOT)): [*_readings(ast.parse(path.read_text("utf-8")))] for path in _ROOT.rglob("*.py")
    }
    assert len(found) > 30
    assert {path: calls for path, calls in found.items() if calls} == {}


def test_the_question_of_a_text_is_made_once() -> None:
    """Whoever asks for it is given the same one."""
    assert parse_question("What is my sister's code?") is parse_question("What is my sister's code?")
