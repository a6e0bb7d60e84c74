"""Find what people put right in the course of a conversation: what was said before it holds no longer."""

import re
from collections.abc import Callable, Iterable, Sequence
from zoneinfo import ZoneInfo

from kenobot.core import lazy
from kenobot.language import sentence_content as said
from kenobot.language.facts import heuristic
from kenobot.language.facts.heuristic import Message
from kenobot.language.fingerprint import key_of
from kenobot.language.provenance import without_quotes
from kenobot.language.summary.digest import SummaryLine
from kenobot.ports.turns import ConversationTurn

_DAY = lazy.regex(r"\A\d{4}-\d\d-\d\d ", re.ASCII)


def no_pause() -> None:
    """Go on at once."""


def find_outdated_keys(
    lines: Iterable[SummaryLine], turns: Sequence[ConversationTurn], zone: ZoneInfo, pause: Callable[[], None]
) -> frozenset[str]:
    """Return the keys of the lines and sentences that later words of the same person put right.

    lines: of the summary so far, each its day and, in a group, its speaker before what it says. pause: called between
    sentences, to give way to what is more urgent.
    """
    found: set[str] = set()
    told = [(_DAY.sub("", line.text), line.text) for line in lines if line.trust in ("owner", "guest")]
    for turn in turns:
        if turn.trust not in ("owner", "guest") or turn.hidden:
            continue
        mark = f"{turn.label}: " if turn.label else ""
        for sentence in said.sentences(without_quotes(turn.text)):
            pause()
            if heuristic.may_end_something(sentence):
                own = [(text.removeprefix(mark), whole) for text, whole in told if text.startswith(mark)]
                message = Message(sentence, turn.at.astimezone(zone).date())
                facts = heuristic.read_messages([message], [text for text, _ in own])
                ended = [own[number - 1][1] for fact in facts for number, _ in fact.verdicts]
                found |= {key_of(whole) for whole in ended}
                told = [pair for pair in told if pair[1] not in ended]
            told.append((f"{mark}{sentence}", sentence))
    return frozenset(found)
