"""A server in Node that speaks the services' APIs, and that nobody here wrote: `make stand-ins` fetches it."""

import json
import os
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_PROGRAM = Path(__file__).parents[3] / ".stand-ins/node_modules/@copilotkit/aimock/dist/cli.js"
_CALLS = [{"name": "look", "arguments": '{"at": 1}'}, {"name": "look", "arguments": '{"at": 2}'}]
_FIXTURES = {
    "hello": {"content": "All is well."},
    "look around": {"content": "I look.", "toolCalls": _CALLS},
    "and now?": {"content": "I have seen it."},
    "What is this?": {"content": "A picture."},
}


@dataclass(frozen=True, slots=True)
class AiMock:
    """The running server. url: without a path."""

    url: str

    def break_down(self, **rates: float) -> None:
        """Set how often each fault happens: drop, malformed, disconnect, rateLimit."""
        wanted = {f"{name}Rate": rate for name, rate in rates.items()}
        self._ask("POST", wanted)

    def mend(self) -> None:
        self._ask("DELETE", {})

    def _ask(self, method: str, body: dict[str, float]) -> None:
        content, kind = json.dumps(body).encode(), {"content-type": "application/json"}
        request = urllib.request.Request(f"{self.url}/__aimock/chaos", content, kind, method=method)
        with urllib.request.urlopen(request, timeout=60):
            pass


def missing() -> str:
    """Say why it cannot run here; "" when it can."""
    if shutil.which("node") is None:
        return "there is no Node here"
    return "" if _program().exists() else "it is not here: `make stand-ins` fetches it"


@contextmanager
def running(folder: Path) -> Iterator[AiMock]:
    """Start it."""
    file = folder / "fixtures.json"
    fixtures = [{"match": {"userMessage": said}, "response": answer} for said, answer in _FIXTURES.items()]
    file.write_text(json.dumps({"fixtures": fixtures}))
    command = ["node", str(_program()), "--port", "0", "--fixtures", str(file), "--strict"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            lines = iter(process.stdout.readline, "")
            ready = next(line for line in lines if "listening on" in line)
            yield AiMock(ready.split("listening on ")[1].strip())
        finally:
            process.kill()


def _program() -> Path:
    return Path(os.environ.get("KENOBOT_AIMOCK") or _PROGRAM)
