"""A copy that follows a bot by its captured changes alone knows all that the bot does."""

from pathlib import Path

import pytest

from kenobot.cognitive.store import term_index
from kenobot.storage.connection import Connection
from tests.replay import replay_all
from tests.scene import Scene

_TALK = (
    "My sister Ana lives in Lisbon.",
    "My boat is called Gaviota.",
    "Remind me tomorrow at nine to water the plants.",
    "My sister Ana lives in Porto now.",
    "/remember my car is red",
    "/memory",
    "/forget my car is red",
    "Where does Ana live?",
)


def _terms(connection: Connection) -> list[tuple[int, int]]:
    return connection.execute("SELECT term, record_id FROM term_index ORDER BY term, record_id").fetchall()


def _index_anew(connection: Connection) -> list[tuple[int, int]]:
    connection.execute("DELETE FROM term_index")
    for record, scope in connection.execute("SELECT id, scope FROM record").fetchall():
        term_index.index_record(connection, record, scope)
    return _terms(connection)


@pytest.mark.usefixtures("replay")
async def test_a_copy_follows_turns_and_a_night(tmp_path: Path) -> None:
    """Talk, reminders, corrections, commands and sleep, over a restart; the copy is equal, table by table."""
    with replay_all() as differences:
        async with Scene(tmp_path, ["Understood."], extraction=True) as scene:
            for text in _TALK:
                await scene.say(text)
            await scene.app.background.sleep_worker.sleep("command")
            assert await scene.rows("SELECT state FROM sleep_run") == [("finished",)]
        async with Scene(tmp_path, ["Understood."], extraction=True) as scene:
            await scene.say(_TALK[-1])
            assert await scene.rows("SELECT count(*) > 3 FROM record") == [(1,)]
            assert await scene.rows("SELECT count(*) FROM job") == [(1,)]
            assert await scene.app.database.write(_index_anew) == await scene.app.database.read(_terms)
    assert differences == []
