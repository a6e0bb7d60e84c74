"""The tools of the web in turns of a bot: documents are read, and a request that changes something is sent once."""

import asyncio
from pathlib import Path

from kenobot.ports.json_value import Json
from kenobot.ports.provider import Reply, Request, ToolCall, ToolResult
from kenobot.tools.web.fetch import WebFetch
from kenobot.tools.web.request import AllowedHost, HttpRequest
from kenobot_testing.clock import ManualClock
from kenobot_testing.scripted import ScriptedProvider
from tests.scene import Scene
from tests.unit.tools.web.site import answer, open_site
from tests.waiting import until


def call(name: str, **arguments: Json) -> Reply:
    return Reply("", "tool_use", calls=(ToolCall("c1", name, arguments),))


def results(scene: Scene, number: int) -> list[ToolResult]:
    """The results that a request shows."""
    assert isinstance(scene.provider, ScriptedProvider)
    request: Request = scene.provider.requests[number]
    return [each for message in request.messages for each in message.blocks if isinstance(each, ToolResult)]


async def test_a_document_of_the_web_is_read_in_a_turn(tmp_path: Path) -> None:
    """As far as the settings show of a result, with where to go on."""
    script, environ = [call("web_fetch", url="https://example.com/a"), "Read."], {"ToolLimits.result_chars": 1000}
    async with open_site(a=answer(rb"{\rtf1 " + b"word " * 400 + b"}", "application/rtf")) as site:
        tool = WebFetch(site.client(), ManualClock())
        async with Scene(tmp_path, script, tools=[tool], environ=environ) as scene:
            assert await scene.say("read https://example.com/a") == "Read."
            [result] = results(scene, 1)
    assert "word word" in result.text and "offset=" in result.text and "not shown" not in result.text


async def test_a_request_that_a_crash_broke_off_is_not_sent_again(tmp_path: Path) -> None:
    """And model and person are told that nobody knows; a page is simply read again."""

    async def silence(writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with open_site(v1=silence) as site:
        post = HttpRequest(site.client(seconds=600), {"api.example.com": AllowedHost(frozenset({"POST"}))})
        order = call("http_request", url="https://api.example.com/v1", method="POST", body="{}")
        async with Scene(tmp_path, [order], tools=[post]) as scene:
            await scene.put("order it")
            await until(lambda: bool(site.asked))
            await scene.app.loop.stop(0.0)
        async with Scene(tmp_path, ["I do not know."], tools=[post]) as scene:
            await scene.app.wait_drained()
            assert scene.texts[0].startswith("I do not know.\n\n(I was stopped while this ran: http_request.")
            assert "not known whether it happened" in results(scene, 0)[0].text
        assert site.asked == ["api.example.com/v1"]
