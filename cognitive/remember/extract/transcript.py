"""Format turns for a model, with everything said quoted."""

from collections.abc import Mapping
from zoneinfo import ZoneInfo

from kenobot.cognitive.remember.extract.buffer import ConversationTurn
from kenobot.core.token_estimate import clip_to_tokens, estimate_tokens
from kenobot.ports.identity import Trust

SPEAKER_LABELS: Mapping[Trust, str] = {
    "owner": "the user",
    "guest": "a guest",
    "forward": "forwarded by the speaker, the words of somebody else",
    "tool": "from a tool",
    "model": "the assistant",
}


def turn_lines(
    number: int,
    turn: ConversationTurn,
    zone: ZoneInfo,
    turn_tokens: int,
    reply_tokens: int,
    voices: Mapping[Trust, str] = SPEAKER_LABELS,
) -> list[str]:
    """A turn below a heading with its number, who spoke, and when in `zone`. tokens: of each side, at most."""
    who = voices[turn.trust]
    speaker = f"{' '.join(turn.speaker.split())}, {who}" if turn.speaker else who
    at = turn.at.astimezone(zone)
    lines = [f"### Turn {number} — {speaker} — {at:%A, %Y-%m-%d %H:%M}", *_quoted(_shown(turn.text, turn_tokens))]
    if turn.answer.strip():
        lines += ["The assistant answered:", *_quoted(_shown(turn.answer, reply_tokens))]
    return lines


def _shown(text: str, tokens: int) -> str:
    """`text`, or its beginning and end when it has more than `tokens`: people say what they want there."""
    if estimate_tokens(text) <= tokens:
        return text
    end = clip_to_tokens(text[::-1][: 4 * tokens], tokens // 4)[::-1]
    return f"{clip_to_tokens(text, tokens - tokens // 4)}\n[…]\n{end}"


def _quoted(text: str) -> list[str]:
    """`text` line by line behind a mark, whatever its line ends are: no line of it can stand as a heading."""
    return [f"> {line}" for line in text.splitlines()]
