"""An import in short transactions: others write in between, and one that was broken off is completed by the next."""

from collections.abc import Callable

import pytest

from bench.cost import memories
from kenobot.cognitive.control import export
from kenobot.cognitive.control.export_format import ImportFormatError
from kenobot.cognitive.mirror.paths import is_memory_file
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.memory_rows import open_memory

_RECORDS = 30
_OCCASION = AdmitContext(START, START.date().isoformat(), "import")


def _lines() -> list[str]:
    return list(memories.export_lines(_RECORDS, START))


def _held(connection: Connection) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """The records, all of them shown, and what is told of each."""
    records = connection.execute("SELECT text, status, changed_event > 0 FROM record ORDER BY text").fetchall()
    told = connection.execute(
        "SELECT record.text, type, count(*) FROM event JOIN record ON record.id = event.record_id GROUP BY 1, 2 "
        "ORDER BY 1, 2"
    ).fetchall()
    return records, told


def _run(connection: Connection, stop_after: int | None, meanwhile: Callable[[], object] = lambda: None) -> None:
    lines = _lines()
    summary = export.check_lines(lines, is_memory_file)
    steps = export.import_in_steps(connection, lines, summary, _OCCASION, is_memory_file)
    for number, _ in enumerate(steps, 1):
        meanwhile()
        if number == stop_after:
            return


@pytest.mark.parametrize("stop_after", [1, _RECORDS // 2, _RECORDS, _RECORDS + 7, 2 * _RECORDS + 5])
def test_an_import_that_was_broken_off_is_completed_by_the_same_one_again(stop_after: int) -> None:
    """Then all is as if it had gone through at once: nothing twice, and nothing untold."""
    with open_memory() as whole, open_memory() as broken:
        _run(whole, None)
        _run(broken, stop_after)
        _run(broken, None)
        assert _held(broken) == _held(whole)
        _run(broken, None)
        assert _held(broken) == _held(whole)


def test_what_comes_in_meanwhile_keeps_its_numbers() -> None:
    """Events that a bot writes between two transactions take no number that the import would overwrite."""
    with open_memory() as whole, open_memory() as shared:
        _run(whole, None)
        _run(
            shared,
            None,
            lambda: shared.execute("INSERT INTO event (at, actor, type, data) VALUES ('', 'bot', 'extracted', '{}')"),
        )
        assert _held(shared) == _held(whole)
        [(others,)] = shared.execute("SELECT count(*) FROM event WHERE actor = 'bot'").fetchall()
        assert others > _RECORDS


def test_a_damaged_file_is_refused_before_anything_is_written() -> None:
    """However late its fault stands."""
    with open_memory() as connection:
        for lines in (_lines()[:-1], [*_lines(), "{}"], [*_lines(), *_lines()[1:2]]):
            with pytest.raises(ImportFormatError):
                export.import_lines(connection, lines, _OCCASION, is_memory_file)
        assert connection.execute("SELECT count(*) FROM record").fetchone() == (0,)
