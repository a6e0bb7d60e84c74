"""`kenobot models` before a server on loopback: what it offers, and what its model can do."""

import asyncio
import json
from pathlib import Path

import pytest

from kenobot.cli import main
from tests.integration.providers.anthropic_standin import Entry
from tests.integration.providers.openai_standin import OpenAIStandIn

_NUMBERS = " ".join(["number"] * 80)
_GOOD: list[Entry] = [
    {"match": "boiler", "reply": "<memory>The boiler was serviced on 3 May</memory>Noted."},
    {"match": "numbers", "reply": _NUMBERS},
    {"match": "Lisbon", "reply": "", "calls": [{"id": "1", "name": "temperature", "arguments": '{"place": "Lisboa"}'}]},
    {"match": "stripes", "reply": "Yellow, black and green."},
    {"reply": "Hello!"},
]


async def _run(home: Path, *words: str) -> int:
    """The command runs an event loop of its own."""
    return await asyncio.to_thread(main, ["--home", str(home), "models", *words])


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An English terminal and no key."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return monkeypatch


async def test_the_models_of_a_named_service_are_listed_without_a_configured_one(
    tmp_path: Path, environ: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person who has only started Ollama learns what to write into the settings."""
    async with OpenAIStandIn(models=("llama3.2:3b", "qwen3:8b")) as server:
        environ.setenv("KENOBOT_PROVIDERS__OLLAMA__BASE_URL", server.url)
        environ.setenv("KENOBOT_PROVIDERS__OLLAMA__API_KEY", "x")
        environ.setenv("KENOBOT_PROVIDERS__OLLAMA__MODEL", "qwen3:8b")
        assert await _run(tmp_path, "ollama") == 0
        assert [line.split() for line in capsys.readouterr().out.splitlines()[1:]] == [
            ["ollama", "llama3.2:3b"],
            ["ollama", "*", "qwen3:8b"],
        ]
        assert await _run(tmp_path, "--json") == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert rows[1] == {"provider": "ollama", "model": "qwen3:8b", "configured": True}


async def test_a_model_is_tried_and_what_does_not_work_is_named(
    tmp_path: Path, environ: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model that answers but does not write tags would remember nothing: that is said before it is relied on."""
    environ.setenv("KENOBOT_PROVIDERS__COMPATIBLE__API_KEY", "x")
    async with OpenAIStandIn(_GOOD) as server:
        environ.setenv("KENOBOT_PROVIDERS__COMPATIBLE__BASE_URL", server.url)
        assert await _run(tmp_path, "test", "compatible:some") == 0
        assert capsys.readouterr().out.count("good") == 5
        assert {request["model"] for request in server.requests} == {"some"}
        server.script = [_GOOD[1], {"reply": "Noted."}]
        assert await _run(tmp_path, "test", "compatible:some", "--json") == 1
        problems = [json.loads(line)["problem"] for line in capsys.readouterr().out.splitlines()]
        assert [bool(problem) for problem in problems] == [False, True, False, True, True]
        assert "<memory>" in problems[1]


@pytest.mark.parametrize(
    ("match", "answer"),
    [
        ("Lisbon", {"reply": "It is warm."}),
        ("Lisbon", {"reply": "", "calls": [{"id": "1", "name": "temperature", "arguments": '{"place": "Paris"}'}]}),
        ("Lisbon", {"reply": "", "calls": [{"id": "1", "name": "weather", "arguments": '{"place": "Lisbon"}'}]}),
        ("stripes", {"reply": "Green, black and yellow."}),
        ("stripes", {"reply": "I cannot see it."}),
        ("stripes", {"status": 400, "error": "invalid_request_error"}),
    ],
)
async def test_what_a_model_need_not_do_is_told_and_no_failure(
    tmp_path: Path, environ: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], match: str, answer: Entry
) -> None:
    """Tools and pictures are beyond many a local model, which answers well all the same."""
    environ.setenv("KENOBOT_PROVIDERS__COMPATIBLE__PICTURES", "true")
    environ.setenv("KENOBOT_PROVIDERS__COMPATIBLE__API_KEY", "x")
    async with OpenAIStandIn([{"match": match, **answer}, *_GOOD]) as server:
        environ.setenv("KENOBOT_PROVIDERS__COMPATIBLE__BASE_URL", server.url)
        assert await _run(tmp_path, "test", "compatible:some", "--json") == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        trial = "tool call" if match == "Lisbon" else "picture"
        assert [row["trial"] for row in rows if row["problem"]] == [trial]
        assert "data:image/png;base64," in str(server.requests[-1])


async def test_a_service_out_of_reach_is_said_in_one_line(
    tmp_path: Path, environ: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With an exit code that a script can tell from success."""
    async with OpenAIStandIn() as server:
        url = server.url
    environ.setenv("KENOBOT_PROVIDERS__OLLAMA__BASE_URL", url)
    assert await _run(tmp_path, "ollama") == 1
    assert "connection to Ollama failed" in capsys.readouterr().err


async def _read_only(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


async def test_a_service_that_stays_silent_is_given_up(
    tmp_path: Path, environ: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line, as when it is out of reach."""
    environ.setattr("kenobot.cli.models._LIST_SECONDS", 0.05)
    silent = await asyncio.start_server(_read_only, "127.0.0.1", 0)
    async with silent:
        port = silent.sockets[0].getsockname()[1]
        environ.setenv("KENOBOT_PROVIDERS__OLLAMA__BASE_URL", f"http://127.0.0.1:{port}/v1")
        assert await _run(tmp_path, "ollama") == 1
    told = capsys.readouterr().err
    assert "ollama: It took longer than" in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "No configured service lists models"),
        (["offline"], "no models to choose from"),
        (["nonesuch"], 'no provider called "nonesuch"'),
        (["a", "b"], "Write `kenobot models`"),
    ],
)
async def test_what_cannot_be_listed_is_said(
    words: list[str], said: str, tmp_path: Path, environ: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What to write instead, too."""
    environ.delenv("ANTHROPIC_API_KEY", raising=False)
    assert await _run(tmp_path, *words) in (1, 2, 78)
    assert said in capsys.readouterr().err
