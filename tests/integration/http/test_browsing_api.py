"""Looking through memory by the REST API: filters, moments, timeline and graph, over a real connection."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kenobot_testing.scripted import ScriptedProvider
from tests.integration.http.bot import ServedBot, served_bot


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[ServedBot]:
    """A bot that says nothing."""
    async with served_bot(tmp_path, ScriptedProvider()) as served:
        yield served


async def test_memories_are_narrowed_and_tell_their_confidence(bot: ServedBot) -> None:
    """By a subject, letters and days; one memory tells its strength, and what it is linked to in words."""
    async with await bot.client() as client:
        for text in ("I live in Madrid", "My sister Ana likes tea"):
            assert (await client.post("/v1/memories", json={"text": text})).status_code == 200
        everything = (await client.get("/v1/memories")).json()["items"]
        found = (await client.get("/v1/memories", params={"text": "TEA", "first": "2020-01-01"})).json()["items"]
        assert [each["text"] for each in found] == ["My sister Ana likes tea"]
        assert (await client.get("/v1/memories", params={"last": "2020-01-01"})).json()["items"] == []
        assert (await client.get("/v1/memories", params={"as_of": "2020-01-01"})).json()["items"] == []
        later = (await client.get("/v1/memories", params={"as_of": "9999-12-31T23:59:59-14:00"})).json()["items"]
        assert [each["id"] for each in later] == [each["id"] for each in everything]
        assert (await client.get("/v1/memories", params={"first": "soon"})).status_code == 422
        one = (await client.get(f"/v1/memories/{found[0]['id']}")).json()
        assert one["strength"] == pytest.approx(one["confidence"], abs=0.05)
        assert [point["kind"] for point in one["confidences"]] == ["created"]
        facets = (await client.get("/v1/facets")).json()
        assert sum(facets["forms"].values()) == len(everything)


async def test_the_timeline_tells_what_was_learned_and_forgotten(bot: ServedBot) -> None:
    """Counted by period and one by one; each names the decision that an undo takes back."""
    async with await bot.client() as client:
        made = (await client.post("/v1/memories", json={"text": "I live in Madrid"})).json()
        await client.delete(f"/v1/memories/{made['memory']}")
        (week,) = (await client.get("/v1/timeline")).json()
        assert (week["counts"]["learned"], week["counts"]["forgotten"]) == (1, 1)
        items = (await client.get("/v1/timeline/changes", params={"happening": "forgotten"})).json()["items"]
        assert [(each["record"], each["text"]) for each in items] == [(made["memory"], "")]
        assert (await client.post("/v1/undo", json={"event": items[0]["decision"]})).status_code == 200
        items = (await client.get("/v1/timeline/changes", params={"limit": 1})).json()
        assert [(each["happening"], each["text"]) for each in items["items"]] == [("undone", "I live in Madrid")]
        rest = (await client.get("/v1/timeline/changes", params={"cursor": items["next"]})).json()["items"]
        assert [each["happening"] for each in rest] == ["forgotten", "learned"]
        assert (await client.get("/v1/timeline", params={"first": "0001-01-01", "last": "9999-12-31"})).json()
        assert (await client.get("/v1/timeline", params={"last": "0001-01-01"})).json() == []


async def test_the_graph_is_of_what_a_key_reaches(bot: ServedBot) -> None:
    """A guest sees nothing of the owner's, by no route of these."""
    async with await bot.client() as owner, await bot.client("bob") as bob:
        await owner.post("/v1/memories", json={"text": "The safe is behind the mirror"})
        graph = (await owner.get("/v1/graph", params={"detail": "memories"})).json()
        assert {node["kind"] for node in graph["nodes"]} >= {"subject", "memory"}
        assert [edge["kind"] for edge in graph["edges"]] == ["about"]
        for path in ("/v1/graph?detail=memories", "/v1/timeline", "/v1/timeline/changes", "/v1/facets"):
            seen = await bob.get(path)
            assert (seen.status_code, "mirror" in seen.text) == (200, False), path
        assert (await bob.get("/v1/graph")).json()["memories"] == 0
        assert (await owner.get("/v1/graph", params={"limit": 10**9})).status_code == 422
