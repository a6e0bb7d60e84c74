"""Build the extraction request for a batch of turns, with everything said in it quoted."""

from collections.abc import Mapping, Sequence
from datetime import date
from importlib import resources
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy.remember import ExtractPolicy
from kenobot.core.token_estimate import clip_to_tokens, estimate_tokens
from kenobot.language.quoting import quote_lines
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Trust
from kenobot.ports.provider import Block, Message, Request
from kenobot.ports.records import Record
from kenobot.ports.turns import ConversationTurn

_INSTRUCTIONS = resources.files(__package__).joinpath("instructions.txt").read_text("utf-8").removesuffix("\n")

SPEAKER_LABELS: Mapping[Trust, str] = {
    "owner": "the user",
    "guest": "a guest",
    "forward": "forwarded by the speaker, the words of somebody else",
    "tool": "from a tool",
    "model": "the assistant",
}
_OUTSIDE = "said by others, not the user's word"


@dataclass(frozen=True, slots=True)
class ExtractionBatch:
    """Turns of one session and scope, in order, with memories to compare. day: the owner's today.

    event: the newest when those memories were read.
    """

    turns: tuple[ConversationTurn, ...]
    known: tuple[Record, ...]
    day: date
    guidelines: str = ""
    event: int = 0


def build_request(batch: ExtractionBatch, zone: ZoneInfo, policy: ExtractPolicy) -> Request:
    """Return the request for a batch. Its system part is the same every time, so that it can be read from a cache."""
    parts = [f"Today is {batch.day:%A, %Y-%m-%d}.", "", "## What is remembered already", ""]
    parts += _render_known(batch.known, policy) or ["Nothing yet."]
    if batch.guidelines:
        parts += ["", "## What experience says", "", batch.guidelines[: policy.guideline_chars]]
    parts += ["", "## The conversation"]
    for number, turn in enumerate(batch.turns, 1):
        if not turn.hidden:
            parts += ["", *turn_lines(number, turn, zone, policy.max_turn_tokens, policy.max_reply_tokens)]
    parts += ["", "Now answer with the JSON object."]
    message = Message("user", (Block("\n".join(parts)),))
    return Request((Block(_INSTRUCTIONS, cache=True),), (message,), max_tokens=policy.max_answer_tokens)


def prompt_tokens(turn: ConversationTurn, policy: ExtractPolicy) -> int:
    """Estimate how many tokens of a request a turn takes."""
    return (
        min(estimate_tokens(turn.text), policy.max_turn_tokens)
        + min(estimate_tokens(turn.answer), policy.max_reply_tokens)
        + 40
    )


def _render_known(known: Sequence[Record], policy: ExtractPolicy) -> list[str]:
    lines: list[str] = []
    for number, record in enumerate(known, 1):
        text = " ".join(record.text.split())
        text = text if len(text) <= policy.known_chars else f"{text[: policy.known_chars].rstrip()}…"
        about = f" (about {record.subject})" if record.subject not in ("", "owner") else ""
        outside = f" ({_OUTSIDE})" if record.trust in ("forward", "tool", "model") else ""
        lines.append(f"[{number}]{about}{outside} > {text}")
    return lines


def turn_lines(
    number: int,
    turn: ConversationTurn,
    zone: ZoneInfo,
    turn_tokens: int,
    reply_tokens: int,
    voices: Mapping[Trust, str] = SPEAKER_LABELS,
) -> list[str]:
    """Return a turn below a heading with its number, who spoke, and when in `zone`. tokens: of each side, at most."""
    who = voices[turn.trust]
    speaker = f"{' '.join(turn.label.split())}, {who}" if turn.label else who
    at = turn.at.astimezone(zone)
    lines = [f"### Turn {number} — {speaker} — {at:%A, %Y-%m-%d %H:%M}", *quote_lines(_clip(turn.text, turn_tokens))]
    if turn.answer.strip():
        lines += ["The assistant answered:", *quote_lines(_clip(turn.answer, reply_tokens))]
    return lines


def _clip(text: str, tokens: int) -> str:
    """Return `text`, or its beginning and end when it has more than `tokens`: people say what they want there."""
    if estimate_tokens(text) <= tokens:
        return text
    end = clip_to_tokens(text[::-1][: 4 * tokens], tokens // 4)[::-1]
    return f"{clip_to_tokens(text, tokens - tokens // 4)}\n[…]\n{end}"
