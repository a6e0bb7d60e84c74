"""Export the texts of the identity folder, and import them into a home that has none of its own."""

from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from kenobot.identity.identity_files import Identity
from kenobot.storage.disk import MAX_FILE_BYTES

_FILES = ("core.md", "rules.json")  # preferences.md goes with the memories that it shows
_BOOTSTRAP = "BOOTSTRAP.md"
_INTRODUCED = "introduced"


def read_texts(folder: Path) -> dict[str, str]:
    """Read the files by name, and whether the first introductions are over. Raises OSError."""
    found = {name: text for name in _FILES if (text := _read(folder / name)) is not None}
    if folder.is_dir() and not (folder / _BOOTSTRAP).exists():
        found[_INTRODUCED] = "yes"
    return found


def adopt_texts(folder: Path, texts: Mapping[str, str], *, dry_run: bool = False) -> int:
    """Write `texts` over the unchanged templates of the folder, and end introductions that are over; return how many.

    What a person wrote here stays. Raises OSError.
    """
    new = (name for name in _FILES if name in texts and texts[name] != _read_template(name))
    adopted = [name for name in new if _is_untouched(folder, name)]
    ends = _INTRODUCED in texts and _is_untouched(folder, _BOOTSTRAP)
    if not dry_run:
        for name in adopted:
            draft = folder / f".{name}.partial"
            draft.write_text(texts[name], "utf-8", newline="")
            draft.chmod(0o600)
            draft.replace(folder / name)
        if ends:
            Identity(folder).finish_bootstrap()
    return len(adopted) + ends


def _is_untouched(folder: Path, name: str) -> bool:
    return _read(folder / name) == _read_template(name)


def _read_template(name: str) -> str:
    return resources.files("kenobot").joinpath("config", "identity", name).read_text("utf-8")


def _read(path: Path) -> str | None:
    """Read a file; None for one that is not there, or is no text."""
    if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
        return None
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None
