"""Summarise without a model by selecting the sentences with the highest value.

Corrections, decisions, open items, names, numbers, dates and signals add value; older lines lose it, so that a summary
never grows. What was put right since, and what an answer only repeats, is left out.
"""

from collections.abc import Callable, Iterator, Sequence, Set
from functools import lru_cache
from zoneinfo import ZoneInfo

from kenobot.core.redaction import Redactor
from kenobot.core.token_estimate import estimate_tokens
from kenobot.language import sentence_content as said
from kenobot.language.facts.heuristic import may_end_something
from kenobot.language.fingerprint import key_of
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.provenance import find_quoted_passages, without_quotes
from kenobot.language.signals import signal_level
from kenobot.language.summary.corrections import find_outdated_keys, no_pause
from kenobot.language.summary.digest import Digest, SummaryLine
from kenobot.language.words import stems, words
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Trust, trust_rank
from kenobot.ports.messages import FORWARDED
from kenobot.ports.turns import ConversationTurn

MAX_LINES = 60
MAX_LINE_CHARS = 300
"""Bounds of a summary."""

_LEVELS = {"high": 2.0, "medium": 1.0, "low": 0.3, "none": 0.0}
_NAMES = 3  # of a sentence that count
_LINE = 3  # tokens that a line takes beside its text
_ECHO = 0.6  # share of the words of an answer's sentence above which it is an echo of the person's
_PUT_RIGHT = 3.0  # what a correction adds to a sentence of a person
_VALUED = 8192  # texts whose value is kept: a summary's lines are valued anew in each round, those of a hundred chats
_BLOT = Redactor()


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A line that may stand in the summary, what it is worth, and where it stands among the others."""

    line: SummaryLine
    worth: float
    at: int


def summarize(
    old: Digest,
    turns: Sequence[ConversationTurn],
    room: int,
    zone: ZoneInfo,
    pause: Callable[[], None] = no_pause,
) -> list[SummaryLine]:
    """Summarize `old` and `turns` within `room` tokens, in the order of the conversation.

    pause: see `find_outdated_keys`.
    """
    outdated = find_outdated_keys(old.lines, turns, zone, pause)
    found: list[_Candidate] = []
    seen: set[str] = set()
    for at, old_line in enumerate(old.lines):
        pause()
        seen.add(key := key_of(old_line.text))
        if key not in outdated:
            found.append(_Candidate(old_line, _line_value(old_line), at))
    for turn in turns:
        pause()
        for sentence, line, value in _lines(turn, zone):
            pause()
            key = key_of(line.text)
            if key not in seen and key_of(sentence) not in outdated:
                seen.add(key)
                found.append(_Candidate(line, value, len(found)))
    chosen: list[_Candidate] = []
    last = max(1, len(found) - 1)
    for each in sorted(found, key=lambda each: (-each.worth * (0.6 + 0.4 * each.at / last), -each.at)):
        cost = estimate_tokens(each.line.text) + _LINE
        if cost <= room and len(chosen) < MAX_LINES and (each.worth > 0 or not chosen):
            room -= cost
            chosen.append(each)
    return [each.line for each in sorted(chosen, key=lambda each: each.at)]


def sentence_value(sentence: str) -> float:
    """Return how much would be lost with a sentence."""
    return _LEVELS[signal_level(sentence)] + _content_value(sentence)


@lru_cache(maxsize=_VALUED)
def _content_value(sentence: str) -> float:
    value = 2.0 * said.is_decision(sentence) + 1.5 * said.is_open(sentence)
    value += bool(said.numbers(sentence) or said.dates(sentence))
    return value + 0.5 * min(_NAMES, len(said.names(sentence)))


def _line_value(line: SummaryLine) -> float:
    """Return how much would be lost with a line of the summary so far."""
    right = line.trust in ("owner", "guest") and may_end_something(line.text.partition(" ")[2])
    return sentence_value(line.text) + _PUT_RIGHT * right


def _lines(turn: ConversationTurn, zone: ZoneInfo) -> Iterator[tuple[str, SummaryLine, float]]:
    """Return what a turn says, sentence by sentence: the person first, then what was answered and they had not said."""
    day = f"{turn.at.astimezone(zone):%Y-%m-%d}"
    left_open = said.leaves_unanswered(turn.answer)
    for text, trust in split_by_trust(turn):
        for sentence in said.sentences(text):
            value = sentence_value(sentence) + 1.5 * (left_open and said.is_question(sentence))
            value += _PUT_RIGHT * (trust == turn.trust and may_end_something(sentence))
            who = f"{turn.label}: " if turn.label else ""
            yield sentence, _line(f"{day} {who}{sentence}", trust, turn), value
    trust = min(turn.trust, turn.answer_trust, key=trust_rank)
    spoken = {stem for word in words(turn.text) for stem in stems(word)}
    for sentence in said.sentences(turn.answer):
        if _is_echo(sentence, spoken):
            continue
        asked = 1.0 * said.is_question(sentence)
        yield (
            sentence,
            _line(f"{day} (answered) {sentence}", trust, turn),
            0.6 * sentence_value(sentence) + 0.2 * asked,
        )


def _is_echo(sentence: str, spoken: Set[str]) -> bool:
    """Return whether a sentence of an answer says little but what the person had said. spoken: its words' stems."""
    told = [word for word in words(sentence) if word not in STOPWORDS]
    return sum(any(stem in spoken for stem in stems(word)) for word in told) > _ECHO * len(told)


def split_by_trust(turn: ConversationTurn) -> list[tuple[str, Trust]]:
    """Return what a person wrote, and what of it they only passed on."""
    if turn.trust == "forward":
        text = turn.text.replace(FORWARDED, "")
        return [("\n".join(line.removeprefix("> ") for line in text.splitlines()), "forward")]
    return [
        (without_quotes(turn.text), turn.trust),
        *((passage.replace(">", " "), "forward") for passage in find_quoted_passages(turn.text)),
    ]


def _line(text: str, trust: Trust, turn: ConversationTurn) -> SummaryLine:
    told = _BLOT(text)
    told = told if len(told) <= MAX_LINE_CHARS else f"{told[: MAX_LINE_CHARS - 1].rstrip()}…"
    return SummaryLine(told, trust, (turn.inbox_id,) if turn.inbox_id is not None else ())
