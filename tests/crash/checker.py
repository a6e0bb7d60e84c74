"""Compares the history of a world: what was said, what the bot acknowledged, answered and remembered."""

import contextlib
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.world import World, fact_of, tag_in


@dataclass(frozen=True)
class Ledger:
    """What the home says: of each message's tag, its inbox rows (state, attempts), turns, parts and so on."""

    inbox: Mapping[str, Sequence[str]]
    turns: Counter[str]
    parts: Mapping[str, Sequence[str]]
    histories: Mapping[str, Sequence[str]]
    records: Counter[str]
    lines: Counter[str]


@dataclass
class Verdict:
    """What became of a world's messages. Each list names the messages concerned, or says what is wrong.

    told: ended without an answer, and the person was told so. repeated_parts: answers that reached people once more,
    word for word. repeated_calls: answers that the model wrote more than once.
    """

    messages: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    repeated_parts: int = 0
    repeated_calls: int = 0

    @property
    def holds(self) -> bool:
        return not (self.lost or self.doubled or self.wrong)

    def __str__(self) -> str:
        found = {"lost": self.lost, "doubled": self.doubled, "wrong": self.wrong}
        return "; ".join(f"{name}: {', '.join(items[:5])}" for name, items in found.items() if items) or "held"


def read(home: Path) -> Ledger:
    """What a stopped bot has left in its home."""
    inbox: dict[str, list[str]] = defaultdict(list)
    parts: dict[str, list[str]] = defaultdict(list)
    histories: dict[str, list[str]] = defaultdict(list)
    turns: Counter[str] = Counter()
    with contextlib.closing(sqlite3.connect(home / "kenobot.db")) as connection:
        tags: dict[int, str] = {}
        for number, text, state in connection.execute("SELECT id, text, state FROM inbox ORDER BY id"):
            tags[number] = tag_in(text) or text
            inbox[tags[number]].append(state)
        for (number,) in connection.execute("SELECT inbox_id FROM turn"):
            turns[tags.get(number, str(number))] += 1
        # Part -1 asks for patience while no model can be reached; it is no answer.
        for number, state in connection.execute("SELECT inbox_id, state FROM outbox WHERE part >= 0"):
            parts[tags.get(number, str(number))].append(state)
        for session, role, text in connection.execute("SELECT session, role, text FROM message ORDER BY id"):
            histories[session].append(f"{role} {tag_in(text)}")
        records: Counter[str] = Counter()
        for text, mentions in connection.execute("SELECT text, mentions FROM record WHERE status = 'active'"):
            records[text] += mentions
        broken = connection.execute("PRAGMA integrity_check").fetchall()
        if broken != [("ok",)]:
            raise AssertionError(f"the database is damaged: {broken[:3]}")
    lines = Counter(
        line.split(" — ", 1)[1]
        for path in sorted((home / "memory").glob("*.md"))
        for line in path.read_text("utf-8").splitlines()
        if line.startswith("## ")
    )
    return Ledger(inbox, turns, parts, histories, records, lines)


def check(world: World, told_is_fine: bool = False) -> Verdict:
    """Every message answered by exactly one turn, in order, and what it said to remember remembered exactly once."""
    asked = {f"telegram-{chat}": texts for chat, texts in world.asked.items()}
    sent = [(f"telegram-{item.chat}", item.text) for item in world.telegram.sent]
    verdict = compare(world.home, asked, sent, told_is_fine)
    verdict.repeated_calls = sum(times - 1 for times in world.model.calls.values())
    return verdict


def compare(
    home: Path,
    asked: Mapping[str, Sequence[str]],
    sent: Sequence[tuple[str, str]],
    told_is_fine: bool = False,
    has_files: bool = True,
) -> Verdict:
    """Compare what people said and what they got with what a stopped bot has left in its home.

    asked: what was said, by session, in order. sent: session and text of each message that reached people.
    told_is_fine: a message may have ended without an answer if the person was told so. has_files: of memory.
    """
    tags = [tag_in(text) or "" for texts in asked.values() for text in texts]
    verdict = Verdict(messages=len(tags))
    ledger = read(home)
    replies: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for session, text in sent:
        replies[tag_in(text) or ""][session, text] += 1
    for session, texts in asked.items():
        for text in texts:
            _check_message(session, tag_in(text) or "", ledger, replies, told_is_fine, verdict)
        _check_order(session, [tag_in(text) or "" for text in texts], ledger, set(verdict.told), verdict)
    _check_memory(tags, ledger, set(verdict.told), verdict, has_files)
    return verdict


def _check_message(
    session: str,
    tag: str,
    ledger: Ledger,
    replies: Mapping[str, Counter[tuple[str, str]]],
    told_is_fine: bool,
    verdict: Verdict,
) -> None:
    states, parts = ledger.inbox.get(tag, ()), ledger.parts.get(tag, ())
    told = states != ["answered"]
    if told and told_is_fine and len(states) == 1 and parts in (["sent"], []) and states[0] in _ENDED:
        verdict.told.append(tag)
        return
    got = replies.get(tag, Counter())
    if told or not parts or not got or "sent" not in parts or not ledger.turns[tag]:
        verdict.lost.append(f"{tag} (inbox {list(states)}, outbox {list(parts)}, people got {len(got)})")
    if len(states) > 1 or len(parts) > 1 or ledger.turns[tag] > 1 or len(got) > 1:
        verdict.doubled.append(f"{tag} (inbox {list(states)}, outbox {list(parts)}, answers {sorted(got)})")
    if any(where != session for where, _ in got):
        verdict.wrong.append(f"{tag} was answered in another chat")
    verdict.repeated_parts += sum(times - 1 for times in got.values())


_ENDED = ("failed", "dead", "expired")


def _check_order(session: str, tags: Sequence[str], ledger: Ledger, told: set[str], verdict: Verdict) -> None:
    wanted = [f"{role} {tag}" for tag in tags if tag not in told for role in ("user", "assistant")]
    found = [entry for entry in ledger.histories.get(session, ()) if entry.split()[1] not in told | {"None"}]
    if found == wanted:
        return
    twice = [entry for entry, times in Counter(found).items() if times > 1]
    verdict.doubled += [f"{entry} twice in the history" for entry in twice]
    if sorted(found) == sorted(wanted):
        verdict.wrong.append(f"the history of {session} is out of order")
    elif not twice:
        missing = sorted(set(wanted) - set(found)) or sorted(set(found) - set(wanted))
        verdict.wrong.append(f"the history of {session} differs at {missing[:3]}")


def _check_memory(tags: Sequence[str], ledger: Ledger, told: set[str], verdict: Verdict, has_files: bool) -> None:
    for tag in sorted({*tags} - told):
        fact = fact_of(tag)
        if fact is None:
            continue
        found = [("memory", ledger.records[fact])]
        if has_files:
            found.append(("its Markdown file", ledger.lines[fact]))
        for where, times in found:
            if times != 1:
                (verdict.doubled if times else verdict.lost).append(f"what {tag} said to remember: {times}× in {where}")
