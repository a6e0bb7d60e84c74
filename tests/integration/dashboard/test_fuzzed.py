"""No page or form of the dashboard fails at the server, whatever is sent to it."""

import asyncio
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.routing import Mount

from kenobot_dashboard.guard import HeaderGuard
from kenobot_dashboard.sessions import CSRF_FIELD
from kenobot_testing.scripted import ScriptedProvider
from tests.integration.dashboard.browser import BASE, owner
from tests.integration.http.bot import ServedBot, served_bot
from tests.property.effort import is_fuzzing

pytestmark = pytest.mark.long

_COMMAND = Path(sys.executable).with_name("schemathesis")
_EXAMPLES = ("50",) if is_fuzzing() else ("2", "--seed", "1")  # of each request, beside the covering ones
_FORM = "application/x-www-form-urlencoded"
_LEFT_OUT = (  # what ends the session, what is limited, files, and the stream of what the bot says, which does not end
    *("/logout", "/login", "/static/{digest}/{name}", "/chat/live"),
)
_KNOWN: dict[str, list[object]] = {  # values of paths that lead to something, mostly
    "number": [1, 2, 10**14],
    "turn": [2, 3],
    "key": ["sleep.hour", "bot.name", "channels.enabled", "bot.nothing"],
    "name": ["tea", "none"],
}
_READ_BY_HAND = {"/chat/send": {"text": {"type": "string", "minLength": 1, "maxLength": 20_000}}}


def _describe(bot: ServedBot, token: str) -> dict[str, Any]:
    """Describe the pages as OpenAPI, with the token of a session in each form."""
    assert bot.channel.backend is not None
    api = bot.channel.backend.app
    assert isinstance(api, FastAPI)
    guard = next(route.app for route in api.routes if isinstance(route, Mount) and isinstance(route.app, HeaderGuard))
    assert isinstance(guard, HeaderGuard)
    assert isinstance(guard.app, FastAPI)
    document = guard.app.openapi()
    document["servers"] = [{"url": f"{bot.base}{BASE}"}]
    document["paths"] = {path: found for path, found in document["paths"].items() if path not in _LEFT_OUT}
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for path, operations in document["paths"].items():
        for parameter in (each for found in operations.values() for each in found.get("parameters", ())):
            if parameter["in"] == "path" and parameter["name"] in _KNOWN:
                letters = path.startswith("/mail/") and parameter["name"] == "number"
                parameter["schema"] = {"enum": ["in-1", "out-1"] if letters else _KNOWN[parameter["name"]]}
        if (post := operations.get("post")) is None:
            continue
        body = post.get("requestBody", {}).get("content", {}).get(_FORM, {}).get("schema", {})
        form = schemas[body["$ref"].rpartition("/")[2]] if "$ref" in body else dict(body)
        properties = form.get("properties", {}) | _READ_BY_HAND.get(path, {}) | {CSRF_FIELD: {"enum": [token]}}
        whole = {"type": "object", "properties": properties, "required": [*form.get("required", ()), CSRF_FIELD]}
        post["requestBody"] = {"required": True, "content": {_FORM: {"schema": whole}}}
    return document


@pytest.mark.skipif(not (_COMMAND.exists() or shutil.which("schemathesis")), reason="schemathesis is not installed")
async def test_no_page_or_form_fails_at_the_server(tmp_path: Path) -> None:
    """Fields of any length and kind, also those that no browser sends."""
    provider = ScriptedProvider(lambda _: "yes", repeat_last=True)
    async with served_bot(tmp_path, provider, wait_seconds=0) as bot, owner(bot) as browser:
        for text in ("Carmen lives in Sevilla.", "Allergic to penicillin."):
            await browser.post("/memories", text=text)
        await browser.post("/reminders", text="water the plants", when="in two days at 9 am")
        await bot.app.loop.dead_letter("http", "1", "{", "it cannot be read")
        await browser.post("/chat/send", text="Hello")
        folder = bot.app.home.skills / "tea"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text("---\nname: tea\ndescription: How to make tea\n---\nBoil water.\n", "utf-8")
        document = tmp_path / "pages.json"
        document.write_text(json.dumps(_describe(bot, await browser.csrf())), "utf-8")
        cookie = "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())
        fuzzer = await asyncio.create_subprocess_exec(
            str(_COMMAND if _COMMAND.exists() else "schemathesis"),
            *("run", str(document), "--url", f"{bot.base}{BASE}", "--header", f"Cookie: {cookie}"),
            *("--checks", "not_a_server_error", "--max-redirects", "2", "--request-timeout", "90"),
            *("--phases", "coverage,fuzzing", "--max-examples", *_EXAMPLES),
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        told, _ = await fuzzer.communicate()
        assert fuzzer.returncode == 0, told.decode()
        assert "Tested: 50" in told.decode()
        assert "Today" in await browser.read("/")  # the session held until the end
