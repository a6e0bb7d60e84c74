"""When turns are read for memories, and what is made of a model's answer."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.policy.remember import ExtractPolicy
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.extract import buffer
from kenobot.cognitive.store import records as store
from kenobot.core.pattern_set import PatternSet
from kenobot.language.facts.parse_facts import ExtractedFact, parse_facts
from kenobot.language.signals import signal_level
from kenobot.ports.errors import Unavailable
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.records import Record
from kenobot.ports.turns import ConversationTurn
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot_testing.clock import START
from kenobot_testing.provider import ScriptedProvider
from tests.conformance.cases import NO_BETTER, Case, Checked, Compared, NotApplicable, Outcome, compare
from tests.memory_rows import open_memory
from tests.scene import Scene
from tests.scratch import scratch

T = TypeVar("T")

_CATEGORIES = {"fact": "factual", "skill": "procedural", "decision": "architectural"}
_POLICY = ExtractPolicy()


def signal_scan(case: Case) -> Outcome:
    patterns = PatternSet(case.input.get("custom_patterns", []))
    return compare(case, {"level": signal_level(case.input["text"], patterns)})


def buffer_trigger(case: Case) -> Outcome:
    """The decision after each turn. The oldest one waits since the last extraction, if there was one."""
    config = case.input["config"]
    policy = ExtractPolicy(
        immediate=config["trigger_mode"] == "smart",
        every_turns=config["max_turns"],
        every_minutes=config["max_minutes"],
    )
    since = timedelta(minutes=case.input["minutes_since_last_extraction"] or 0)
    turns: list[ConversationTurn] = []
    decisions = []
    for number, turn in enumerate(case.input["turns"], 1):
        turns.append(ConversationTurn(number, number, turn["text"], "", START - since, "owner", "owner"))
        decisions.append(buffer.decide_extraction(turns, START, policy, PatternSet(())))
    return compare(case, {"decisions": decisions})


def buffer_flush(case: Case) -> Outcome:
    """A short turn of high signal is due at once; an empty answer has read nothing, so the turn goes on waiting."""
    turns = [ConversationTurn(n, n, text, "", START, "owner", "owner") for n, text in enumerate(case.input["turns"], 1)]
    due = buffer.decide_extraction(turns, START, _POLICY, PatternSet(()))
    answer = {"empty": ""}[case.input["llm_result"]]
    left = len(turns) if parse_facts(answer) is None else 0
    wanted = case.better if case.better is not NO_BETTER else {}
    return Compared({"decision": due, "turns_left_in_buffer": left}, {"decision": case.expected["decision"], **wanted})


def plateau(case: Case) -> Outcome:
    """So many turns, of which no more messages are kept than the case says: when each is decided to be read."""
    given, session = case.input, "telegram-1"
    every, most = given["consolidate_every"], given["max_messages"]
    policy = replace(_POLICY, every_turns=every, every_minutes=10**9)

    def at(number: int) -> bool:
        """Say one turn more; whether what waits is read then."""
        turn = conversation.FinishedTurn(session, number, START, f"turn {number}", "All right.", "owner")
        conversation.append_turn(memory, turn)
        memory.execute("DELETE FROM message WHERE id <= (SELECT max(id) FROM message) - ?", (most,))
        turns = buffer.pending_turns(memory, session, most)
        if buffer.decide_extraction(turns, START, policy, PatternSet(())) == "keep_buffering":
            return False
        return buffer.advance_cursor(memory, session, buffer.cursor(memory, session), turns[-1].last_message)

    with open_memory() as memory:
        read = [number for number in range(1, given["turns"] + 1) if at(number)]
    return Checked(read, {f"every {every}th turn, and no other": read == list(range(every, given["turns"] + 1, every))})


def parsed(case: Case) -> Outcome:
    """A model's answer. Of what the original gives for each fact, only what the case names is compared."""
    if case.input["op"] == "enrich_statement":
        return NotApplicable(
            "what a fact is related to and when it is due stand in fields of their own, not in its text"
        )
    if case.input["op"] == "remember":
        return _insight(case)
    facts = [_as_theirs(fact) for fact in parse_facts(case.input["text"]) or ()]
    if "kenobot" in case.expected:
        return _better(case, facts)
    wanted = case.expected["facts"]
    shown = [{key: fact.get(key) for key in keys} for fact, keys in zip(facts, wanted, strict=False)]
    return Compared(shown + facts[len(wanted) :], wanted)


def _insight(case: Case) -> Outcome:
    facts = parse_facts(case.input["llm"]["extract"]) or ()
    return Compared(
        {"beliefs_created": len(facts), "types": [fact.category for fact in facts]},
        {key: case.expected[key] for key in ("beliefs_created", "types")},
    )


def _better(case: Case, facts: list[dict[str, Any]]) -> Outcome:
    if case.area.endswith("brackets-in-object"):
        return Checked(facts, {case.expected["kenobot"]: [fact["fact"] for fact in facts] == ["Likes [modal] jazz"]})
    return Checked(facts, {case.expected["kenobot"]: not facts})


def _as_theirs(fact: ExtractedFact) -> dict[str, Any]:
    """A fact in the original's words: importance from 1 to 10, its own names of categories, an owner."""
    importance = DEFAULT.importance if fact.importance is None else fact.importance
    return {
        "fact": fact.text,
        "factType": _CATEGORIES.get(fact.category, fact.category),
        "importance": round(importance * 10),
        "insight": None,
        "subject": fact.subject or "owner",
        "relatedTo": fact.tags[0] if fact.tags else None,
    }


def learning(case: Case) -> Outcome:
    """The learning worker of the original, which read conversations every two hours."""
    match case.input["op"]:
        case "parse_learning":
            return Compared(
                [_as_theirs(fact) for fact in parse_facts(case.input["text"]) or ()], case.expected["facts"]
            )
        case "filter_learning":
            answer = "\n".join(f'{{"text": "{fact}"}}' for fact in case.input["facts"])
            return Compared([fact.text for fact in parse_facts(answer) or ()], case.expected["kept"])
        case "gather":
            first, second = _in_a_home(lambda database: _gather(database, case.input["messages"], case.input["batch"]))
            wanted = {key: case.expected[key] for key in ("first_batch", "second_batch")}
            return Compared({"first_batch": first, "second_batch": second}, wanted)
        case "learning_run" if case.input["llm"]:
            moved = asyncio.run(_failing_run())
            return Compared({"watermark_advanced": moved}, {"watermark_advanced": case.expected["watermark_advanced"]})
        case _:
            return NotApplicable("how important a fact is decides what is shown and promoted, never whether it is kept")


async def _gather(database: Database, messages: int, batch: int) -> list[int]:
    """How many turns the first batch has, and how many the second, when all were said at the same moment."""
    session = "telegram-1"

    def say(connection: Connection) -> None:
        for number in range(1, messages + 1):
            turn = conversation.FinishedTurn(session, number, START, f"note {number}", "", "owner")
            conversation.append_turn(connection, turn)

    def take(connection: Connection) -> int:
        turns = buffer.pending_turns(connection, session, batch)
        buffer.advance_cursor(connection, session, buffer.cursor(connection, session), turns[-1].last_message)
        return len(turns)

    await database.write(say)
    return [await database.write(take), await database.write(take)]


async def _failing_run() -> bool:
    """Whether the cursor moved although the model could not be asked."""
    provider = ScriptedProvider(["All right.", Unavailable("down")], repeat_last=True, rule_based=False)
    with scratch() as folder:
        async with Scene(Path(folder), provider=provider, extraction=True) as scene:
            await scene.say("I prefer tabs")
            asked = len(provider.requests)
            assert asked == 2, "the model was not asked to read the turn"
            return bool(await scene.rows("SELECT 1 FROM key_value WHERE key LIKE 'extracted:%'"))


def structured(case: Case) -> Outcome:
    """A statement that is ready made goes to memory as it is: there is no model to ask."""
    given = case.input["args"]
    statement = given["statement"]
    candidate = Candidate(
        "note",
        OWNER_SCOPE,
        statement,
        given.get("factType", "fact"),
        "command",
        importance=given.get("importance", 5) / 10,
    )
    decision, records = _in_a_home(lambda database: _remember(database, candidate))
    if not statement.strip():
        return Checked(decision, {"a blank statement is refused": not records and decision.record is None})
    wanted = case.expected["belief"]
    shown = [
        {
            "statement": record.text,
            "type": record.category,
            "importance": round(record.importance * 10),
            "subject": record.subject,
        }
        for record in records
    ]
    return Compared(shown, [wanted])


async def _remember(database: Database, candidate: Candidate) -> tuple[Decision, list[Record]]:
    occasion = AdmitContext(START, START.date().isoformat(), "owner")
    decision = await database.write(lambda connection: admit(connection, candidate, occasion))
    ids = [decision.record] if decision.record is not None else []
    found = await database.read(lambda connection: store.by_ids(connection, ids, (OWNER_SCOPE,)))
    return decision, list(found.values())


def _in_a_home(work: Callable[[Database], Coroutine[None, None, T]]) -> T:
    async def run() -> T:
        with scratch() as folder:
            database = Database.open(Path(folder) / "kenobot.db", Path(folder) / "backups")
            try:
                return await work(database)
            finally:
                await database.close()

    return asyncio.run(run())
