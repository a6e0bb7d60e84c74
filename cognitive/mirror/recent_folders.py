"""The folders of cards of the last days, as they were last seen: what a turn can look at without the database."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kenobot.storage import disk
from kenobot.storage.disk import FileStamp

_MOST_FOLDERS = 64


@dataclass(frozen=True, slots=True)
class FolderSnapshot:
    """A folder's own mark, None when it is not there, and those of its newest files."""

    folder_stamp: FileStamp | None
    files: Mapping[str, FileStamp]


class RecentFolders:
    """What is remembered of a few folders. most: files of each, the newest ones."""

    def __init__(self, root: Path, most: int) -> None:
        self._root = root
        self._most = most
        self._seen: OrderedDict[str, FolderSnapshot] = OrderedDict()

    def remember_folder(self, folder: str, own: FileStamp | None, names: Mapping[str, FileStamp] | None) -> None:
        """A folder as it was just looked at. own: its mark from before the look."""
        newest = sorted((names or {}).items(), key=lambda item: item[1])[-self._most :]
        self._seen[folder] = FolderSnapshot(own, dict(newest))
        self._seen.move_to_end(folder)
        while len(self._seen) > _MOST_FOLDERS:
            self._seen.popitem(last=False)

    def remember_writes(self, folder: str, before: FileStamp | None, files: Mapping[str, FileStamp]) -> None:
        """Our own files in a folder, which was as `before` until then: they are no news. Looks at the folder."""
        seen = self._seen.get(folder)
        if seen is not None and seen.folder_stamp == before:
            self.remember_folder(folder, disk.peek(f"{self._root}/{folder}"), {**seen.files, **files})

    def snapshot(self, folders: Sequence[str]) -> dict[str, FolderSnapshot | None]:
        """What was seen of these folders; None of those that nobody has looked at."""
        return {folder: self._seen.get(folder) for folder in folders}


def any_changed(root: Path, seen: Mapping[str, FolderSnapshot | None]) -> bool:
    """Whether anything in these folders may not be as it was seen. Costs no more for a folder that is very full."""
    for folder, known in seen.items():
        place = f"{root}/{folder}"
        now = disk.peek(place)
        if known is None or now != known.folder_stamp:
            return known is not None or now is not None
        if any(disk.peek(f"{place}/{name}") != mark for name, mark in known.files.items()):
            return True
    return False
