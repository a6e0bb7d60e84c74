"""Requests go to hosts that the owner named, with secrets that the model never sees."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kenobot.ports.errors import AnswerLost, ConfigError, ToolFailed
from kenobot.ports.plugin import PluginContext
from kenobot.tools.web import HttpRequestSettings, _allow_host, http_request
from kenobot.tools.web.address import AddressRefused, Reach
from kenobot.tools.web.request import AllowedHost, HttpRequest, RequestArguments
from kenobot_testing.clock import ManualClock
from kenobot_testing.tool import tool_context
from tests.cases import each
from tests.unit.tools.web.site import Site, answer, context, open_site

_SECRET = "s3cr3t-value"
_HOSTS: Mapping[str, Any] = {
    "api.example.com": {
        "methods": ["GET", "POST", "DELETE"],
        "headers": {"Authorization": "Bearer {weather_token}", "X-App": "keno"},
        "query": {"appid": "{weather_token}"},
    },
    "house.home:8123": {"headers": {"X-Key": "{weather_token}"}, "private": True},
    "open.example.org": {},
}


def tool_of(site: Site, *, seconds: float = 5.0, most: int = 10_000) -> HttpRequest:
    settings = HttpRequestSettings.model_validate({"hosts": _HOSTS, "weather_token": _SECRET})
    hosts = {name: _allow_host(name, host, {"weather_token": _SECRET}) for name, host in settings.hosts.items()}
    return HttpRequest(site.client(Reach(setting="hosts, with private = true"), seconds=seconds, most=most), hosts)


async def send(site: Site, url: str, method: str = "GET", **given: object) -> str:
    arguments = RequestArguments.model_validate({"url": url, "method": method, **given})
    return await tool_of(site).run(arguments, context())


async def test_secrets_are_put_in_and_never_told() -> None:
    """In a header and in the query; where the server sends one back, it is taken out of the answer."""
    async with open_site() as site:
        site.pages[f"/v1?q=Lugo&appid={_SECRET}"] = answer(f'{{"echo": "Bearer {_SECRET}"}}', "application/json")
        told = await send(site, "https://api.example.com/v1?q=Lugo", headers={"Accept": "application/json"})
        assert f"authorization: bearer {_SECRET}" in site.heads[0].lower() and "x-app: keno" in site.heads[0].lower()
    assert told == 'Status: 200\ncontent-type: application/json\n\n{"echo": "Bearer [secret]"}'


async def test_the_description_names_the_hosts_and_no_secret() -> None:
    """So that the model knows what it may ask."""
    async with open_site() as site:
        tool = tool_of(site)
    assert "api.example.com (DELETE GET POST), house.home:8123 (GET)" in tool.description
    assert _SECRET not in f"{tool.description}{tool!r}{vars(tool)!r}"


async def test_a_post_has_a_key_by_which_the_server_knows_it_again() -> None:
    """The same for the same call, another for another; its body is told to be JSON where it is."""
    async with open_site() as site:
        tool = tool_of(site)
        for call, body in (("a", '{"x": 1}'), ("a", "{x"), ("b", "")):
            arguments = RequestArguments(url="https://api.example.com/v1", method="POST", body=body)
            await tool.run(arguments, tool_context(call))
        heads = [
            dict(line.lower().split(": ", 1) for line in head.split("\r\n") if ": " in line) for head in site.heads
        ]
        keys = [head["idempotency-key"] for head in heads]
        assert keys[0] == keys[1] != keys[2]
        assert [head.get("content-type", "") for head in heads] == ["application/json", "text/plain; charset=utf-8", ""]
        assert site.bodies == [b'{"x": 1}', b"{x", b""]
        await send(site, "https://api.example.com/v1", "DELETE", headers={"user-agent": "mine"})
        assert site.heads[-1].lower().count("user-agent") == 1
        assert "idempotency-key" not in site.heads[-1].lower()


@pytest.mark.parametrize(
    ("url", "method", "words"),
    [
        ("https://evil.example.com/", "GET", "not among the hosts"),
        ("https://api.example.com.evil.com/", "GET", "not among"),
        ("https://evil.com/api.example.com", "GET", "not among"),
        ("https://api.example.com@evil.com/", "GET", "user"),
        ("https://evil.com\\@api.example.com/", "GET", "no address"),
        ("https://api.example.com:8443/", "GET", "Port"),
        ("http://api.example.com/", "GET", "https alone"),
        ("http://house.home/", "GET", "network"),
        ("http://127.0.0.1/", "GET", "network"),
        ("http://169.254.169.254/", "GET", "network"),
        ("file:///etc/passwd", "GET", "http"),
        ("https://api.example.com/", "PUT", "alone"),
        ("https://open.example.org/", "POST", "alone"),
    ],
)
async def test_what_the_owner_did_not_name_is_refused(url: str, method: str, words: str) -> None:
    """Another host, port, method, or plain HTTP with a secret; nothing is sent."""
    async with open_site() as site:
        with pytest.raises(ToolFailed, match=words):
            await send(site, url, method)
        assert not site.connected


@each(
    "name",
    """Host host Authorization X-APP Content-Length Transfer-Encoding Connection Cookie Proxy-Authorization Proxy-X
    Upgrade Expect TE Idempotency-Key Accept-Encoding X\rHost X:Y ñ""".replace("\n", " ").split(" "),
)
async def test_headers_that_are_not_the_models_are_refused(name: str) -> None:
    """Those that say where a request goes, how long it is or whose it is, and those of the settings."""
    async with open_site() as site:
        with pytest.raises(ToolFailed):
            await send(site, "https://api.example.com/v1", headers={name.strip(): "x"})
        assert not site.connected


@pytest.mark.parametrize("value", ["a\r\nX-Evil: b", "a\nb", "a\0b", "ñ", "x" * 2000])
async def test_a_header_that_would_break_a_request_is_refused(value: str) -> None:
    """Nothing can be added to it."""
    async with open_site() as site:
        with pytest.raises(ToolFailed):
            await send(site, "https://api.example.com/v1", headers={"X-Note": value})
        assert not site.connected


async def test_a_named_host_at_a_private_address_needs_a_word_of_the_owner() -> None:
    """For its name may be made to lead elsewhere; a private one may be asked without TLS."""
    async with open_site() as site:
        site.names |= {"house.home": ["192.168.1.9"], "open.example.org": ["169.254.169.254"]}
        site.pages["/api"] = answer("on", "text/plain")
        assert (await send(site, "http://house.home:8123/api")).endswith("on")
        with pytest.raises(AddressRefused, match="private = true"):
            await send(site, "https://open.example.org/api")
        assert site.connected == [("192.168.1.9", "house.home")]


async def test_a_redirect_is_told_and_not_followed() -> None:
    """The secret stays with the host that it is for."""
    async with open_site() as site:
        site.pages[f"/v1?appid={_SECRET}"] = answer("", status="302 Found", headers="Location: https://evil.com/\r\n")
        told = await send(site, "https://api.example.com/v1")
        assert told.startswith("Status: 302\n") and "location: https://evil.com/" in told
        assert len(site.asked) == 1


async def test_a_secret_is_taken_out_wherever_an_answer_is_cut() -> None:
    """Also in the address of a redirect, where it is spelt otherwise; no part of it stays at the end."""
    async with open_site() as site:
        tool = HttpRequest(site.client(), {"a.example.com": AllowedHost(frozenset({"GET"}), secrets=("s3 cr/t+x",))})
        link = f"Link: <https://b.c/?{'x' * 270}s3%20cr%2Ft%2Bx&s3+cr%2Ft%2Bx>\r\n"
        site.pages["/v1"] = answer("y" * 6495 + "s3 cr/t+x", "text/plain", headers=link)
        told = await tool.run(RequestArguments(url="https://a.example.com/v1"), context())
        assert "s3" not in told and "[secret]" in told


async def test_an_answer_is_bounded() -> None:
    """In what is read and in what is shown; what is no text is not shown at all."""
    async with open_site() as site:
        path = f"/v1?appid={_SECRET}"
        site.pages[path] = answer("x" * 100_000, "text/plain")
        told = await send(site, "https://api.example.com/v1")
        assert len(told) < 8000 and told.endswith("not shown]\n[The answer is longer.]")
        site.pages[path] = answer(b"\x89PNG\0\0", "image/png")
        assert "6 bytes that are no text" in await send(site, "https://api.example.com/v1")
        site.pages[path] = answer("", status="204 No Content")
        assert "no body" in await send(site, "https://api.example.com/v1", "DELETE")


async def silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def test_of_a_request_that_was_lost_nobody_knows_whether_it_was_carried_out() -> None:
    """Which is said where sending it again would do it again."""
    async with open_site() as site:
        site.pages[f"/v1?appid={_SECRET}"] = silence
        for method, said in (("POST", True), ("GET", False)):
            arguments = RequestArguments.model_validate({"url": "https://api.example.com/v1", "method": method})
            with pytest.raises(AnswerLost) as error:
                await tool_of(site, seconds=0.1).run(arguments, context())
            assert ("It is not known" in str(error.value)) == said and _SECRET not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "no host"),
        ({"hosts": {"a.b": {"headers": {"X": "{my_token}"}}}}, r"credentials/tools\.http_request\.my_token"),
        ({"hosts": {"a.b": {"headers": {"X": "{my_token}"}}}, "my_token": "a\nb"}, "plain letters"),
        ({"hosts": {"a.b": {"headers": {"X:": "b"}}}}, "plain letters"),
        ({"hosts": {"a.b": {"headers": {"X": "ñ"}}}}, "plain letters"),
    ],
)
def test_settings_that_lack_something_are_refused_at_the_start(settings: dict[str, Any], words: str) -> None:
    """In one line that says what to do."""
    with pytest.raises(ConfigError, match=words):
        http_request.build(HttpRequestSettings.model_validate(settings), _surroundings())


@pytest.mark.parametrize(
    "settings",
    [
        {"hots": {}},
        {"hosts": {"https://a.b": {}}},
        {"hosts": {"u@a.b": {}}},
        {"hosts": {"a.b:x": {}}},
        {"hosts": {"a.b/c": {}}},
        {"hosts": {"a.b": {"methods": []}}},
        {"hosts": {"a.b": {"methods": ["TRACE"]}}},
        {"hosts": {"a.b": {"pass": "x"}}},
        {"my_token": {"a": 1}},
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, Any]) -> None:
    """A secret is told by its name; all else has to be known."""
    with pytest.raises(ValueError, match=r"."):
        HttpRequestSettings.model_validate(settings)


def _surroundings() -> PluginContext:
    return PluginContext(Path(), ManualClock(), "Keno")


@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "x-http-method", "X-Method-Override"])
async def test_no_header_makes_another_method_of_a_request(name: str) -> None:
    """Many servers take these for the method, which the owner names."""
    async with open_site() as site:
        with pytest.raises(ToolFailed, match="not given by you"):
            await send(site, "https://open.example.org/", headers={name: "DELETE"})
        assert site.heads == []


@pytest.mark.parametrize("echo", ['ab/c\\"&12', 'ab\\/c\\"&12', "ab/c&quot;&amp;12", 'ab/c"&amp;12'])
async def test_a_secret_is_taken_out_as_json_and_pages_spell_it(echo: str) -> None:
    """Servers escape slashes, quotes and ampersands."""
    async with open_site() as site:
        site.pages["/"] = answer(f"<{echo}>", "text/plain")
        tool = HttpRequest(site.client(), {"a.example.com": AllowedHost(frozenset({"GET"}), secrets=('ab/c"&12',))})
        told = await tool.run(RequestArguments(url="https://a.example.com/"), context())
        assert "<[secret]>" in told
