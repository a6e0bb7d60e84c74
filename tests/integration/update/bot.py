"""A bot as its owner has it: commands, a service, and a program that posts messages to it."""

import hashlib
import hmac
import json
import os
import signal
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path

from kenobot.core.settings.home import Home
from kenobot.storage.updates import Environments
from tests.integration.channels.processes import free_port

_SECONDS = 120.0
_SECRET = "the secret of the webhook"
_CONFIG = """
[channels]
enabled = ["http"]
[channels.http]
port = {port}
owners = ["ana"]
webhook_user = "ana"
wait_seconds = 1
"""
_SYSTEMCTL = """#!{python}
import os, re, shlex, signal, subprocess, sys, time
from pathlib import Path
words = [word for word in sys.argv[1:] if not word.startswith("--") and word != "kenobot.service"]
unit = Path({config!r}) / "systemd" / "user" / "kenobot.service"
state, log = Path({folder!r}) / "pid", Path({folder!r}) / "service.log"

def alive():
    try:
        pid = int(state.read_text())
        os.kill(pid, 0)
        return pid if " Z " not in Path(f"/proc/{{pid}}/stat").read_text() else 0
    except (OSError, ValueError):
        return 0

def stop():
    if pid := alive():
        os.kill(pid, signal.SIGTERM)
        while alive():
            time.sleep(0.02)
    state.unlink(missing_ok=True)

def start():
    if not alive():
        command = shlex.split(re.search("(?m)^ExecStart=(.*)$", unit.read_text())[1])
        with log.open("ab") as out:
            quiet = dict(stdin=subprocess.DEVNULL, stdout=out, stderr=out)
            process = subprocess.Popen(command, cwd="/", start_new_session=True, **quiet)
        state.write_text(str(process.pid))

if words[:1] == ["is-active"]:
    print("active" if alive() else "failed" if state.exists() else "inactive")
if words[:1] in (["stop"], ["restart"], ["disable"]):
    stop()
if words[:1] in (["start"], ["restart"], ["enable"]):
    start()
"""


class Product:
    """An installed KenoBot with a home."""

    def __init__(self, program: Path, home: Path, environ: Mapping[str, str]) -> None:
        self.home = Home(home)
        self.folder = home.parent
        self.port = free_port()
        self._program = program
        self._environ = dict(environ)

    def serve(self, more: str = "") -> None:
        """Install the service, with a stand-in of systemd that starts what the unit says. more: configuration."""
        self.home.config_file.write_text(_CONFIG.format(port=self.port) + more)
        secret = self.home.credentials / "channels.http.webhook_secret"
        secret.write_text(_SECRET)
        secret.chmod(0o600)
        programs = self.folder / "bin"
        programs.mkdir()
        stand_in = programs / "systemctl"
        python = self._program.with_name("python")
        config = self._environ["XDG_CONFIG_HOME"]
        stand_in.write_text(_SYSTEMCTL.format(python=python, config=config, folder=str(self.folder)))
        stand_in.chmod(0o755)
        self._environ["PATH"] = f"{programs}:{os.environ['PATH']}"
        installed = self.run("service", "install")
        assert installed.returncode == 0, installed.stderr
        self.have_answered("Hello.", "hello")

    def run(self, *words: str | Path) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end."""
        command = [self._program, "--home", self.home.path, *words]
        return subprocess.run(
            command, env=self._environ, cwd="/", capture_output=True, text=True, timeout=300, check=False
        )

    def shell(self, line: str) -> None:
        """Run a line that the command has told a person to run."""
        environ = {**self._environ, "PATH": f"{self._program.parent}:{os.environ['PATH']}"}
        subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], env=environ, cwd="/", check=True, timeout=100)

    def begin(self, *words: str | Path) -> "subprocess.Popen[str]":
        """Begin a command."""
        command = [self._program, "--home", self.home.path, *words]
        # What a test run that was started by nohup ignores, its programs would ignore too.
        ignored = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        try:
            return subprocess.Popen(
                command,
                env=self._environ,
                cwd="/",
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        finally:
            signal.signal(signal.SIGHUP, ignored)

    def cut(self, command: "subprocess.Popen[str]") -> None:
        """Kill a command, what it has begun, and the bot, as a power cut does, and wait until all are gone."""
        os.killpg(command.pid, signal.SIGKILL)
        command.wait()
        with suppress(OSError, ValueError):
            os.kill(self.process, signal.SIGKILL)
        self.wait(lambda: self._systemctl("is-active").stdout != "active\n", "the bot to be gone")

    def systemctl(self, *words: str) -> None:
        self._systemctl(*words).check_returncode()

    def _systemctl(self, *words: str) -> "subprocess.CompletedProcess[str]":
        command = ["systemctl", "--user", *words, "kenobot.service"]
        return subprocess.run(command, env=self._environ, check=False, capture_output=True, text=True)

    def schema(self) -> object:
        return self.rows("PRAGMA user_version")[0][0]

    def phase(self) -> str:
        """How far the last update has come; "" before the first."""
        update = Environments(self.home).read()
        return update.phase if update is not None else ""

    @property
    def process(self) -> int:
        """The number of the service's process."""
        return int((self.folder / "pid").read_text())

    def post(self, text: str, number: str) -> int:
        """Post a message to the webhook; returns the status, 0 when nobody listens."""
        body = json.dumps({"message": text, "id": number}).encode()
        now = str(int(time.time()))
        mac = hmac.new(_SECRET.encode(), now.encode() + b"." + body, hashlib.sha256).hexdigest()
        headers = {"X-Webhook-Timestamp": now, "X-Webhook-Signature": f"sha256={mac}"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/webhook", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def have_answered(self, text: str, number: str) -> None:
        """Post a message until it is taken in, and wait for its answer."""
        self.wait(lambda: self.post(text, number) in (200, 202, 409), "the bot to serve")
        self.wait(lambda: self.answers_to(text) == 1, "an answer")

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(f"{self.home.database.as_uri()}?mode=ro", uri=True, timeout=10)) as connection:
            return connection.execute(sql).fetchall()

    def answers_to(self, text: str) -> int:
        """Count the turns that a message had."""
        found = self.rows(f"SELECT count(*) FROM message WHERE role = 'user' AND text = '{text}'")[0][0]
        return int(str(found))

    def wait(self, is_so: Callable[[], bool], what: str) -> None:
        ends = time.monotonic() + _SECONDS
        while not is_so():
            assert time.monotonic() < ends, f"waited in vain for {what}:\n{self.log()}"
            time.sleep(0.05)

    def log(self) -> str:
        log = self.folder / "service.log"
        return log.read_text("utf-8", "replace")[-3000:] if log.exists() else ""

    def stop(self) -> None:
        """End whatever runs."""
        with suppress(OSError, ValueError):
            os.kill(self.process, signal.SIGKILL)
