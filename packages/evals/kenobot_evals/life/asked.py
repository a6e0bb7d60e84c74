"""Live a fortnight with somebody who answers, truthfully, whether a message takes the place of a memory."""

import json
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from kenobot.agent.commands.changed import KIND
from kenobot.cognitive.memory import Memory
from kenobot.ports.identity import session_id
from kenobot.ports.records import Record
from kenobot.storage import approvals
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot_evals.life.fortnights import Fortnight, Utterance
from kenobot_evals.life.live import SCHEDULE, LifeScore, apply_changes, everything, house_of, told_by
from kenobot_testing.scenario import Speaker
from kenobot_testing.scripted import ScriptedProvider
from kenobot_testing.simulation import Simulation

AFTER = timedelta(seconds=20)
"""How long somebody takes to answer."""

ANSWERS = {"es": ("sí", "no", "solo una parte"), "en": ("yes", "no", "only a part")}
"""The answers, by language: a yes, a no, and that a part of a memory is over."""


async def play_and_answer(fortnight: Fortnight, embedder: str, score: LifeScore) -> None:
    """Say all of a fortnight, answer each question, and add what became of it to the score of the fortnight.

    A yes is true where the memory asked about holds a fact that the message ends.
    """
    provider = ReportingProvider(lambda _: "ok", name="rehearsed", keep=1)
    speaker = Speaker(fortnight.name, "1", "1")
    with tempfile.TemporaryDirectory(prefix="kenobot-life-") as folder:
        async with house_of(fortnight, Path(folder), provider, speaker, embedder) as house:
            earlier: list[Record] = []
            said: list[int] = []  # the inbox row of each message, from 1, without those of answers
            rows = 0
            for utterance in fortnight.utterances:
                await house.run_until(max(utterance.at, house.clock.now()), SCHEDULE)
                earlier += await house.app.database.read(everything) if utterance.ends else ()
                await house.say_as(speaker, utterance.text)
                said.append(rows := rows + 1)
                asked_about = await house.app.database.read(lambda c: find_asked_about(c, speaker, house))
                if asked_about is None:
                    continue
                is_over = _is_over(asked_about, utterance)
                score.asked += 1
                score.rightly_asked += is_over
                if not is_over:
                    score.faults.append(f"asked wrongly: {asked_about.text} ({utterance.text})")
                await house.run_until(house.clock.now() + AFTER, SCHEDULE)
                await house.say_as(speaker, ANSWERS[fortnight.language][not is_over])
                rows += 1
                if await house.app.database.read(lambda c: find_asked_about(c, speaker, house)) is not None:
                    await house.say_as(speaker, ANSWERS[fortnight.language][False])
                    rows += 1
            await house.run_until(fortnight.utterances[-1].at + timedelta(days=1), SCHEDULE)
            stored = await house.app.database.read(everything)
    places = {row: place + 1 for place, row in enumerate(said)}
    score.messages += len(said)
    score.applied_asked += apply_changes(fortnight, _renumber(stored, places), _renumber(earlier, places))


class ReportingProvider(ScriptedProvider):
    """Answers from a report of memory, as the offline voice does, so that facts are there before the reply."""

    reports_memory = True


def find_question(connection: Connection, speaker: Speaker, house: Simulation) -> Approval | None:
    """Return the question that is open in a chat."""
    return approvals.find_approval(connection, session_id(speaker.channel, speaker.chat), house.clock.now())


def find_asked_about(connection: Connection, speaker: Speaker, house: Simulation) -> Record | None:
    """Return the memory that an open question is about."""
    found = find_question(connection, speaker, house)
    if found is None or found.kind != KIND:
        return None
    number = found.payload["old"]
    assert isinstance(number, int)
    return Memory.records.get_all(connection, [number], ALL_SCOPES)[number]


def _is_over(record: Record, utterance: Utterance) -> bool:
    due = record.attribute_map.get("due", "")
    return any(fact.is_in(told_by(record)) and (not due or fact.due in ("", due)) for fact in utterance.ends)


def _renumber(stored: Sequence[Record], places: dict[int, int]) -> list[Record]:
    """Return records with their messages numbered as the utterances of a fortnight are."""
    return [
        record._replace(source_messages=json.dumps([places[n] for n in record.source_message_ids if n in places]))
        for record in stored
    ]
