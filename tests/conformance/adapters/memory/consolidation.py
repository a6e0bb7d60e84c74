"""Joining while asleep: duplicates, contradictions, profile, conclusions, in a memory that holds a case's beliefs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kenobot.cognitive.beliefs.links import strengthen_link
from kenobot.cognitive.beliefs.value import strength
from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.sleep.apply_change import PassContext, apply_change
from kenobot.cognitive.sleep.consolidate import profile, synthesize
from kenobot.cognitive.sleep.consolidate.pairs import merging, pair_relation, pair_review
from kenobot.cognitive.sleep.plan.changes import Change
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store import records, term_index
from kenobot.ports.memory import Candidate
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.conformance.adapters.memory.admit import NOW, SCOPE, number_of
from tests.conformance.cases import NO_BETTER, Adapter, Case, Checked, Compared, NotApplicable, Outcome
from tests.memory_rows import get, open_memory, put_record
from tests.unit.cognitive.sleep.beliefs import relation_json
from tests.unit.cognitive.sleep.nights import UTC

# One thing in two wordings that share no word, and other things: a case's "b1" and "b2" have to say something here.
_SAYINGS = ("The user likes tea", "A hot brew pleases them", "The user plays chess", "The user owns a red boat")


class Asleep:
    """A memory as a night finds it. nearness is that of a case's embeddings, where it gives any."""

    def __init__(self, connection: Connection, beliefs: Sequence[Mapping[str, Any]]) -> None:
        self.connection = connection
        self.ids: dict[str, int] = {}
        self._vectors: dict[int, Sequence[float]] = {}
        for at, belief in enumerate(beliefs):
            text = belief.get("statement") or (_SAYINGS[at] if at < len(_SAYINGS) else f"the user knows word{at}")
            record = put_record(
                connection,
                text,
                trust="owner",
                source="import",
                confidence=belief.get("confidence", 0.6),
                importance=belief.get("importance", 5) / 10,
                category=belief.get("type", "fact"),
                subject=belief.get("subject", "owner"),
                use_count=belief.get("access_count", 0),
            )
            term_index.index_record(connection, record.id, record.scope)
            self.ids[belief["id"]] = record.id
            if belief.get("embedding"):
                self._vectors[record.id] = belief["embedding"]

    def view(self, answers: Mapping[str, str] | None = None, least: float | None = None) -> NightView:
        policy = DEFAULT
        if least is not None:
            policy = replace(DEFAULT, consolidation=replace(DEFAULT.consolidation, duplicate_from=least))
        near = self._near if self._vectors else None
        return NightView(self.connection, START, UTC, policy=policy, answers=answers or {}, find_neighbours=near)

    def sleep(self, one: Pass, answer: str | None = None) -> tuple[list[Change], int]:
        """Run a pass, every question of which is answered alike; its changes, and how much was asked."""
        asked = one.questions(self.view())
        view = self.view({} if answer is None else {question.key: answer for question in asked})
        changes = list(one.plan(view))
        for change in changes:
            apply_change(self.connection, change, PassContext(1, one.name, START, UTC))
        return changes, len(asked)

    def names(self, numbers: Sequence[int]) -> list[str]:
        return [name for name, number in self.ids.items() if number in numbers]

    def live(self) -> list[str]:
        return [name for name, number in self.ids.items() if get(self.connection, number).status == "active"]

    def _near(self, scope: str, subject: str, record: int, limit: int) -> Mapping[int, float]:
        del scope, subject, limit
        own = self._vectors.get(record)
        return {n: _cosine(vector, own) for n, vector in self._vectors.items()} if own else {}


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    norms = sum(a * a for a in one) ** 0.5 * sum(b * b for b in other) ** 0.5
    return sum(a * b for a, b in zip(one, other, strict=True)) / norms if norms else 0.0


# ── lines and names ──────────────────────────────────────────────────────────────────────────────────────────────


def jaccard(case: Case) -> Outcome:
    one, other = case.input["a"], case.input["b"]
    found = round(pair_relation.jaccard(one, other), 6)
    if "punctuation" in case.quirk:
        return Checked(found, {"a dot at the end tells nothing apart": found == 1.0})
    if case.quirk and case.better is NO_BETTER:
        return Checked(found, {"two lines without words have nothing in common": found == 0.0})
    return Compared(found, case.expected)


def _similar_lines(lines: Sequence[str], least: float) -> list[list[int]]:
    """The lines that may say the same, by their places: each with all that it is joined to over others.

    For as many lines as a person reads: it compares all of them.
    """
    home = list(range(len(lines)))
    for at, line in enumerate(lines):
        for before in range(at):
            if pair_relation.jaccard(line, lines[before]) >= least:
                old, new = sorted((home[at], home[before]), reverse=True)
                home = [new if each == old else each for each in home]
    found = [[at for at, each in enumerate(home) if each == first] for first in sorted(set(home))]
    return [group for group in found if len(group) > 1]


def groups(case: Case) -> Outcome:
    lines = case.input
    if lines and all(len(word) <= 2 for line in lines for word in line.split()):
        return NotApplicable("lines that have no word of three letters have nothing in common")
    return Compared(_similar_lines(lines, DEFAULT.consolidation.same_line_above), case.expected)


def compact(case: Case) -> Outcome:
    """MEMORY.md before and after a night: the lines of what is no longer remembered are gone."""
    lines = case.input.split("\n")
    with open_memory() as connection:
        numbers: dict[int, int] = {}
        for at, line in enumerate(lines):
            if line.startswith("- "):
                candidate = Candidate("note", "owner", line[2:], source="edit", tier="core")
                numbers[at] = number_of(admit(connection, candidate, NOW))
        for change in pair_review.DUPLICATES.plan(_judged(NightView(connection, START, UTC))):
            apply_change(connection, change, PassContext(1, "duplicates", START, UTC))
        texts = {at: get(connection, number) for at, number in numbers.items()}
    left = [
        f"- {texts[at].text}" if at in texts else line
        for at, line in enumerate(lines)
        if at not in texts or texts[at].status == "active"
    ]
    return Compared({"removed": len(lines) - len(left), "content": "\n".join(left)}, case.expected)


def _judged(view: NightView) -> NightView:
    """Answer what a night asks about duplicates as a model that takes all it is asked about for one (ADR 44)."""
    asked = pair_review.DUPLICATES.questions(replace(view, model_available=True))
    answers = {question.key: relation_json(*["repeat"] * 20) for question in asked}
    return replace(view, answers=answers, model_available=True)


def fuzzy(case: Case) -> Outcome:
    existing = case.input["existing"]  # one line, or all of a page
    lines = [existing] if isinstance(existing, str) else existing
    return Compared(any(profile.is_repetition(line, case.input["incoming"]) for line in lines), case.expected)


# ── duplicates ───────────────────────────────────────────────────────────────────────────────────────────────────


def reflected(case: Case) -> Outcome:
    """Which beliefs are one, and which have faded."""
    with open_memory() as connection:
        held = Asleep(connection, case.input["store"]["beliefs"])
        view = held.view(least=case.input.get("args", {}).get("similarity_threshold"))
        review = pair_review.duplicate_review(_judged(view))
        same = [pair for pair in review.pairs if review.relation(pair) == "repeat"]
        found = {
            "clusters": [held.names([record.id for record in group]) for group in review.groups(same)],
            "stale": [name for name, n in held.ids.items() if strength(get(connection, n), START) < 0.10],
            "total": len(held.live()),
        }
    return Compared({name: found[name] for name in case.expected}, case.expected)


def window(case: Case) -> Outcome:
    """pai-bug/reflect-window: the twin of the newest is found wherever it is."""
    with open_memory() as connection:
        beliefs = [{"id": str(n), "statement": f"The user knows subject{n} and matter{n}"} for n in range(206)]
        held = Asleep(connection, [*beliefs, {"id": "twin", "statement": beliefs[1]["statement"] + "."}])
        changes, _ = held.sleep(pair_review.DUPLICATES)
        live = held.live()
    return Checked(len(live), {"it is found": len(changes) == 1, "and joined": len(live) == 206})


def too_small(case: Case) -> Outcome:
    with open_memory() as connection:
        held = Asleep(connection, [{"id": "only"}])
        change = merging.merge_records(held.view(), [get(connection, held.ids["only"])])
    return Compared({"merged": int(change is not None), "kept": [] if change is None else ["only"]}, case.expected)


def inactive(case: Case) -> Outcome:
    """pai-bug/merge-inactive-winner."""
    with open_memory() as connection:
        held = Asleep(connection, [{**b, "statement": "The user likes tea"} for b in case.input["store"]["beliefs"]])
        forget(connection, held.ids["dead"], SCOPE, NOW)
        connection.execute("UPDATE record SET status = 'active' WHERE id = ?", (held.ids["alive"],))
        change = merging.merge_records(held.view(), [get(connection, number) for number in held.ids.values()])
        held.sleep(pair_review.DUPLICATES)
        live = held.live()
    return Checked(live, {"nothing is joined": change is None, "the living one lives": live == ["alive"]})


def keeps_the_best(case: Case) -> Outcome:
    """pai-bug/merge-drops-importance-and-links."""
    with open_memory() as connection:
        held = Asleep(connection, [{**b, "access_count": 3} for b in case.input["store"]["beliefs"]])
        loser, neighbour = held.ids["l"], held.ids["nb"]
        strengthen_link(connection, loser, neighbour, "related", START)
        change = merging.merge_records(held.view(), [get(connection, held.ids[name]) for name in ("w", "l")])
        assert change is not None
        apply_change(connection, change, PassContext(1, "duplicates", START, UTC))
        kept, gone = get(connection, held.ids["w"]), get(connection, loser)
        links = set(connection.execute("SELECT src, dst, type FROM link").fetchall())
    return Checked(
        {"importance": kept.importance, "uses": kept.use_count},
        {
            "the highest importance": kept.importance == 1.0,
            "all uses": kept.use_count == 6,
            "the link to its neighbour": (max(kept.id, neighbour), min(kept.id, neighbour), "related") in links,
            "the other is history": gone.status == "superseded" and (kept.id, loser, "supersedes") in links,
        },
    )


# ── contradictions ───────────────────────────────────────────────────────────────────────────────────────────────


def found_contradictions(case: Case) -> Outcome:
    """What a model says of two beliefs; what is too near or too far is not asked about."""
    given = case.input
    with open_memory() as connection:
        held = Asleep(connection, given["store"]["beliefs"])
        changes, asked = held.sleep(pair_review.CONTRADICTIONS, given.get("llm", {}).get("chat"))
        settled = [change for change in changes if change.kind != "compared"]
        statements = {
            "a pair is found" if case.expected["pairs"] else "none is": bool(settled) == bool(case.expected["pairs"])
        }
        if "llm_calls" in case.expected:
            statements["nobody is asked"] = asked == case.expected["llm_calls"]
        if settled:
            links = connection.execute("SELECT src, dst FROM link WHERE type = 'contradicts'").fetchall()
            statements["it is this one"] = [held.names(pair) for pair in links] == case.expected["pairs"]
        return Checked([change.kind for change in changes], statements)


def parsed(case: Case) -> Outcome:
    found = pair_relation.parse_relations(case.input["llm"]["chat"], 1)
    if "**" in case.input["llm"]["chat"]:
        return Checked(found, {"bold marks are accepted": found == {1: "contradiction"}})
    return Compared({"n": len(found)}, case.expected)


# ── profile and conclusions ──────────────────────────────────────────────────────────────────────────────────────


def profiled(case: Case) -> Outcome:
    with open_memory() as connection:
        held = Asleep(connection, case.input["store"].get("beliefs", []))
        changes, asked = held.sleep(profile.PASS)
        found = {"themes": len(changes), "chat_calls": asked, "consolidated": 0, "created": len(changes)}
        return Compared({name: found[name] for name in case.expected}, case.expected)


def themed(case: Case) -> Outcome:
    """profile/theme-merge, pai-bug/profile-consolidation-loss: fragments become one line of the profile, and stay."""
    line = case.input["llm"]["chat"]
    with open_memory() as connection:
        held = Asleep(connection, case.input["store"]["beliefs"])
        answer = json.dumps({"lines": [{"text": line, "from": [1, 2, 3]}]})
        changes, asked = held.sleep(profile.PASS, answer)
        page = records.slot_record(connection, "owner", "profile", "person")
        links = connection.execute("SELECT src, dst FROM link WHERE type = 'derived'").fetchall()
        kinds = [row[0] for row in connection.execute("SELECT type FROM event WHERE actor = 'sleep'")]
        return Checked(
            page.text if page else "",
            {
                "one line for the three": page is not None and page.text == f"- {line}",
                "one question": asked == 1 and len(changes) == 1,
                "no fragment is lost": held.live() == ["p0", "p1", "p2"],
                "it is linked to each": {dst for _, dst in links} == set(held.ids.values()),
                "and logged": "profiled" in kinds,
            },
        )


def concluded(case: Case) -> Outcome:
    """pai-bug/synthesize-repeats: three nights over the same beliefs."""
    said = case.input["llm"]["chat"]
    beliefs = [
        {"id": kind, "statement": f"The user prefers concise {kind} reports"} for kind in ("weekly", "daily", "team")
    ]
    with open_memory() as connection:
        held = Asleep(connection, beliefs)
        asked = [held.sleep(synthesize.PASS, json.dumps({"principle": said}))[1] for _ in range(3)]
        metas = connection.execute("SELECT text, confidence, stability FROM record WHERE category = 'meta'").fetchall()
        themes = synthesize.new_themes(held.view())
    return Checked(
        metas,
        {
            "one conclusion": metas == [(said, 0.8, 3.0)],
            "asked about once": asked == [1, 0, 0],
            "and it joins no theme": themes == [],
        },
    )


ADAPTERS: dict[str, Adapter] = {
    "dedupe.compact_memory_md": compact,
    "dedupe.groups": groups,
    "dedupe.jaccard": jaccard,
    "find-contradictions/": found_contradictions,
    "find-contradictions/parse": parsed,
    "merge/too-small": too_small,
    "pai-bug/merge-drops-importance-and-links": keeps_the_best,
    "pai-bug/merge-inactive-winner": inactive,
    "pai-bug/profile-consolidation-loss": themed,
    "pai-bug/reflect-window": window,
    "pai-bug/synthesize-repeats": concluded,
    "profile/": profiled,
    "profile/theme-merge": themed,
    "profile_fuzzy_duplicate": fuzzy,
    "reflect/": reflected,
}
