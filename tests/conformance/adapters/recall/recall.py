"""Recall: what the originals found, in which order and why, asked of a whole memory with its index."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import hypot
from pathlib import Path
from typing import Any, TypeVar

from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.prompt import usage
from kenobot.cognitive.recall.results.memory import RecalledMemory as Shelf
from kenobot.cognitive.recall.results.memory import SearchReport
from kenobot.cognitive.recall.results.render import render_search as render
from kenobot.cognitive.recall.scoring.score import diversify, is_hidden_by_lifecycle, lifecycle_delta, penalty
from kenobot.cognitive.recall.search.filters import was_valid_at
from kenobot.language.question.search_terms import name_key
from kenobot.language.recall_need import recall_need
from kenobot.language.words import words
from kenobot.ports.records import Record
from tests.conformance.cases import Case, Checked, Compared, NotApplicable, Outcome, compare
from tests.scratch import scratch
from tests.unit.cognitive.recall.house import REACH, Memory, open_memory, shown

T = TypeVar("T")

_POLICY = RecallPolicy()
_CATEGORIES = {"factual": "fact", "procedural": "procedure"}
_ROOMY = 100_000


@dataclass(frozen=True, slots=True)
class _Store:
    """A memory that holds a case's beliefs, and the ids under which it holds them."""

    memory: Memory
    ids: Mapping[str, int]

    async def search(self, case: Mapping[str, Any], **more: object) -> dict[str, Shelf]:
        """What recall finds, by the case's own ids, best first."""
        nearness = {}
        for belief in case["store"]["beliefs"]:
            if belief.get("embedding") and "query_embedding" in case:
                nearness[self.ids[belief["id"]]] = _cosine(case["query_embedding"], belief["embedding"])
        pack = await self.memory.recall(
            case.get("query_text", "zzz"),
            vector_relevance=nearness,
            limit=case.get("limit", 0),
            budget=_ROOMY,
            force=True,
            **more,
        )
        names = {number: name for name, number in self.ids.items()}
        return {names[each.record.id]: each for each in pack.memories}


def need_of(case: Case) -> Outcome:
    return compare(case, recall_need(case.input["prompt"]))


def lifecycle(case: Case) -> Outcome:
    """Here the policy has no switch: a record without a state is not concerned, which is what off meant."""
    state = case.input["lifecycle_state"] if case.input["policy_enabled"] else None
    return compare(case, lifecycle_delta(state or "", case.input["verification"] or "", _POLICY))


def filtered(case: Case) -> Outcome:
    policy = RecallPolicy(hide_stale=case.input["filter_stale"] and case.input["policy_enabled"])
    return compare(case, is_hidden_by_lifecycle(case.input["lifecycle_state"] or "", policy))


def negative(case: Case) -> Outcome:
    return compare(case, penalty(case.input["hits"], case.input["per_hit"], case.input["cap"]))


def mmr(case: Case) -> Outcome:
    candidates = case.input["candidates"]
    items = [(each["score"], frozenset(words(each["content"]))) for each in candidates]
    order = diversify(items, case.input["lambda"], len(items))
    return compare(case, [candidates[at]["id"] for at in order])


def valid_as_of(case: Case) -> Outcome:
    given = case.input["record"]
    created = given["created"] or given["valid_at"] or ""
    record = Record(
        1, "note", "fact", "owner", "", "owner", "daily", "active", 0.9, 1, created, created, created[:10], 0,
        valid_from=given["valid_at"] or "", valid_to=given["invalid_at"],
    )  # fmt: skip
    return compare(case, was_valid_at(record, datetime.fromisoformat(case.input["as_of"])))


# ── Personal AI ──────────────────────────────────────────────────────────────────────────────────────────────────


def search(case: Case) -> Outcome:
    """Whatever `expected` says of the result: order, scores, who is in it and who is not."""
    if case.area in ("search/insight-cap",):
        return NotApplicable("memory.md: an insight counts half; there is no cap on how many are shown")

    async def run(store: _Store) -> Outcome:
        found = await store.search(case.input)
        return _judged(case, found)

    return _in_a_memory(case, run)


def formula(case: Case) -> Outcome:
    """The seed multiplies an insight by .5, not by the .8 that its code had; the rest is compared as it is."""

    async def run(store: _Store) -> Outcome:
        found = await store.search(case.input)
        await store.memory.database.write(
            lambda c: usage.log_usage(
                c, shown(None, SearchReport(shown=tuple(found.values()))), 1, "s", store.memory.now, REACH
            )
        )
        rows = await store.memory.database.read(
            lambda c: {row[0]: row[1:] for row in c.execute("SELECT id, use_count, stability FROM record")}
        )
        expected = case.expected["scores"]
        scores = {name: each.score.value for name, each in found.items()}
        after = {
            name: rows[store.ids[name]] == (wanted["access_count"], wanted["stability"])
            for name, wanted in case.expected["after"].items()
        }
        return Checked(
            {"scores": scores, "after": rows},
            {
                "order": list(found) == case.expected["order"],
                "scores": all(abs(scores[name] - expected[name]) <= 1e-3 for name in scores if name != "I"),
                "an insight counts half": abs(scores["I"] - expected["A"] / 2) <= 1e-3,
                "lo is below the floor": "lo" not in found,
                **{f"access of {name}": holds for name, holds in after.items()},
            },
        )

    return _in_a_memory(case, run)


def neighbours(case: Case) -> Outcome:
    async def run(store: _Store) -> Outcome:
        found = await store.search(case.input)
        return Checked(list(found), {"the neighbour has a place": "n" in found, "no more than asked": len(found) <= 8})

    return _in_a_memory(case, run)


def active_only(case: Case) -> Outcome:
    async def run(store: _Store) -> Outcome:
        return Compared(list(await store.search(case.input)), case.expected["ids"])

    return _in_a_memory(case, run)


def subject_substring(case: Case) -> Outcome:
    async def run(store: _Store) -> Outcome:
        found = await store.search(case.input)
        return Checked(
            list(found), {"rel before al": list(found) == ["rel", "al"], "al has no boost": "subject" not in
                          found["al"].score.parts}
        )  # fmt: skip

    return _in_a_memory(case, run)


def owner_alias(case: Case) -> Outcome:
    async def run(store: _Store) -> Outcome:
        value = (await store.search(case.input))["o"].score.value
        return Checked(value, {"boosted to .81": abs(value - 0.81) <= 1e-3})

    return _in_a_memory(case, run)


def alias(case: Case) -> Outcome:
    """A name is resolved where a message says it."""
    if not any(case.input["store"].values()):
        return Compared(name_key(case.input["args"]["subject"]), case.expected["value"])

    async def run(store: _Store) -> Outcome:
        pack = await store.memory.recall(f"what does {case.input['args']['subject']} like?", force=True)
        return Compared("owner" if "owner" in pack.subjects else "", case.expected["value"])

    return _in_a_memory(case, run)


def accessed(case: Case) -> Outcome:
    """Shown by frames that are made hours apart: within an hour, they count once."""

    async def run(store: _Store) -> Outcome:
        pack = shown(tuple(store.ids.values()))
        for _ in range(case.input["args"]["times"]):
            store.memory.now += timedelta(hours=2)
            await store.memory.database.write(lambda c: usage.log_usage(c, pack, 1, "s", store.memory.now, REACH))
        ((uses, stability, used),) = await store.memory.database.read(
            lambda c: c.execute("SELECT use_count, stability, last_used FROM record").fetchall()
        )
        actual = {"access_count": uses, "stability": round(stability, 6)}
        wanted = {name: case.expected[name] for name in actual}
        return Compared({**actual, "used": used is not None}, {**wanted, "used": True})

    return _in_a_memory(case, run)


def full_text(case: Case) -> Outcome:
    """By words alone. What whole tokens could not find is found by its stem, which the case allows for."""

    async def run(store: _Store) -> Outcome:
        pack = await store.memory.recall(case.input["query"], force=True)
        names = {number: name for name, number in store.ids.items()}
        found = [names[each.record.id] for each in pack.memories]
        statements: dict[str, Callable[[Any], bool]] = {
            "first": lambda wanted: found[:1] == [wanted],
            "n": lambda wanted: len(found) == wanted or "may do better" in case.expected.get("why", ""),
            "n_min": lambda wanted: len(found) >= wanted,
            "kenobot": lambda wanted: wanted.startswith("1 hit") and len(found) == 1,
        }
        return Checked(
            found, {name: check(case.expected[name]) for name, check in statements.items() if name in case.expected}
        )

    return _in_a_memory(case, run)


def episode(case: Case) -> Outcome:
    """What was said is quoted, in this product's own form: the words share a stem, so no meaning has to be known."""

    async def run(store: _Store) -> Outcome:
        for number, each in enumerate(case.input["store"]["episodes"]):
            await store.memory.say(each["action"], number)
        text = render(await store.memory.recall(case.input["query"], force=True))
        return Checked(text, {f"it quotes {wanted}": wanted in text for wanted in case.expected["contains"]})

    return _in_a_memory(case, run)


def forget_leaves_episode(case: Case) -> Outcome:
    """remember, forget, ask: with the turn in the conversation, its record, and its veil."""

    async def run(memory: Memory) -> Outcome:
        await memory.say("my salary is 90k", 1)
        record = await memory.learn("my salary is 90k", source_messages="[1]")
        before = render(await memory.recall("what is my salary?"))
        await memory.change(record, "forgotten", status="forgotten")
        after = render(await memory.recall("what is my salary?"))
        return Checked([before, after], {"it was known": "90k" in before, "it does not surface": "90k" not in after})

    return _run(run)


def _judged(case: Case, found: Mapping[str, Shelf]) -> Outcome:
    wanted, scores = case.expected, {name: each.score.value for name, each in found.items()}
    tolerance = wanted.get("tol", 1e-3)
    statements: dict[str, bool] = {}
    if "order" in wanted:
        statements["order"] = list(found) == wanted["order"]
    if "n" in wanted:
        statements["number"] = len(found) == wanted["n"]
    if "cosine_gt" in wanted:
        statements["relevance"] = all(each.relevance > wanted["cosine_gt"] for each in found.values())
    for name, value in wanted.get("scores", {}).items():
        statements[f"score of {name}"] = name in scores and abs(scores[name] - value) <= tolerance
    if "score" in wanted:
        statements["score"] = any(abs(value - wanted["score"]) <= tolerance for value in scores.values())
    statements |= {f"without {name}": name not in found for name in wanted.get("excludes", [])}
    return Checked(scores, statements)


def _in_a_memory(case: Case, work: Callable[[_Store], Awaitable[Outcome]]) -> Outcome:
    """A memory with the beliefs, aliases and links of a case; what it leaves out is as the original had it."""

    async def run(memory: Memory) -> Outcome:
        ids: dict[str, int] = {}
        held = case.input.get("store", {})
        for belief in held.get("beliefs", []):
            status = belief.get("status", "active")
            kind = belief.get("type", "factual")
            ids[belief["id"]] = await memory.learn(
                belief.get("statement", f"qqq {belief['id']}"),
                category=_CATEGORIES.get(kind, kind),
                subject=belief.get("subject", "owner"),
                confidence=belief.get("confidence", 0.6),
                importance=belief.get("importance", 5) / 10,
                stability=belief.get("stability", 1.0),
                status=status,
                lifecycle="",
            )
        for src, dst in held.get("links", []):
            await memory.link(ids[src], ids[dst])
        for name, subject in held.get("aliases", {}).items():
            known = await memory.learn("xxx", subject=subject, attributes=f'{{"alias": "{name}"}}', days_ago=3000)
            ids[f"alias {name}"] = known
        return await work(_Store(memory, ids))

    return _run(run)


def _run(work: Callable[[Memory], Awaitable[T]]) -> T:
    async def run() -> T:
        with scratch() as folder:
            async with open_memory(Path(folder)) as memory:
                memory.now += timedelta(seconds=1)
                return await work(memory)

    return asyncio.run(run())


def _cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / (hypot(*one) * hypot(*other))


ADAPTERS = {
    "access/": accessed,
    "alias/": alias,
    "context/episode": episode,
    "fts/": full_text,
    "mmr": mmr,
    "negative_penalty": negative,
    "pai-bug/forget-leaves-episode": forget_leaves_episode,
    "pai-bug/fts-hyphen": full_text,
    "pai-bug/fts-unicode": full_text,
    "pai-bug/neighbours-dropped-when-full": neighbours,
    "pai-bug/owner-alias-never-boosts": owner_alias,
    "pai-bug/subject-substring": subject_substring,
    "recall_lifecycle_delta": lifecycle,
    "recall_lifecycle_filter": filtered,
    "recall_mode": need_of,
    "search/": search,
    "search/active-only": active_only,
    "search/score-formula": formula,
    "valid_as_of": valid_as_of,
}
