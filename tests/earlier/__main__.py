"""`python -m tests.earlier [NUMBER ...]` makes a home of each earlier schema anew, from the history of the repository.

The last commit of each schema is checked out into a folder of its own and lives a short life by its own command line:
a talk in English and Spanish with what is to be remembered, a second talk, and a message that is still unanswered when
the process is killed. Only the database and the Markdown are kept, as `tests/data/homes/NUMBER.tar.xz`. Needs git and a
package index: the libraries of the time go into one temporary environment.

Two migrations were finished some hours after the first commit that had them, within one day and before any release;
each home is made with the files as they ship.
"""

import http.server
import io
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from kenobot.storage import migrate

ROOT = Path(__file__).resolve().parents[2]
HOMES = ROOT / "tests" / "data" / "homes"

TALK = (
    "My name is Ana and I live in Valencia.",
    "Remember that my dentist is Dr. Ruiz in Colon street.",
    "Recuerda que soy alérgica a las nueces.",
    "My sister Clara plays the cello.",
)
LATER = ("Remember that the spare key lies under the blue pot.",)
WAITING = "Remember that the train to Madrid leaves at 7:40."

_FOLDERS = ("kenobot/storage/migrations", "kenobot/migrations")
_KEPT = ("kenobot.db", "memory", "kenobot.toml")
_SECONDS = 120.0
_LOOK_SECONDS = 0.1
_TRIED = 5  # commits of a schema, of which some were saved half-way through a change


def make(numbers: Sequence[int]) -> None:
    """Make the homes of the schemas `numbers`. Raises CalledProcessError, TimeoutError and OSError."""
    with tempfile.TemporaryDirectory(prefix="kenobot-earlier-") as scratch:
        folder = Path(scratch)
        subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
        for number in numbers:
            for commit in last_commits(number):
                home = folder / f"home-{number}-{commit[:8]}"
                try:
                    _live_at(commit, number, home, folder / "env" / "bin" / "python")
                except subprocess.CalledProcessError:
                    print(f"{commit[:8]} does not run: the commit before it is tried", flush=True)
                    continue
                target = HOMES / f"{number:04d}.tar.xz"
                _keep(home, target)
                print(f"{target.name}: {commit[:8]}, {target.stat().st_size:,} bytes", flush=True)
                break


def last_commits(number: int) -> list[str]:
    """Return the last commits whose newest migration is `number`, from the one before the next migration came on."""
    following = next(each for each, _ in migrate.migrations() if each > number)
    paths = [f":(glob){folder}/{following:04d}_*.sql" for folder in _FOLDERS]
    added = _git("log", "--reverse", "--diff-filter=A", "--format=%H", "--no-renames", "--", *paths).split()
    return _git("rev-list", f"--max-count={_TRIED}", f"{added[0]}^").split()


def _live_at(commit: str, number: int, home: Path, python: Path) -> None:
    """Live in a home as the product of a commit. Raises CalledProcessError when that does not run."""
    tree = home.with_name(f"tree-{commit[:8]}")
    _git("worktree", "add", "--quiet", "--detach", str(tree), commit)
    try:
        _use_shipped_migrations(tree, number)
        _live(_Product(tree, python), home)
    finally:
        _git("worktree", "remove", "--force", str(tree))


class _Product:
    """KenoBot as a commit had it."""

    def __init__(self, tree: Path, python: Path) -> None:
        self._tree, self._python = tree, python
        project = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))["project"]
        install: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *project["dependencies"]], check=True)
        self._write_entry_points(project)

    def _write_entry_points(self, project: dict[str, object]) -> None:
        """Let the commit's parts be found as if it was installed."""
        info = self._tree / "kenobot-0.dist-info"
        info.mkdir()
        info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: kenobot\nVersion: 0\n")
        groups = project["entry-points"]
        assert isinstance(groups, dict)
        lines = [
            "\n".join([f"[{group}]", *(f"{name} = {target}" for name, target in entries.items())])
            for group, entries in groups.items()
        ]
        info.joinpath("entry_points.txt").write_text("\n".join(lines) + "\n")

    def chat(self, home: Path, **settings: str) -> "subprocess.Popen[bytes]":
        """Start a chat in a home. settings: by the names of their variables, without KENOBOT_."""
        return subprocess.Popen(
            [self._python, "-m", "kenobot", "--home", home, "chat"],
            cwd=self._tree,
            env={
                **{name: value for name, value in os.environ.items() if not name.startswith("KENOBOT_")},
                "PYTHONPATH": str(self._tree),
                "PYTHONDONTWRITEBYTECODE": "1",
                "LC_ALL": "C.UTF-8",
                **{f"KENOBOT_{name}": value for name, value in settings.items()},
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )


def _live(product: _Product, home: Path) -> None:
    for lines in (TALK, LATER):
        chat = product.chat(home)
        chat.communicate("".join(f"{line}\n" for line in lines).encode(), timeout=_SECONDS)
        if chat.returncode:
            raise subprocess.CalledProcessError(chat.returncode, "kenobot chat")
    with _silent_model() as address:
        chat = product.chat(
            home,
            PROVIDER__NAME="anthropic",
            PROVIDERS__ANTHROPIC__API_KEY="none",
            PROVIDERS__ANTHROPIC__BASE_URL=address,
        )
        assert chat.stdin is not None
        chat.stdin.write(f"{WAITING}\n".encode())
        chat.stdin.flush()
        _wait_for_message(home / "kenobot.db")
        chat.kill()
        chat.wait()


@contextmanager
def _silent_model() -> Iterator[str]:
    """Serve a model that never answers; yields its address."""
    ended = threading.Event()

    class Silent(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            ended.wait(_SECONDS)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        ended.set()
        server.shutdown()
        server.server_close()


def _wait_for_message(database: Path) -> None:
    ends = time.monotonic() + _SECONDS
    while time.monotonic() < ends:
        with closing(sqlite3.connect(database, timeout=5)) as connection:
            found = connection.execute("SELECT count(*) FROM inbox WHERE text = ?", (WAITING,)).fetchone()[0]
        if found:
            return
        time.sleep(_LOOK_SECONDS)
    raise TimeoutError(f"{WAITING!r} never arrived")


def _keep(home: Path, target: Path) -> None:
    """Put the database and the Markdown of a home into one small file, the same for the same content."""
    with closing(sqlite3.connect(home / "kenobot.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(target, "w:xz", preset=9) as archive:
        kept = [path for name in _KEPT for path in (home / name, *sorted((home / name).rglob("*"))) if path.is_file()]
        for path in kept:
            entry = tarfile.TarInfo(f"home/{path.relative_to(home).as_posix()}")
            content = path.read_bytes()
            entry.size, entry.mode = len(content), 0o600
            archive.addfile(entry, io.BytesIO(content))


def _use_shipped_migrations(tree: Path, number: int) -> None:
    folder = next(tree / name for name in _FOLDERS if (tree / name).is_dir())
    for shipped in (ROOT / _FOLDERS[0]).glob("*.sql"):
        if int(shipped.name.partition("_")[0]) <= number:
            shutil.copy(shipped, folder)


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    make([int(word) for word in sys.argv[1:]] or [number for number, _ in migrate.migrations()[:-1]])
