"""Datasets of recall: conversations and notes with questions, and for each what of them answers it.

Four forms are read: LoCoMo's JSON, LongMemEval's JSON, JSON of chats of a person with an assistant, and lines of JSON
as our own sets have them.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Literal

from kenobot.agent.experts import further_queries
from kenobot.core import lazy
from kenobot.ports.errors import ConfigError

BUILT_IN: tuple[str, ...] = ("own", "talks")
"""The sets that ship: notes of two people, and conversations."""

_LOCOMO_KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_LOCOMO_UNANSWERABLE = 5
_LOCOMO_TIMES = ("%I:%M %p on %d %B, %Y",)
_LONGMEMEVAL_TIMES = ("%Y/%m/%d (%a) %H:%M", "%Y/%m/%d")
_TURN = lazy.regex(r"D\d+:\d+")
_FEW = 14  # notes of a small memory, and questions of each kind that it does not answer
_REST = timedelta(minutes=30)  # without a message, after which another conversation begins
_LATER = timedelta(hours=1)  # a question comes so long after the last of what it is asked of, where nothing says when

_ROLES: Mapping[str, Literal["user", "assistant"]] = {"user": "user", "assistant": "assistant"}

JsonRow = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Passage:
    """A turn or a note. key: its name in the data. who: the speaker in a group, "" in private. replaces: an older note.

    at: when it was said, in UTC.
    """

    key: str
    text: str
    at: datetime
    kind: Literal["turn", "note"] = "turn"
    who: str = ""
    role: Literal["user", "assistant"] = "user"
    replaces: str = ""
    lang: str = ""

    @property
    def attributed_text(self) -> str:
        """The text as the conversation of a group keeps it; see `kenobot.ports.messages.Inbound.words`."""
        return "\n  ".join(f"{self.who}: {self.text}".splitlines()) if self.who else self.text


@dataclass(frozen=True, slots=True)
class Question:
    """gold: the units that answer it, none when nothing does. at: when it is asked, in UTC.

    by_words: the units that hold the words of the facts that it needs, where the data says so.
    """

    id: str
    text: str
    category: str
    gold: tuple[str, ...]
    at: datetime
    lang: str = ""
    by_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """Passages that one home holds, oldest first, and the questions about them."""

    name: str
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]

    def number_sessions(self) -> dict[str, int]:
        """Number the session of each turn, by key: another begins after a pause. Notes have none."""
        found: dict[str, int] = {}
        number, last = 0, None
        for each in self.passages:
            if each.kind == "turn":
                number += last is not None and each.at - last >= _REST
                found[each.key], last = number, each.at
        return found


def load(name: str) -> list[Conversation]:
    """Return the conversations of a set that ships, or of a file. Raises ConfigError when it cannot be read."""
    if name in BUILT_IN:
        return _lines(resources.files("kenobot_evals.recall").joinpath("data", f"{name}.jsonl").read_text("utf-8"))
    try:
        text = Path(name).read_bytes().decode("utf-8")
        return _lines(text) if name.endswith(".jsonl") else _document(json.loads(text))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("files.unreadable", path=name, reason=error) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{name} is neither JSON of LoCoMo, LongMemEval or chats with an assistant, nor lines of our own: {error}"
        ) from error


def load_queries(name: str) -> dict[str, tuple[str, ...]]:
    """Load further queries by the id of their question: "careful" for those that ship, as a careful model gives them.

    Raises ConfigError when they cannot be read.
    """
    try:
        shipped = resources.files("kenobot_evals.recall").joinpath("data", "queries.jsonl")
        text = shipped.read_text("utf-8") if name == "careful" else Path(name).read_text("utf-8")
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        return {str(row["id"]): tuple(further_queries.clean_queries(row["queries"], "")) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{name} holds no lines of JSON with an id and queries each: {error}.") from error


def select_part(conversations: Sequence[Conversation], split: str, limit: int = 0) -> list[Conversation]:
    """Select only the conversation of this name, or only the questions of this category or language.

    limit: so many questions, from everywhere in it. Raises ConfigError when there is nothing of that name.
    """
    found = list(conversations)
    if split:
        found = [each for each in conversations if each.name == split]
        found = found or _with_questions(conversations, lambda question: split in (question.category, question.lang))
    if not found:
        names = {each.name for each in conversations} | {q.category for each in conversations for q in each.questions}
        raise ConfigError(f"There is no part {split!r} in it; there are: {', '.join(sorted(names))}.")
    return list(_first(found, limit)) if limit else found


def sample(conversations: Sequence[Conversation], size: int) -> list[Conversation]:
    """Select so many of the questions that have an answer, and of those that have none, all where there are fewer.

    By a hash of their ids: the same ones every time, and the smaller of two samples is within the larger.
    """
    every = sorted((q for each in conversations for q in each.questions), key=lambda q: _digest(q.id))
    answered, others = [q for q in every if q.gold], [q for q in every if not q.gold]
    chosen = {q.id for q in (*answered[:size], *others[:size])}
    return _with_questions(conversations, lambda question: question.id in chosen)


def few_notes(conversation: Conversation) -> list[Conversation]:
    """Split the notes of one owner into small memories, each asked what it answers, and as much that it does not.

    What it does not answer: questions of general knowledge, and questions about notes of the others ("absent"). By a
    hash of the ids, the same every time; a note stays with those that replace it.
    """
    later = {each.replaces: each for each in conversation.passages if each.replaces}
    chains: list[list[Passage]] = []
    for first in (each for each in conversation.passages if not each.replaces):
        chain = [first]
        while (following := later.get(chain[-1].key)) is not None:
            chain.append(following)
        chains.append(chain)
    chains.sort(key=lambda chain: _digest(chain[0].key))
    return [
        _select_few(f"{conversation.name}, {at // _FEW + 1}", chains[at : at + _FEW], conversation.questions)
        for at in range(0, len(chains), _FEW)
    ]


def _select_few(name: str, chains: Sequence[Sequence[Passage]], questions: Sequence[Question]) -> Conversation:
    passages = sorted((passage for chain in chains for passage in chain), key=lambda passage: passage.at)
    known = {passage.key for passage in passages}
    answered = [each for each in questions if not known.isdisjoint(each.gold)]
    others = [
        replace(each, gold=(), category="absent") for each in questions if each.gold and known.isdisjoint(each.gold)
    ]
    general = [each for each in questions if each.category == "unrelated"]
    left = [sorted(some, key=lambda each: _digest(name + each.id))[:_FEW] for some in (others, general)]
    return Conversation(name, tuple(passages), (*answered, *left[0], *left[1]))


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()


def select_question(conversations: Sequence[Conversation], question: str) -> list[Conversation]:
    """Return the conversation of a question, with that alone. Raises ConfigError when there is none of this id."""
    if found := _with_questions(conversations, lambda each: each.id == question):
        return found[:1]
    raise ConfigError(f"There is no question {question!r} in it; --misses names those that were not answered.")


def _with_questions(conversations: Sequence[Conversation], fits: Callable[[Question], bool]) -> list[Conversation]:
    """Return the conversations with the questions that fit alone; without those that have none."""
    kept = [replace(each, questions=tuple(filter(fits, each.questions))) for each in conversations]
    return [each for each in kept if each.questions]


def _first(conversations: Sequence[Conversation], limit: int) -> Iterator[Conversation]:
    """Select so many questions, evenly from each conversation: data often has one kind after the other."""
    share = -(-limit // len(conversations))
    for each in conversations:
        wanted = min(share, limit, len(each.questions))
        asked = tuple(each.questions[at * len(each.questions) // wanted] for at in range(wanted))
        limit -= len(asked)
        if asked:
            yield replace(each, questions=asked)


# ── LoCoMo, LongMemEval and chats with an assistant ──────────────────────────────────────────────────────────────


def _document(data: object) -> list[Conversation]:
    rows: list[dict[str, object]] = data if isinstance(data, list) else [data]  # type: ignore[list-item]
    return [
        _longmemeval(row) if "haystack_sessions" in row else _assistant_chat(row) if "turns" in row else _locomo(row)
        for row in rows
    ]


def _locomo(row: Mapping[str, object]) -> Conversation:
    name, talk, asked = str(row["sample_id"]), row["conversation"], row["qa"]
    assert isinstance(talk, dict), "no conversation"
    assert isinstance(asked, list), "no questions"
    units: list[Passage] = []
    for number in sorted(int(key[8:]) for key in talk if re.fullmatch(r"session_\d+", key)):
        begins = _moment(talk[f"session_{number}_date_time"], _LOCOMO_TIMES)
        for place, turn in enumerate(talk[f"session_{number}"] or ()):
            caption = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            at = begins + timedelta(seconds=place)
            units.append(Passage(turn["dia_id"], f"{turn['text']}{caption}", at, who=turn["speaker"]))
    known, at = {unit.key for unit in units}, units[-1].at + _LATER
    questions = []
    for place, question in enumerate(asked):
        gold = dict.fromkeys(key for said in question.get("evidence", ()) for key in _TURN.findall(said))
        kind = _LOCOMO_KINDS.get(question["category"])
        if question["category"] == _LOCOMO_UNANSWERABLE:  # its evidence is of the question that was twisted into it
            questions.append(Question(f"{name}:{place}", question["question"], "nothing", (), at, "en"))
        elif kind is not None and gold:
            missing = tuple(key for key in gold if key not in known)  # counted as never found, as others do
            text = question["question"]
            questions.append(Question(f"{name}:{place}", text, kind, (*(set(gold) - set(missing)), *missing), at, "en"))
    return Conversation(name, tuple(units), tuple(questions))


def _longmemeval(row: Mapping[str, object]) -> Conversation:
    name, sessions, dates, ids = (
        row[key] for key in ("question_id", "haystack_sessions", "haystack_dates", "haystack_session_ids")
    )
    assert isinstance(sessions, list) and isinstance(dates, list) and isinstance(ids, list), "no haystack"
    told = row.get("answer_session_ids")
    answering = set(told) if isinstance(told, list) else set()
    units: list[Passage] = []
    gold: list[str] = []
    whole: list[str] = []
    order = sorted(range(len(sessions)), key=lambda at: _moment(dates[at], _LONGMEMEVAL_TIMES))
    for at in order:
        begins = _moment(dates[at], _LONGMEMEVAL_TIMES)
        for place, turn in enumerate(sessions[at]):
            key = f"{ids[at]}:{place}"
            units.append(Passage(key, turn["content"], begins + timedelta(seconds=place), role=turn["role"]))
            gold += [key] if turn.get("has_answer") else []
            whole += [key] if ids[at] in answering else []
    unanswered = str(name).endswith("_abs")
    asked = Question(
        str(name),
        str(row["question"]),
        "nothing" if unanswered else str(row["question_type"]),
        () if unanswered else tuple(gold or whole),
        _moment(row.get("question_date", dates[order[-1]]), _LONGMEMEVAL_TIMES),
        "en",
    )
    return Conversation(str(name), tuple(units), (asked,))


def _assistant_chat(row: JsonRow) -> Conversation:
    """Read a private chat of a person with an assistant that answers at length, such as BEAM's; times are ISO 8601."""
    name, said, asked = str(row["id"]), row["turns"], row["questions"]
    assert isinstance(said, list) and isinstance(asked, list), "no turns or no questions"
    units = tuple(Passage(str(turn["id"]), turn["text"], _iso(turn["at"]), role=_ROLES[turn["role"]]) for turn in said)
    questions = tuple(
        Question(
            each["id"],
            each["question"],
            each["category"],
            _strings(each["evidence"]),
            _iso(each["asked_at"]),
            by_words=_strings(each.get("evidence_by_words", ())),
        )
        for each in asked
    )
    return Conversation(name, units, questions)


def _iso(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _moment(text: object, forms: Sequence[str]) -> datetime:
    for form in forms:
        try:
            return datetime.strptime(str(text), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise ValueError(f"{text!r} is no time")


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _lines(text: str) -> list[Conversation]:
    rows: list[dict[str, object]] = [json.loads(line) for line in text.splitlines() if line.strip()]
    if any("talk" in row for row in rows):
        return [_talk(name, rows) for name in dict.fromkeys(str(row["talk"]) for row in rows)]
    return [home for name in ("es", "en") if (home := _notes(name, rows)).passages]


def _talk(name: str, rows: Sequence[JsonRow]) -> Conversation:
    mine = [row for row in rows if row["talk"] == name]
    units: list[Passage] = []
    for row in mine:
        if "id" in row:
            at = datetime.fromisoformat(str(row["at"])).replace(tzinfo=UTC)
            if units and units[-1].at >= at:
                at = units[-1].at + timedelta(seconds=1)
            units.append(Passage(str(row["id"]), str(row["text"]), at, who=str(row["who"])))
    end = units[-1].at + _LATER
    asked = [row for row in mine if "ask" in row]
    return Conversation(
        name,
        tuple(units),
        tuple(
            Question(f"{name}:{at}", str(row["ask"]), str(row["kind"]), _strings(row["gold"]), end, str(row["lang"]))
            for at, row in enumerate(asked)
        ),
    )


def _notes(home: str, rows: Sequence[JsonRow]) -> Conversation:
    """Return the notes of one owner: those in Spanish are one person's, the rest another's."""
    mine = [row for row in rows if "id" in row and (row["lang"] == "es") == (home == "es")]
    units = [
        Passage(
            str(row["id"]),
            str(row["text"]),
            datetime.fromisoformat(str(row["at"])).replace(hour=12, tzinfo=UTC),
            "note",
            replaces=str(row.get("replaces", "")),
            lang=str(row["lang"]),
        )
        for row in mine
    ]
    units.sort(key=lambda unit: unit.at)
    end = units[-1].at + _LATER if units else datetime(2025, 1, 1, tzinfo=UTC)
    questions = [
        Question(f"{row['id']}:{at}", str(q["text"]), _kind(row, q), _gold(row, q), end, str(q["lang"]))
        for row in mine
        for at, q in enumerate(_list_asked(row))
    ]
    for kind, prefix in (("nothing", "none"), ("unrelated", "unrelated")):
        asked = [
            q for row in rows if row["kind"] == kind for q in _list_asked(row) if (q["lang"] == "es") == (home == "es")
        ]
        questions += [
            Question(f"{prefix}-{home}:{at}", str(q["text"]), kind, (), end, str(q["lang"]))
            for at, q in enumerate(asked)
        ]
    return Conversation(home, tuple(units), tuple(questions))


def _kind(row: JsonRow, asked: JsonRow) -> str:
    """Return what a question is like: across two languages, or by what it is asked of."""
    if row["kind"] == "script" or asked["lang"] == row["lang"]:
        return str(row["kind"])
    return "across"


def _gold(row: JsonRow, asked: JsonRow) -> tuple[str, ...]:
    """Return the note that a question was written for, first, and those that answer it also."""
    return str(row["id"]), *_strings(asked.get("also"))


def _list_asked(row: JsonRow) -> list[JsonRow]:
    found = row["ask"]
    return found if isinstance(found, list) else []


def _strings(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
