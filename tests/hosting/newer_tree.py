"""A tree of KenoBot that is one migration newer than this one, for processes that run beside those of this one."""

import os
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]

NUMBER = 9000
SCRIPT = """\
CREATE TABLE mood (id INTEGER PRIMARY KEY AUTOINCREMENT, inbox_id INTEGER NOT NULL, name TEXT NOT NULL);
INSERT INTO mood (inbox_id, name) SELECT id, 'calm' FROM inbox;
ALTER TABLE key_value ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm';
ALTER TABLE turn ADD COLUMN mood TEXT;
"""
"""The made-up migration: a table, rows in it, and a column with a default and one without."""


def make_newer_tree(folder: Path) -> dict[str, str]:
    """Make the tree, of links to this one; returns the variables by which a process uses it, started with `-P`."""
    for name in ("tests", "packages"):
        (folder / name).symlink_to(_ROOT / name)
    for path in (Path("kenobot"), Path("kenobot", "storage"), Path("kenobot", "storage", "migrations")):
        (folder / path).mkdir(parents=True)
        for item in (_ROOT / path).iterdir():
            if item.name not in ("storage", "migrations", "__pycache__"):
                (folder / path / item.name).symlink_to(item)
    (folder / "kenobot" / "storage" / "migrations" / f"{NUMBER}_mood.sql").write_text(SCRIPT, "utf-8")
    places = [folder, *sorted((_ROOT / "packages").iterdir())]
    return {"PYTHONPATH": os.pathsep.join(map(str, places)), "PYTHONDONTWRITEBYTECODE": "1"}
