"""List, read, write and edit the files of workspaces."""

import asyncio
from itertools import islice
from typing import Final

from pydantic import Field

from kenobot.ports.errors import ToolFailed
from kenobot.ports.plugin import NoSettings, Plugin
from kenobot.ports.tool import ToolContext, ToolEffects
from kenobot.tools.workspace.folder import ListedFile, WorkspaceFolder
from kenobot.tools.workspace.paths import show_path
from kenobot.tools.workspace.text import decode_text, exchange, show_lines
from kenobot.tools.workspace.workspaces import InWorkspace, Workspaces

READS: Final = ToolEffects(reads_private=True, brings_untrusted=True, way_out=False, changes_outside=False)
"""A file is the owner's, and may hold words of strangers."""

_WRITES: Final = ToolEffects(
    reads_private=False, brings_untrusted=False, way_out=False, changes_outside=True, asks_first=True
)
_MOST_READ: Final = 20_000_000  # bytes
_MOST_TEXT: Final = 200_000  # characters of a document
_MOST_EDITED: Final = 5_000_000
_MOST_WRITTEN: Final = 200_000  # characters
_MOST_LISTED: Final = 200
_LISTED_CHARS: Final = 7000
_LONGEST_PATH: Final = 1000
_PATH: Final = "As notes/today.md."


class ListArguments(InWorkspace):
    path: str = Field("", max_length=_LONGEST_PATH, description="A folder; without one: all of the workspace.")
    deep: bool = Field(False, description="Also the folders below.")


class _FileTool:
    """A tool that works in workspaces."""

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces


class ListFiles(_FileTool):
    """Lists what is in a folder of a workspace."""

    name = "list_files"
    arguments = ListArguments
    effects = READS

    def __init__(self, workspaces: Workspaces) -> None:
        super().__init__(workspaces)
        self.description = f"List a folder of a workspace of the owner's.{workspaces.describe()}"

    async def run(self, arguments: ListArguments, turn: ToolContext) -> str:
        """Return the names by folder, with sizes; so many at most."""
        folder = self._workspaces.choose(arguments.workspace, turn)

        def read() -> list[ListedFile]:
            return list(islice(folder.list_entries(arguments.path, deep=arguments.deep), _MOST_LISTED + 1))

        return _show_list(await asyncio.to_thread(read))


class ReadArguments(InWorkspace):
    path: str = Field(min_length=1, max_length=_LONGEST_PATH, description=_PATH)
    first_line: int = Field(1, ge=1, le=10_000_000)


class ReadFile(_FileTool):
    """Reads a file of a workspace: a text by lines, or the text of a document."""

    name = "read_file"
    description = "Read a file of a workspace: text, PDF or office document. A long one is read by parts."
    arguments = ReadArguments
    effects = READS

    async def run(self, arguments: ReadArguments, turn: ToolContext) -> str:
        """Return its lines from one on, as many as are shown at once."""
        folder = self._workspaces.choose(arguments.workspace, turn)
        content = await asyncio.to_thread(folder.read, arguments.path, _MOST_READ)
        text = decode_text(content.data)
        if text is None:
            text = await turn.read_document(content.data, arguments.path.rpartition("/")[2], "", _MOST_TEXT)
        return show_lines(text, arguments.first_line)


class WriteArguments(InWorkspace):
    path: str = Field(min_length=1, max_length=_LONGEST_PATH, description=_PATH)
    text: str = Field(max_length=_MOST_WRITTEN)
    replace: bool = Field(False, description="Write over a file that is there.")


class WriteFile(_FileTool):
    """Writes a file of a workspace as a whole."""

    name = "write_file"
    description = "Write a new file in a workspace, with the folders that it needs."
    arguments = WriteArguments
    effects = _WRITES

    async def run(self, arguments: WriteArguments, turn: ToolContext) -> str:
        """Write it and say so."""
        folder, path = self._workspaces.choose(arguments.workspace, turn), arguments.path
        data = arguments.text.encode()
        was_there = await asyncio.to_thread(folder.write, path, data, replaces=arguments.replace)
        return f"{'Replaced' if was_there else 'Written'}: {show_path(path)}, {len(data)} bytes."


class EditArguments(InWorkspace):
    path: str = Field(min_length=1, max_length=_LONGEST_PATH, description=_PATH)
    old: str = Field(min_length=1, max_length=_MOST_WRITTEN, description="A passage, exactly as it stands, once.")
    new: str = Field(max_length=_MOST_WRITTEN, description="What takes its place.")


class EditFile(_FileTool):
    """Exchanges a passage of a text file."""

    name = "edit_file"
    description = "Exchange one passage of a text file in a workspace."
    arguments = EditArguments
    effects = _WRITES

    async def run(self, arguments: EditArguments, turn: ToolContext) -> str:
        """Exchange it and say so; a file that changes meanwhile is left as it is."""
        folder = self._workspaces.choose(arguments.workspace, turn)
        await asyncio.to_thread(_edit, folder, arguments)
        return f"Edited: {show_path(arguments.path)}."


def _edit(folder: WorkspaceFolder, arguments: EditArguments) -> None:
    content = folder.read(arguments.path, _MOST_EDITED)
    try:
        text = content.data.decode()
    except UnicodeDecodeError:
        raise ToolFailed("It is no text in UTF-8, and cannot be edited.") from None
    changed = exchange(text, arguments.old, arguments.new).encode()
    folder.write(arguments.path, changed, replaces=True, before=content.state)


def _show_list(found: list[ListedFile]) -> str:
    lines, room = list[str](), _LISTED_CHARS
    for each in found[:_MOST_LISTED]:
        path = show_path(each.path)[1:-1]
        match each.kind:
            case "folder":
                line = f"{path}/"
            case "file":
                line = f"{path}  {each.size}"
            case kind:
                line = f"{path}  ({kind}, not followed)" if kind == "link" else f"{path}  (no file)"
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    if len(lines) < len(found):
        lines.append("[and more, which is not shown: list a folder further down]")
    return "\n".join(lines) or "(an empty folder)"


list_files = Plugin(settings=NoSettings, build=lambda _settings, context: ListFiles(Workspaces.of(context)))
read_file = Plugin(settings=NoSettings, build=lambda _settings, context: ReadFile(Workspaces.of(context)))
write_file = Plugin(settings=NoSettings, build=lambda _settings, context: WriteFile(Workspaces.of(context)))
edit_file = Plugin(settings=NoSettings, build=lambda _settings, context: EditFile(Workspaces.of(context)))
