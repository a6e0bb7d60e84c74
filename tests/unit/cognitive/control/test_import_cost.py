"""An import of a large memory costs its length, and not its square."""

from bench.cost import memories
from kenobot.cognitive.control import export
from kenobot.cognitive.mirror.paths import is_memory_file
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot_testing.clock import START
from tests.memory_rows import open_memory

_STEPS = 100  # of SQLite's virtual machine between two counts


def _cost(records: int) -> float:
    """Steps of the database's virtual machine a record."""
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += _STEPS
        return 0

    with open_memory() as connection:
        connection.set_progress_handler(count, _STEPS)
        occasion = AdmitContext(START, START.date().isoformat(), "import")
        report = export.import_lines(connection, memories.export_lines(records, START), occasion, is_memory_file)
        assert report.added["record"] == records
        connection.set_progress_handler(None, 0)
    return counted / records


def test_a_record_costs_the_same_in_a_large_import() -> None:
    """Ten times as many records, and each costs hardly more than before."""
    assert _cost(1000) < 1.5 * _cost(100)
