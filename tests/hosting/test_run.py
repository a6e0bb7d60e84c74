"""`kenobot host run`: a worker and an ingress as processes, from the commands that set a host up to a reply."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from kenobot_host.cell_address import VARIABLE
from kenobot_host.sealing import KEY_FILE
from tests.hosting.chaos.cell import Process
from tests.integration.stand_in import OWNER, TOKEN, Telegram

_SETTINGS = """\
[provider]
name = "offline"
[channels]
enabled = ["telegram"]
[channels.telegram]
token = "{token}"
owners = ["{owner}"]
[memory]
embedder = "none"
"""


@pytest.mark.long
async def test_a_home_is_added_and_answers_from_a_host(database_url: str, tmp_path: Path) -> None:
    """A home that was taken in answers its owner from a worker, with its token sealed; SIGTERM ends both with 0."""
    environ = {**os.environ, VARIABLE: database_url, KEY_FILE: str(tmp_path / "key"), "LANG": "C"}
    home, token = tmp_path / "home", tmp_path / "token"
    home.mkdir(mode=0o700)
    (home / "kenobot.toml").write_text(_SETTINGS.format(token=TOKEN, owner=OWNER))
    token.write_text(TOKEN)

    async def run(*words: str) -> str:
        command = (sys.executable, "-m", "kenobot", "--home", str(home), *words)
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, env=environ, stdout=pipe, stderr=pipe)
        said, complaint = await process.communicate()
        assert process.returncode == 0, (words, complaint.decode())
        return said.decode()

    def prepare(kind: str, *options: str) -> Process:
        return Process(kind, kind, "kenobot", ("host", "run", kind, *options), environ)

    async with Telegram() as telegram:
        await run("memory", "remember", "The dentist is in Alder Street")
        await run("host", "key", str(tmp_path / "key"))
        await run("host", "upgrade")
        await run("host", "add", "ana")
        await run("host", "bot", "set", "ana", "--token-file", str(token), "--base-url", telegram.base_url)
        assert TOKEN not in await run("host", "bot", "list", "--json")
        worker = prepare("worker", "--folder", str(tmp_path / "copies"))
        ingress = prepare("ingress", "--listen", "127.0.0.1:0")
        try:
            await asyncio.gather(worker.start(), ingress.start())
            await telegram.say("Where is the dentist?")
            (reply,) = await telegram.replies(1)
            assert "Alder Street" in reply
            assert "ana" in await run("host", "status", "ana")
            assert (await worker.end(), await ingress.end()) == (0, 0)
        finally:
            for process in (worker, ingress):
                if process.runs:
                    await process.end(9)
        assert TOKEN not in "".join(worker.log + ingress.log)


@pytest.mark.parametrize(
    ("words", "told"), [(("worker",), "host upgrade"), (("ingress", "--listen", "here"), "0.0.0.0")]
)
def test_a_host_that_cannot_run_says_what_to_do(
    words: tuple[str, ...],
    told: str,
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without tables, or with an address that is none, it ends with 78 and names the remedy."""
    from kenobot.cli import main

    monkeypatch.setenv(VARIABLE, database_url)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LANG", "C")
    assert main(["host", "run", *words]) == 78
    assert told in capsys.readouterr().err
