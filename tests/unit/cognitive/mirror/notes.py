"""What the mirror noted of a file, and a death before it did."""

from kenobot.cognitive.mirror.lists.list_edits import ListFileEdit
from kenobot.cognitive.mirror.lists.list_view import ListFile
from kenobot.cognitive.mirror.paths import role_of
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.store import list_file_rows
from kenobot.language.line_pairs import pair_lines
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state
from kenobot.storage.stepped_work import run_steps
from tests.unit.cognitive.mirror.house import House

Row = tuple[str, list[str | int]] | None


async def row_of(house: House, path: str) -> Row:
    return await house.database.read(lambda c: list_file_rows.list_file(c, path))


async def put_back(house: House, path: str, row: Row, cursor: str | None) -> None:
    """Undo what the mirror noted in the database after it had written the file: the process died in between."""

    def undo(connection: Connection) -> None:
        if row is None:
            list_file_rows.delete_list_file(connection, path)
        else:
            list_file_rows.save_list_file(connection, path, *row)
        write_state(connection, "mirror:event", cursor or "0")

    await house.database.write(undo)


async def cursor_of(house: House) -> str | None:
    return await house.database.read(lambda c: read_state(c, "mirror:event"))


def follow_edit(connection: Connection, house: House, path: str, text: str) -> int:
    """Let memory follow an edit that left `text` in one file, inside a transaction; how many facts it touched."""
    role, occasion = role_of(path), house.occasion("owner")
    assert role is not None
    lines = ListFile(connection, path, role, house.zone).lines(text)
    [edits] = pair_lines([lines], DEFAULT.files.alike_from, {})
    edit = ListFileEdit(connection, path, role, house.zone, occasion, edits, set())
    edit.note(run_steps(edit.follow(text, lines)))
    return edit.touched
