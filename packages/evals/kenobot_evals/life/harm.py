"""Play short dialogues through the product, and count what they do to memories that stand.

A dialogue is things told, of which the last message makes one untrue, or none. Harm is a memory of any other message
that is no longer what that person said: ended, altered, or in words that nobody used.
"""

import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import NotRequired, TypedDict
from zoneinfo import ZoneInfo

from kenobot.core import lazy
from kenobot.gateway.access import Roster
from kenobot.language.changes.change_signs import read_signs
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.relatives import RELATIVES, list_relatives
from kenobot.language.sentences import split_sentences
from kenobot.language.words import fold, words
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot_evals.life.asked import AFTER, ANSWERS, ReportingProvider, find_asked_about, find_question
from kenobot_evals.life.live import PROMISED, SCHEDULE, everything, told_by
from kenobot_testing.scenario import Speaker
from kenobot_testing.simulation import Simulation

IN_A_HOME = 40
"""Dialogues that are told into one home."""

_ZONE = ZoneInfo("Europe/Madrid")
_FIRST = datetime(2026, 3, 5, 10, tzinfo=_ZONE)
_BETWEEN = timedelta(minutes=30)
_SPEAKER = Speaker("ana", "1", "1")
_CONFIG = "[memory]\nask_changes = 50\n"
_NOT_WORDS = lazy.regex(r"[\W_]+")


class _Row(TypedDict):
    says: list[str]
    language: NotRequired[str]
    ends: NotRequired[int]
    rest: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Things told. ends: the number, from 1, of the message that the last one makes untrue, 0 for none.

    rest: words of that message that stay true, "" for none.
    """

    language: str
    says: tuple[str, ...]
    ends: int = 0
    rest: str = ""


@dataclass(slots=True)
class HarmScore:
    """Counts of some dialogues, and what is wrong in them, a line each.

    told, kept: messages before the last, and those of which something is remembered before the last comes. harm:
    memories that are no longer what was said. changes, held: dialogues in which something ends, and those of them in
    which it was remembered. at_once, with_answers: of these, those in which it is over right away, and after a truthful
    answer. asked, rightly_asked: questions, and those to which a yes is true. messages: all.
    """

    name: str
    dialogues: int = 0
    told: int = 0
    kept: int = 0
    harm: int = 0
    changes: int = 0
    held: int = 0
    at_once: int = 0
    with_answers: int = 0
    asked: int = 0
    rightly_asked: int = 0
    messages: int = 0
    faults: list[str] = field(default_factory=list)  # bounded: the data of one run; turn


def load_harm(paths: Iterable[Path]) -> list[Dialogue]:
    """Load the dialogues of some files."""
    rows: list[_Row] = [row for path in paths for row in tomllib.loads(path.read_text("utf-8")).get("dialogue", [])]
    return [
        Dialogue(row.get("language", "en"), tuple(row["says"]), row.get("ends", 0), row.get("rest", "")) for row in rows
    ]


async def play(dialogue: Dialogue, score: HarmScore, embedder: str = "none") -> None:
    """Play one dialogue in a home of its own, with its night, and add what became of it to the score."""
    async with _Home(dialogue.language, embedder) as home:
        rows = [await home.tell(text, dialogue.language, score) for text in dialogue.says[:-1]]
        await home.end(dialogue, rows, score)
        await home.sleep_on_it(score)


async def play_in_a_home(dialogues: Sequence[Dialogue], score: HarmScore, embedder: str = "none") -> None:
    """Tell what comes before the last messages of all dialogues into one home, then each last message in turn."""
    async with _Home(dialogues[0].language, embedder) as home:
        rows = [[await home.tell(text, each.language, score) for text in each.says[:-1]] for each in dialogues]
        for dialogue, told in zip(dialogues, rows, strict=True):
            await home.end(dialogue, told, score)
        await home.sleep_on_it(score)


class _Home:
    """A running home, and what its memories were before each message."""

    def __init__(self, language: str, embedder: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="kenobot-harm-")
        config = f'[bot]\ntimezone = "{_ZONE.key}"\nlanguage = "{language}"\n{_CONFIG}'
        self._house = Simulation(
            Path(self._folder.name),
            ReportingProvider(lambda _: "ok", name="rehearsed", keep=1),
            Roster.of([_SPEAKER.user]),
            start=_FIRST,
            channels=[_SPEAKER.channel],
            config=config,
            embedder=embedder,
        )
        self._said: dict[int, str] = {}  # bounded: one a message; test_one_home_counts_the_memories_of_all_dialogues
        self._over: set[int] = set()  # bounded: same; test_one_home_counts_the_memories_of_all_dialogues
        self._before: list[Record] = []  # bounded: one home; test_one_home_counts_the_memories_of_all_dialogues

    async def __aenter__(self) -> "_Home":
        await self._house.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._house.__aexit__(*error)
        self._folder.cleanup()

    async def tell(self, text: str, language: str, score: HarmScore) -> int:
        """Say something that makes nothing untrue; return its row."""
        row = await self._say(text)
        score.told += 1
        score.messages += 1
        stored = await self._load_records()
        self._judge(self._before, stored, set(), text, score)
        await self._answer(text, 0, language, score)
        self._before = await self._load_records()
        score.kept += any(row in record.source_message_ids for record in self._before if _is_live(record))
        return row

    async def end(self, dialogue: Dialogue, rows: Sequence[int], score: HarmScore) -> None:
        """Say the last message of a dialogue, and judge what it did."""
        last, ended = dialogue.says[-1], rows[dialogue.ends - 1] if dialogue.ends else 0
        before = self._before
        newest = max((each.id for each in before), default=0)
        was = [each for each in before if ended in each.source_message_ids and _is_live(each)]
        await self._say(last)
        score.dialogues += 1
        score.messages += 1
        score.changes += bool(ended)
        score.held += bool(was)
        stored = await self._load_records()
        at_once = bool(was) and _is_over(was, stored, dialogue.rest)
        self._judge(before, stored, {ended}, last, score)
        await self._answer(last, ended, dialogue.language, score, dialogue.rest)
        after = await self._load_records()
        answered = bool(was) and _is_over(was, after, dialogue.rest)
        score.at_once += at_once
        score.with_answers += answered
        if was and not answered:
            score.faults.append(f"not applied: {was[0].text} ({last})")
        if answered and not _has(after, self._row, last):
            score.faults.append(f"applied, and nothing is noted instead: {was[0].text} ({last})")
        if (
            was
            and dialogue.rest
            and not _stands(
                dialogue.rest, [each for each in after if ended in each.source_message_ids or each.id > newest]
            )
        ):
            score.harm += 1
            score.faults.append(f"HARM, the rest is gone: {dialogue.rest} ({last})")
        self._judge(stored, after, {ended}, f"{last} + answer", score)
        self._over.add(ended)
        self._before = after

    async def sleep_on_it(self, score: HarmScore) -> None:
        """Let a night pass, which ends nothing."""
        await self._house.run_until(self._house.clock.now() + timedelta(days=1), SCHEDULE)
        stored = await self._load_records()
        known = {each.id for each in self._before}  # what sleep concludes is in its own words
        self._judge(self._before, [each for each in stored if each.id in known], self._over, "the night", score)

    # ── what is said ─────────────────────────────────────────────────────────────────────────────────────────────

    async def _say(self, text: str) -> int:
        await self._house.run_until(self._house.clock.now() + _BETWEEN, SCHEDULE)
        await self._house.app.embedding.wait_idle()  # a model loads in true time, and the clock here does not wait
        await self._house.say_as(_SPEAKER, text)
        self._row = await self._house.app.database.read(_newest_row)
        self._said[self._row] = text
        return self._row

    async def _answer(self, text: str, ended: int, language: str, score: HarmScore, rest: str = "") -> None:
        """Answer a question truthfully: that a part of a memory is over, where `rest` of it still holds."""
        asked = await self._house.app.database.read(lambda c: find_asked_about(c, _SPEAKER, self._house))
        if asked is None:
            return
        is_over = bool(ended) and ended in asked.source_message_ids
        score.asked += 1
        score.rightly_asked += is_over
        if not is_over:
            score.faults.append(f"asked wrongly: {asked.text} ({text})")
        row = self._row
        await self._house.run_until(self._house.clock.now() + AFTER, SCHEDULE)
        await self._house.say_as(_SPEAKER, ANSWERS[language][0 if is_over and not rest else 2 if is_over else 1])
        again = await self._house.app.database.read(lambda c: find_question(c, _SPEAKER, self._house))
        if is_over and again is not None:  # whether all of it is over, or how it should read
            await self._house.run_until(self._house.clock.now() + AFTER, SCHEDULE)
            await self._house.say_as(_SPEAKER, rest or ANSWERS[language][0])
        self._row = row

    # ── what became of it ────────────────────────────────────────────────────────────────────────────────────────

    async def _load_records(self) -> list[Record]:
        return await self._house.app.database.read(everything)

    def _judge(
        self, before: Sequence[Record], after: Sequence[Record], ended: set[int], cause: str, score: HarmScore
    ) -> None:
        """Count the memories that were live and are not what they were, and new ones in words that nobody used."""
        now = {each.id: each for each in after}
        for record in filter(_is_live, before):
            if not ended.isdisjoint(record.source_message_ids):
                continue
            found = now.get(record.id)
            if found is None or (not _is_live(found) and not _is_repeated(record, after)):
                self._add(f"HARM, ended: {record.text} ({cause})", score)
            elif _is_live(found) and _is_altered(record, found, self._said):
                self._add(f"HARM, altered: {record.text} → {found.text} ({cause})", score)
        known = {each.id for each in before}
        for record in filter(_is_live, after):
            if record.id not in known and not _is_word_for_word(record, self._said):
                self._add(f"HARM, nobody said: {record.text} ({cause})", score)

    @staticmethod
    def _add(line: str, score: HarmScore) -> None:
        if line not in score.faults:
            score.harm += 1
            score.faults.append(line)


def _newest_row(connection: Connection) -> int:
    [(row,)] = connection.execute("SELECT max(id) FROM inbox")
    assert isinstance(row, int)
    return row


def _is_live(record: Record) -> bool:
    return record.status == "active" and PROMISED not in record.attribute_map


def _is_repeated(record: Record, after: Sequence[Record]) -> bool:
    return any(_is_live(each) and _fold(record.text) in _fold(each.text) for each in after if each.id != record.id)


def _is_altered(record: Record, found: Record, said: dict[int, str]) -> bool:
    if found.text != record.text and not _is_word_for_word(found, said):
        return True
    due = record.attribute_map.get("due", "")
    return bool(due) and found.attribute_map.get("due", "") != due


def _is_word_for_word(record: Record, said: dict[int, str]) -> bool:
    """Return whether each sentence of a memory stands in something that was said."""
    texts = [_fold(text) for text in said.values()]
    parts = [_fold(part) for part in split_sentences(record.text)]
    return any(_fold(record.text) in text for text in texts) or all(
        any(part in text for text in texts) for part in parts
    )


def _is_over(was: Sequence[Record], after: Sequence[Record], rest: str) -> bool:
    """Return whether memories of what ended hold it no longer: each is gone, or says no more of it."""
    now = {each.id: each for each in after}
    return all(
        _is_rid_of(each.text, now[each.id].text, rest) for each in was if each.id in now and _is_live(now[each.id])
    )


def _is_rid_of(was: str, left: str, rest: str) -> bool:
    """Return whether what is left of a memory no longer holds what ended.

    It says only what still holds, or has none of the hours, days and figures that do not; or says only whose relative
    somebody is: "my daughter Renata".
    """
    if rest:
        over = _read_values(was) - _read_values(rest)
        return _fold(left) in _fold(rest) or (bool(over) and not over & _read_values(left))
    names = {name for _, name in list_relatives(left)}
    says = {word for word in words(fold(left)) if word not in STOPWORDS and word not in RELATIVES}
    return left != was and bool(names) and says <= names


def _read_values(text: str) -> set[tuple[str, str]]:
    return {(kind, value) for kind, found in read_signs(text).values.items() for value in found}


def _stands(rest: str, records: Sequence[Record]) -> bool:
    told = _fold(" ".join(told_by(each) for each in records if _is_live(each)))
    return all(word in told.split() for word in _fold(rest).split())


def _has(records: Sequence[Record], row: int, text: str) -> bool:
    return any(_is_live(each) and row in each.source_message_ids for each in records)


def _fold(text: str) -> str:
    return _NOT_WORDS.sub(" ", fold(text)).strip()
