"""Messages with files by the API: a form, with the limits and checks of the dashboard's chat."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from kenobot_http.uploads import MOST_BYTES, MOST_FILES
from kenobot_testing.scripted import ScriptedProvider
from tests.integration.http.bot import ServedBot, served_bot

_PATH = "/v1/conversations/mine/messages"
_NOTE = ("files", ("../note.txt", b"plum", "text/plain"))


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[ServedBot]:
    """A bot that says the same whatever it is asked."""
    async with served_bot(tmp_path, ScriptedProvider(["Noted."], repeat_last=True)) as served:
        yield served


async def test_a_file_is_read_as_in_any_chat(tmp_path: Path) -> None:
    """Beside a text, alone, by a guest, and with its answer followed; a form without files is a message as well."""
    provider = ScriptedProvider(["It says plum."], repeat_last=True)
    async with served_bot(tmp_path, provider) as bot, await bot.client() as client:
        answer = await client.post(_PATH, data={"text": "Read this.", "name": "Ana"}, files=[_NOTE])
        assert (answer.status_code, answer.json()["answer"]) == (200, "It says plum.")
        assert "plum" in str(provider.requests[-1].messages)
        assert "../" not in str(provider.requests[-1].messages)
        alone = await client.post(_PATH, files=[_NOTE], params={"wait": 0})
        assert alone.status_code == 202
        plain = await client.post(_PATH, files={"text": (None, "Only words.")})
        assert plain.json()["state"] == "answered"
        followed = await client.post(_PATH, files=[_NOTE], headers={"Accept": "text/event-stream"})
        assert followed.text.rstrip().splitlines()[-2] == "event: answer"
        async with await bot.client("bob") as guest:
            assert (await guest.post(_PATH, files=[_NOTE])).status_code == 200


async def test_a_form_sent_again_is_answered_once(tmp_path: Path) -> None:
    """With the same key another file is another request, which is refused."""
    provider = ScriptedProvider(["Yes."], repeat_last=True)
    async with served_bot(tmp_path, provider) as bot, await bot.client() as client:
        given: dict[str, Any] = {"data": {"text": "Look."}, "headers": {"Idempotency-Key": "k1"}}
        first = await client.post(_PATH, files=[_NOTE], **given)
        assert (await client.post(_PATH, files=[_NOTE], **given)).json() == first.json()
        other = ("files", ("note.txt", b"pear", "text/plain"))
        assert (await client.post(_PATH, files=[other], **given)).status_code == 409
        assert len(provider.requests) == 1


async def test_what_is_too_much_is_refused_and_nothing_is_kept(bot: ServedBot) -> None:
    """Too large, too many, nothing at all; without a key the body is not read, and JSON stays as short as before."""
    async with await bot.client() as client:
        large = ("files", ("large.bin", b"x" * (MOST_BYTES + 1), "application/octet-stream"))
        assert (await client.post(_PATH, files=[large])).status_code == 413
        many = [("files", (f"{number}.txt", b"x", "text/plain")) for number in range(MOST_FILES + 1)]
        assert (await client.post(_PATH, files=many)).status_code in (400, 413)
        assert (await client.post(_PATH, files={"text": (None, " ")})).status_code == 422
        assert (await client.post(_PATH, files={"text": (None, "x" * 100_001)})).status_code == 422
        assert (await client.get("/v1/conversations")).json()["items"] == []
    async with httpx.AsyncClient(base_url=bot.base, trust_env=False) as stranger:
        assert (await stranger.post(_PATH, files=[_NOTE])).status_code == 401
    assert "413" in await _announce(bot, await bot.key(), 10**12)
    assert "413" in await _announce(bot, await bot.key(), 1_000_000, kind="application/json")
    assert "413" in await _announce(bot, await bot.key(), 1_000_000, path="/v1/memories")
    assert "401" in await _announce(bot, "no key", MOST_BYTES)
    assert not [*bot.app.home.media.glob("*")]


async def test_the_description_names_the_form(bot: ServedBot) -> None:
    """Beside the JSON of the same path."""
    async with await bot.client() as client:
        described = json.loads((await client.get("/openapi.json")).text)
    bodies = described["paths"]["/v1/conversations/{name}/messages"]["post"]["requestBody"]["content"]
    assert set(bodies) == {"application/json", "multipart/form-data"}
    assert set(bodies["multipart/form-data"]["schema"]["properties"]) == {"text", "name", "files"}


async def _announce(
    bot: ServedBot, key: str, size: int, *, kind: str = "multipart/form-data; boundary=b", path: str = _PATH
) -> str:
    """Announce a body of so many bytes, send none of it, and return the first line of the answer."""
    port = int(bot.base.rpartition(":")[2])
    lines = (
        f"POST {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"Authorization: Bearer {key}",
        f"Content-Type: {kind}",
        f"Content-Length: {size}",
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("".join(f"{line}\r\n" for line in (*lines, "")).encode())
    told = await reader.readline()
    writer.close()
    return told.decode()
