"""`python -m tests.golden record DIR` plays the month and writes down all of it; `compare A B [--names FILE]` compares.

In DIR there is a folder for each home that is played: `model`, whose provider is a scripted model, `offline`, whose
provider is the product's own, which leaves everything to rules, and `meaning`, which is short and has an embedder and
a reranker. Two runs of the same code on one machine come to the same bytes but for `home.tar.gz` and for what the work
behind the turns does in the burst of 27 March 20:00: it has a thread of its own, so what it does of that instant comes
before or after a turn of it, and what follows from that differs too. Two runs of one commit show how much.

What makes it so: a fixed folder, clock and seed; PYTHONHASHSEED is 0; pairing codes come from a seed; the database
does one thing at a time, in the order asked, and other work of threads is done in place (see `scenario`). What is
normalised: numbers that the file system gave out (times of change, inodes) read `<stat>` in `tables.sql`; sizes on disk
read `<size>` in `commands.txt`. Tables of vectors and those of SQLite itself are left out.
"""

import argparse
import difflib
import fcntl
import json
import os
import re
import shutil
import sqlite3
import sys
import tarfile
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kenobot.core.settings.home import Home
from kenobot.providers.offline import OfflineProvider
from tests.golden.model import Asked
from tests.golden.scenario import SCRIPT, Played, play

_MEMORY = Path("/dev/shm")  # a disk that is never waited for, where there is one
_STAGE = (_MEMORY if _MEMORY.is_dir() else Path("/tmp")) / "kenobot-golden"  # one place: it stands in texts
_LEFT_OUT = re.compile(r"sqlite_|.*vector")
_LARGE = 1_000_000  # from here on a number may be one of the file system's
_SIZES = re.compile(r"(?<=\(bytes\)) +\d+|(?<=bytes\": )\d+")
_SHOWN = 60  # lines of differences of one file
_COMPARED = ("prompts.txt", "outbox.txt", "commands.txt")


def record(target: Path, homes: Sequence[str] = ()) -> None:
    """Play homes and write down what they came to. homes: their names; none, all."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(
            sys.executable,
            [sys.executable, "-m", "tests.golden", "record", str(target), *(["--homes", *homes] if homes else [])],
            {**os.environ, "PYTHONHASHSEED": "0"},
        )
    known: list[str] = tomllib.loads(SCRIPT.read_text("utf-8"))["homes"]
    with Path(f"{_STAGE}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for which in homes or known:
            _record(target / which, which)
    shutil.rmtree(_STAGE, ignore_errors=True)


def _record(folder: Path, which: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tables = folder / "tables.sql"

    def keep(name: str, memory: Path, identity: Path) -> None:
        for part, root in (("memory", memory), ("identity", identity)):
            shutil.copytree(root, folder / "files" / name / part)

    one = play(_STAGE / which, which, keep, OfflineProvider() if which == "offline" else None)
    played = one.played
    home = Home(played.home)
    (folder / "prompts.txt").write_text("\n".join(map(_prompt, played.witness.asked, range(1, 10**6))), "utf-8")
    (folder / "outbox.txt").write_text(_outbox(played), "utf-8")
    with tarfile.open(folder / "home.tar.gz", "w:gz") as archive:
        skipped = {home.index.name, home.backups.name}
        for path in sorted(home.path.iterdir()):
            if path.name not in skipped and path.is_dir() | path.is_file():
                archive.add(path, f"home/{path.name}")
    tables.write_text(_tables(home.database, home.path), "utf-8")
    one.afterwards()
    (folder / "commands.txt").write_text(_SIZES.sub("<size>", "\n".join(played.commands)), "utf-8")
    print(f"{which}: {played.said} messages, {len(played.witness.asked)} requests, {len(played.sent)} texts sent")


def _prompt(asked: Asked, number: int) -> str:
    request = asked.request
    lines = [f"##### {number} · {asked.at.isoformat()} · {asked.kind} · at most {request.max_tokens} tokens"]
    for block in request.system:
        lines += [f"=== system{' · cache' * block.cache}", block.text]
    for message in request.messages:
        for block in message.text_blocks:
            lines += [f"=== {message.role}{' · cache' * block.cache}", block.text]
    return "\n".join([*lines, f"=== answered{f' · {asked.failed}' if asked.failed else ''}", asked.reply, ""])


def _outbox(played: Played) -> str:
    places = dict.fromkeys((line, chat) for line, chat, _, _ in played.sent)
    parts = []
    for place in sorted(places):
        parts.append(f"##### {' '.join(place)}")
        parts += [f"--- {spans}\n{text}" for line, chat, text, spans in played.sent if (line, chat) == place]
    return "\n".join(parts) + "\n"


def _tables(database: Path, home: Path) -> str:
    """Every ordinary table by name: its columns on a line, then a line for each row, as JSON."""
    given_out = {
        number for path in home.rglob("*") for number in (path.lstat().st_mtime_ns, path.lstat().st_ino)
    }  # by the file system

    def plain(column: str, value: object) -> object:
        if isinstance(value, bytes):
            return f"x'{value.hex()}'"
        volatile = isinstance(value, int) and value >= _LARGE and value in given_out
        return "<stat>" if volatile or column in ("mtime", "inode") else value

    parts = []
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        named = "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name"
        virtual = [name for name, sql in connection.execute(named) if "VIRTUAL" in sql.upper()]
        for name, sql in connection.execute(named).fetchall():
            if _LEFT_OUT.match(name) or any(name == each or name.startswith(f"{each}_") for each in virtual):
                continue
            about = connection.execute(f"PRAGMA table_info({name})").fetchall()
            keys = ", ".join(row[1] for row in sorted(about, key=lambda row: row[5]) if row[5])
            order = keys if "WITHOUT ROWID" in sql.upper() else "rowid"
            columns = [row[1] for row in about]
            parts += [f"== {name}", json.dumps(columns)]
            for row in connection.execute(f"SELECT * FROM {name} ORDER BY {order}"):
                values = [plain(column, value) for column, value in zip(columns, row, strict=True)]
                parts.append(json.dumps(values, ensure_ascii=False))
    return "\n".join(parts) + "\n"


# ── comparing ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a dump."""

    columns: list[str]
    rows: list[list[Any]]


def compare(one: Path, other: Path, names: Mapping[str, Any]) -> int:
    """Print what differs between two recordings; 1 when anything does."""
    differing = 0
    homes = sorted({path.name for root in (one, other) for path in root.iterdir() if path.is_dir()})
    for which in homes:
        a, b = one / which, other / which
        texts = {name: (_text(a / name), _text(b / name)) for name in _COMPARED}
        files = sorted({path.relative_to(root) for root in (a / "files", b / "files") for path in _files(root)})
        texts |= {f"files/{path}": (_text(a / "files" / path), _text(b / "files" / path)) for path in files}
        for name, (before, after) in texts.items():
            differing += _differ(f"{which}/{name}", _renamed_text(name, before, names), _keyed(name, after, names))
        tables = [_read(folder / "tables.sql") for folder in (a, b)]
        differing += _compare_tables(
            which,
            _renamed(tables[0], names),
            _renamed(tables[1], {part: names.get(part, {}) for part in ("keys", "added")}),
        )
    print(f"{differing} differences in {', '.join(homes)}" if differing else f"nothing differs in {', '.join(homes)}")
    return 1 if differing else 0


def _compare_tables(which: str, before: Mapping[str, Table], after: Mapping[str, Table]) -> int:
    differing = 0
    for name in sorted({*before, *after}):
        a, b = before.get(name), after.get(name)
        if a is None or b is None:
            print(f"{which}/tables.sql: {name} is only in {'A' if b is None else 'B'}")
            differing += 1
            continue
        differing += _differ(f"{which}/tables.sql {name}", "\n".join(_lines(a)), "\n".join(_lines(b)))
    return differing


def _lines(table: Table) -> list[str]:
    """A table's rows with its columns by name, so that their order makes no difference."""
    order = sorted(range(len(table.columns)), key=lambda place: table.columns[place])
    rows = [[row[place] for place in order] for row in [table.columns, *table.rows]]
    return [json.dumps(row, ensure_ascii=False) for row in rows]


def _differ(name: str, before: str, after: str) -> int:
    if before == after:
        return 0
    lines = list(difflib.unified_diff(before.split("\n"), after.split("\n"), f"A/{name}", f"B/{name}", "", "", 1, ""))
    print("\n".join(line if len(line) < 300 else f"{line[:297]}..." for line in lines[:_SHOWN]))
    if len(lines) > _SHOWN:
        print(f"... and {len(lines) - _SHOWN} lines more of {name}")
    return 1


def _read(path: Path) -> dict[str, Table]:
    tables: dict[str, Table] = {}
    for line in _text(path).splitlines():
        if line.startswith("== "):
            table = tables[line.removeprefix("== ")] = Table([], [])
        elif not table.columns:
            table.columns.extend(json.loads(line))
        else:
            table.rows.append(json.loads(line))
    return tables


def _renamed(tables: Mapping[str, Table], names: Mapping[str, Any]) -> dict[str, Table]:
    """A's tables under the names that B has for them."""
    called, columns, signals = (names.get(part, {}) for part in ("tables", "columns", "signals"))
    found = {}
    for name, table in tables.items():
        heads = [columns.get(f"{name}.{column}", column) for column in table.columns]
        known = name == "signal"
        rows = [[signals.get(value, value) if known and isinstance(value, str) else value for value in row]
                for row in table.rows]  # fmt: skip
        for rule in names.get("values", ()):
            if rule.get("table", "signal") == name:
                rows = [[_replaced(value, head, rule) for head, value in zip(table.columns, row, strict=True)]
                        for row in rows]  # fmt: skip
        keys = names.get("keys", {})
        rows = [[_rekeyed_text(value, keys) for value in row] for row in rows]
        kept = [place for place, head in enumerate(heads) if head not in names.get("added", {}).get(name, ())]
        found[called.get(name, name)] = Table([heads[at] for at in kept], [[row[at] for at in kept] for row in rows])
    return found


def _replaced(value: Any, column: str, rule: Mapping[str, Any]) -> Any:
    meant = isinstance(value, str) and rule.get("column", column) == column
    return value.replace(rule["old"], rule["new"]) if meant else value


def _rekeyed(value: Any, keys: Mapping[str, str], within: bool = False) -> Any:
    """JSON with today's names for the columns of a record, where it is one or what an event overwrote of one."""
    if isinstance(value, list):
        return [_rekeyed(each, keys, within) for each in value]
    if not isinstance(value, dict):
        return value
    record = within or {"trust", "status"} <= value.keys()
    return {keys.get(key, key) if record else key: _rekeyed(each, keys, key == "was") for key, each in value.items()}


def _rekeyed_text(text: Any, keys: Mapping[str, str]) -> Any:
    """A text, its keys in order when it is a JSON object, so that their order makes no difference."""
    if not isinstance(text, str) or not text.startswith('{"') or not keys:
        return text
    try:
        return json.dumps(_rekeyed(json.loads(text), keys), sort_keys=True)
    except ValueError:
        return text


def _renamed_text(name: str, text: str, names: Mapping[str, Any]) -> str:
    """A's text as B would say it: names of signals in what commands print, and what [[texts]] says."""
    if name == "commands.txt":
        for old, new in names.get("signals", {}).items():
            text = re.sub(rf"(?<![\w:]){re.escape(old)}(?![\w:])", new, text)
    for rule in names.get("texts", ()):
        if name.startswith(rule.get("file", "")):
            text = text.replace(rule["old"], rule["new"])
    return _keyed(name, text, names)


def _keyed(name: str, text: str, names: Mapping[str, Any]) -> str:
    """What commands print, with the keys of the JSON that a line ends with in order."""
    if name != "commands.txt":
        return text
    lines = (line.partition('{"') for line in text.split("\n"))
    return "\n".join(head + _rekeyed_text(start + rest, names.get("keys", {})) for head, start, rest in lines)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""


def _files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def main(argv: Sequence[str] | None = None) -> int:
    """Record or compare; see the module."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description="The golden run.")
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="play it and write everything down")
    recording.add_argument("dir", type=Path)
    recording.add_argument("--homes", nargs="+", default=(), help="these homes only (all)")
    comparing = commands.add_parser("compare", help="print what differs; exit 1 when anything does")
    comparing.add_argument("one", type=Path)
    comparing.add_argument("other", type=Path)
    comparing.add_argument("--names", type=Path, help="TOML with [tables], [columns], [signals], [[values]], [[texts]]")
    given = parser.parse_args(argv)
    if given.command == "record":
        record(given.dir, given.homes)
        return 0
    names = tomllib.loads(given.names.read_text("utf-8")) if given.names else {}
    return compare(given.one, given.other, names)


if __name__ == "__main__":
    sys.exit(main())
