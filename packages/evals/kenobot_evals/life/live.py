"""Live a fortnight through the product, without a model or with a scripted one; score what memory kept and finds."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from kenobot.cognitive.memory import Memory, MemoryQuery, RecallTrace, SearchReport
from kenobot.gateway.access import Roster
from kenobot.language.words import fold
from kenobot.ports.identity import OWNER_SCOPE, chat_scope, session_id
from kenobot.ports.provider import Provider
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot_evals.life.careful import CarefulModel, is_extraction
from kenobot_evals.life.fortnights import Fact, Fortnight, LifeQuestion
from kenobot_testing.prompt_parts import memory_frame, runtime_blocks
from kenobot_testing.scenario import Speaker
from kenobot_testing.scripted import ScriptedProvider
from kenobot_testing.simulation import Simulation

SCHEDULE = timedelta(hours=6)
"""How often the bot's schedule is followed."""

PROMISED = "resolved"
"""The attribute of a commitment that is done."""

_FIRST = 3  # lines
_PATIENCE = 60.0  # seconds: what is measured is finding, not how busy the machine is
_FORMS = ("note", "episode")
_ENDED = ("superseded", "invalidated")

QuestionCallback = Callable[[LifeQuestion, SearchReport, RecallTrace], None]
"""Told a question, what memory found for it, and how."""


@dataclass(slots=True)
class LifeScore:
    """Counts of one fortnight, and what is wrong in it, a line each.

    standing, kept: facts that hold in the end, and those of them in memory. dated, days_right: those that name a day,
    and those of them due on it. stored, right: memories made, and those that state a fact of their message, or what it
    ends. changes, applied: facts that ended, and those that memory no longer holds. ended, rightly_ended: memories that
    words ended, and those of them that hold such a fact. answered: questions with an answer; in_first: among the first
    lines; shown: anywhere in the prompt. unanswerable, told_so: questions without one, and those of which memory says
    that nothing fits. Of a person who answers questions on changes (`kenobot_evals.life.asked`): applied_asked: changes
    applied then, by words or a yes; asked, rightly_asked: questions, and those to which a yes is true; messages: all.
    """

    name: str
    standing: int = 0
    kept: int = 0
    dated: int = 0
    days_right: int = 0
    stored: int = 0
    right: int = 0
    changes: int = 0
    applied: int = 0
    ended: int = 0
    rightly_ended: int = 0
    answered: int = 0
    in_first: int = 0
    shown: int = 0
    unanswerable: int = 0
    told_so: int = 0
    applied_asked: int = 0
    asked: int = 0
    rightly_asked: int = 0
    messages: int = 0
    faults: list[str] = field(default_factory=list)  # bounded: the data of one run; turn

    def add(self, other: "LifeScore") -> None:
        """Add the counts of another fortnight."""
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))


COUNTS = (
    *("standing", "kept", "dated", "days_right", "stored", "right", "changes", "applied"),
    *("ended", "rightly_ended", "answered", "in_first", "shown", "unanswerable", "told_so"),
    *("applied_asked", "asked", "rightly_asked", "messages"),
)


async def live(
    fortnight: Fortnight, embedder: str, *, careful: bool = False, on_question: QuestionCallback | None = None
) -> LifeScore:
    """Say all of a fortnight in one private chat, ask the questions in another, and score both.

    careful: facts are extracted by a careful model instead of rules.
    """
    rules = ScriptedProvider(lambda _: "ok", name="rehearsed", keep=1)
    model = CarefulModel(fortnight) if careful else rules
    speaker = Speaker(fortnight.name, "1", "1")
    summed = "" if not careful else "[compaction]\nenabled = false\n"  # its summaries are not what is measured
    with tempfile.TemporaryDirectory(prefix="kenobot-life-") as folder:
        async with house_of(fortnight, Path(folder), model, speaker, embedder, summed) as house:
            earlier: list[Record] = []
            for utterance in fortnight.utterances:
                await house.run_until(utterance.at, SCHEDULE)
                earlier += await house.app.database.read(everything) if utterance.ends else ()
                await house.say_as(speaker, utterance.text)
            await house.run_until(fortnight.utterances[-1].at + timedelta(days=1), SCHEDULE)
            score = score_memory(fortnight, await house.app.database.read(everything), earlier)
            other = Speaker(fortnight.name, "1", "2")
            for question in fortnight.questions:
                trace = None if on_question is None else RecallTrace()
                report = await _report(house, other, question, trace)
                if on_question is not None and trace is not None:
                    on_question(question, report, trace)
                await house.say_as(other, question.text)
                request = next(each for each in reversed(model.requests) if not is_extraction(each))
                prompt = "\n".join([memory_frame(request), *runtime_blocks(request.messages)])
                _score_question(score, question, report, prompt)
    return score


def house_of(
    fortnight: Fortnight, folder: Path, provider: Provider, speaker: Speaker, embedder: str, config: str = ""
) -> Simulation:
    """Return the house in which a fortnight is lived, from its first message on. config: further settings."""
    bot = f'[bot]\ntimezone = "{fortnight.zone.key}"\nlanguage = "{fortnight.language}"\n'
    return Simulation(
        folder,
        provider,
        Roster.of([speaker.user]),
        start=fortnight.utterances[0].at,
        channels=[speaker.channel],
        config=f"{bot}{config}",
        embedder=embedder,
    )


def score_memory(fortnight: Fortnight, stored: Sequence[Record], earlier: Sequence[Record] = ()) -> LifeScore:
    """Score all records of a home by the facts of its fortnight. The n-th utterance is the n-th row of the inbox.

    earlier: records as they stood before each message that ends something.
    """
    score = LifeScore(fortnight.name)
    live = [record for record in stored if record.status == "active"]
    for place, fact in fortnight.standing_facts:
        holding = [record for record in live if place + 1 in record.source_message_ids and fact.is_in(told_by(record))]
        holding = holding or [record for record in live if fact.is_in(told_by(record))]
        score.standing += 1
        score.kept += bool(holding)
        if not holding:
            score.faults.append(f"not kept: {fact.words} ({fortnight.utterances[place].text})")
        if fact.due:
            right = any(record.attribute_map.get("due") == fact.due for record in holding)
            score.dated += 1
            score.days_right += right
            if holding and not right:
                found = [record.attribute_map.get("due") for record in holding]
                score.faults.append(f"another day: {fact.words} {found}")
    for record in stored:
        score.stored += 1
        right = _is_right(fortnight, record)
        score.right += right
        if not right:
            score.faults.append(f"no fact: {record.text} [{record.category}, {record.status}]")
    for place, utterance in enumerate(fortnight.utterances):
        for fact in utterance.ends:
            score.changes += 1
            applied = _is_applied(fortnight, fact, place, stored, earlier)
            score.applied += applied
            if not applied:
                score.faults.append(f"not applied: {fact.words} ({utterance.text})")
    over = [fact for utterance in fortnight.utterances for fact in utterance.ends]
    for record in stored:
        if record.status in _ENDED or PROMISED in record.attribute_map:
            rightly = any(fact.is_in(told_by(record)) for fact in over) or _is_repeated(record, live)
            score.ended += 1
            score.rightly_ended += rightly
            if not rightly:
                score.faults.append(f"wrongly ended: {record.text} [{record.status}]")
    return score


def apply_changes(fortnight: Fortnight, stored: Sequence[Record], earlier: Sequence[Record]) -> int:
    """Return how many facts that ended memory no longer holds, while it holds what is said instead."""
    changes = ((place, fact) for place, utterance in enumerate(fortnight.utterances) for fact in utterance.ends)
    return sum(_is_applied(fortnight, fact, place, stored, earlier) for place, fact in changes)


def _is_applied(
    fortnight: Fortnight, fact: Fact, place: int, stored: Sequence[Record], earlier: Sequence[Record]
) -> bool:
    return _is_ended(fortnight, fact, place, stored, earlier) and _stands_instead(fortnight, place, stored)


def _is_repeated(record: Record, live: Sequence[Record]) -> bool:
    """Return whether a memory that is no longer live stands in another one, in more words or the same."""
    return any(fold(record.text) in fold(other.text) for other in live)


def _is_right(fortnight: Fortnight, record: Record) -> bool:
    """Return whether a record states a fact of its messages or of those right before them, or that one ended."""
    places = {number - 1 for number in record.source_message_ids}
    if any(each.ends and not each.facts for each in (fortnight.utterances[place] for place in places)):
        return True
    said = [fortnight.utterances[place] for place in places | {place - 1 for place in places} if place >= 0]
    return any(fact.is_in(told_by(record)) for utterance in said for fact in utterance.facts)


def _is_ended(
    fortnight: Fortnight, fact: Fact, place: int, stored: Sequence[Record], earlier: Sequence[Record]
) -> bool:
    """Return whether memory held a fact before the utterance at `place`, and no longer does."""
    said = {at + 1 for at, utterance in enumerate(fortnight.utterances[:place]) if fact in utterance.facts}
    holding = [each for each in (*stored, *earlier) if place + 1 not in each.source_message_ids]
    holding = [each for each in holding if fact.is_in(told_by(each))]
    left = [each for each in stored if _is_live(each) and each in holding]
    if fact.due:  # one without a day counts where it is of the message that told the fact
        undated = [each for each in left if not _due(each) and said & {*each.source_message_ids}]
        left = [*undated, *(each for each in left if _due(each) == fact.due)]
    return bool(holding) and not left


def _stands_instead(fortnight: Fortnight, place: int, stored: Sequence[Record]) -> bool:
    """Return whether memory has what an utterance says, but for what ended later."""
    later = [fact for utterance in fortnight.utterances[place + 1 :] for fact in utterance.ends]
    known = [told_by(record) for record in stored if record.status == "active"]
    new = [fact for fact in fortnight.utterances[place].facts if fact not in later]
    return all(any(map(fact.is_in, known)) for fact in new)


def _due(record: Record) -> str:
    return record.attribute_map.get("due", "")


def _is_live(record: Record) -> bool:
    return record.status == "active" and PROMISED not in record.attribute_map


def told_by(record: Record) -> str:
    """Return what a record tells: its text, and the values of its attributes."""
    return " ".join([record.text, *record.attribute_map.values()])


def everything(connection: Connection) -> list[Record]:
    """Read all notes and episodes of a home that messages tell, whatever became of them."""
    numbers = range(1, Memory.records.last_number(connection) + 1)
    found = Memory.records.get_all(connection, numbers, ALL_SCOPES).values()
    return [record for record in found if record.form in _FORMS and record.source_message_ids]


async def _report(
    house: Simulation, speaker: Speaker, question: LifeQuestion, trace: RecallTrace | None
) -> SearchReport:
    reach = (OWNER_SCOPE, chat_scope(session_id(speaker.channel, speaker.chat)))
    await house.app.embedding.embed_query(question.text, patience=_PATIENCE)
    query = MemoryQuery(question.text, reach, house.clock.now(), house.zone, force=True, trace=trace)
    return await house.app.database.read(lambda connection: house.app.memory.recall(connection, query))


def _score_question(score: LifeScore, question: LifeQuestion, report: SearchReport, prompt: str) -> None:
    if question.answer is None:
        score.unanswerable += 1
        score.told_so += report.level == "none"
        return
    lines = [item.line for item in report.shown]
    score.answered += 1
    score.in_first += any(question.answer.is_in(line) for line in lines[:_FIRST])
    score.shown += question.answer.is_in(prompt)
