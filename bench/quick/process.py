"""A `kenobot` of any checkout as a process, looked at from outside: seconds, CPU with all its children, memory."""

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from bench.process_usage import cpu_seconds, is_at_work, resident_mb
from bench.quick.scene import CHANNEL, Asked, Told

_HERE = Path(__file__).parent
_PATIENCE = 300.0  # seconds that a start or one request may take
_LOOK, _RESTING = 0.1, 0.03  # quiet: at most 3 % of a core over some looks in a row
CHATS = 50


@dataclass(frozen=True, slots=True)
class Checkout:
    """A revision's files, and the folder with the plugins that play the scene in it."""

    tree: Path
    plugins: Path

    @classmethod
    def planted(cls, tree: Path, folder: Path) -> Self:
        """Put the scene into a new folder, as an installed distribution beside the checkout's own entry points."""
        folder.mkdir(parents=True)
        for name in ("scene", "counted", "old_names"):
            shutil.copy(_HERE / f"{name}.py", folder / f"bench_{name}.py")
        (folder / "bench_plugins.py").write_text(
            "import bench_old_names\n\nbench_old_names.install()\nfrom bench_scene import channel, provider\n"
        )
        own = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
        _distribution(folder, "kenobot", own)  # what is installed may be another revision's
        ours = {"channels": {CHANNEL: "bench_plugins:channel"}, "providers": {"instant": "bench_plugins:provider"}}
        _distribution(folder, "kenobot-bench", {f"kenobot.{group}": points for group, points in ours.items()})
        return cls(tree, folder)

    @property
    def environ(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("KENOBOT_")}
        return {**inherited, "PYTHONPATH": f"{self.plugins}:{self.tree}", "PYTHONDONTWRITEBYTECODE": ""}

    def command(self, *words: str, counted: bool = False) -> list[str]:
        return [sys.executable, "-m", "bench_counted" if counted else "kenobot", *words]

    def knows(self, section: str, key: str) -> bool:
        """Whether a setting is known, by the commented file that lists all of them."""
        text = (self.tree / "config" / "kenobot.toml").read_text("utf-8")
        inside = text.partition(f"\n[{section}]\n")[2].partition("\n[")[0]
        return f"\n# {key} = " in inside

    def once(self, *words: str) -> tuple[float, float]:
        """Run a command to its end; seconds, and seconds of CPU."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        done = subprocess.run(
            self.command(*words),
            env=self.environ,
            cwd=self.plugins,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
        )
        took = time.perf_counter() - began
        if done.returncode:
            raise RuntimeError(f"kenobot {' '.join(words)} failed: {done.stderr.strip()[-500:]}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _distribution(folder: Path, name: str, groups: dict[str, dict[str, str]]) -> None:
    metadata = folder / f"{name.replace('-', '_')}-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0\n")
    lines = [line for group, points in groups.items() for line in (f"[{group}]", *map(" = ".join, points.items()))]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")


class Running:
    """A `kenobot run` that plays the scene. began: when it was started, by `time.perf_counter`.

    counted: what it does is counted, which its CPU and times suffer from.
    """

    def __init__(self, checkout: Checkout, home: Path, embedder: str, *, counted: bool = False) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(_LOOK)
        configure(checkout, home, self._server.getsockname()[1], embedder)
        self._log = (home.parent / f"{home.name}.log").open("ab")
        self.began = time.perf_counter()
        self._process = subprocess.Popen(
            checkout.command("run", "--home", str(home), counted=counted),
            env=checkout.environ,
            cwd=checkout.plugins,
            stdout=self._log,
            stderr=self._log,
        )

    def __enter__(self) -> Self:
        until = time.perf_counter() + _PATIENCE
        while True:
            try:
                connection, _ = self._server.accept()
                break
            except TimeoutError as error:
                if self._process.poll() is None and time.perf_counter() < until:
                    continue
                self._end()
                raise RuntimeError(f"The bot did not start: {self._log.name} has its last words.") from error
        with connection:
            connection.settimeout(_PATIENCE)
            self._stream = connection.makefile("rw", encoding="utf-8")
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self._end()

    def _end(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._server.close()
        self._log.close()

    def ask(
        self,
        turns: int = 0,
        chats: int = 1,
        *,
        remember: bool = False,
        most_seconds: float = 60.0,
        as_people: bool = False,
        rest_seconds: float = 0.0,
        watch: bool = True,
        details: bool = False,
    ) -> Told:
        """Have so many turns played; none: only what the event loop went through since the last request."""
        asked: Asked = {
            "turns": turns,
            "chats": chats,
            "remember": remember,
            "most_seconds": most_seconds,
            "as_people": as_people,
            "rest_seconds": rest_seconds,
            "watch": watch,
            "probe_seconds": 0.0,
            "details": details,
        }
        return self._exchange(asked)

    def probe(self, seconds: float) -> list[float]:
        """Have a command sent every twentieth of a second; the milliseconds from when each was due to its answer."""
        asked: Asked = {
            "turns": 0,
            "chats": 1,
            "remember": False,
            "most_seconds": seconds,
            "as_people": False,
            "rest_seconds": 0.0,
            "watch": False,
            "probe_seconds": seconds,
            "details": False,
        }
        return self._exchange(asked)["times"]

    def _exchange(self, asked: Asked) -> Told:
        self._stream.write(json.dumps(asked) + "\n")
        self._stream.flush()
        line = self._stream.readline()
        if not line:
            raise RuntimeError(f"The bot has ended: {self._log.name} has its last words.")
        told: Told = json.loads(line)
        return told

    @property
    def cpu(self) -> float:
        """Seconds of CPU so far, of the process and all its children, those that ended included."""
        return cpu_seconds(self._process.pid)

    @property
    def rss(self) -> float:
        """Resident megabytes of the process and its children."""
        return resident_mb(self._process.pid)

    def wait_until_quiet(self, patience: float, looks: int = 5) -> bool:
        """Wait until it has rested for some looks in a row, or for `patience` seconds; return whether it has rested."""
        until = time.perf_counter() + patience
        seen = [self.cpu]
        while time.perf_counter() < until:
            time.sleep(_LOOK)
            seen = [self.cpu] if is_at_work(self._process.pid) else [*seen, self.cpu]
            if len(seen) > looks and seen[-1] - seen[-1 - looks] <= _RESTING * looks * _LOOK:
                return True
        return False


def configure(checkout: Checkout, home: Path, port: int, embedder: str) -> None:
    """Write the home's kenobot.toml. No night begins while something is measured."""
    home.mkdir(mode=0o700, exist_ok=True)
    chosen = f"[memory]\nembedder = {embedder!r}\n" if checkout.knows("memory", "embedder") else ""
    chosen += "[sleep]\nenabled = false\n" if checkout.knows("sleep", "enabled") else ""
    (home / "kenobot.toml").write_text(
        f"[provider]\nname = 'instant'\n[channels]\nenabled = ['{CHANNEL}']\n"
        f"[channels.{CHANNEL}]\nport = {port}\nowners = {[str(chat) for chat in range(CHATS)]!r}\n{chosen}"
    )
