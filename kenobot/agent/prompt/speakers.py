"""Attribute the texts of a prompt to the speaker, the model, or others; set apart the block of the runtime. Pure."""

import re
from collections.abc import Sequence

from kenobot.cognitive.text.provenance import (
    AttributedText,
    SpeechContext,
    may_be_pasted,
    quoted_passages,
    without_quotes,
)
from kenobot.cognitive.text.quoting import find_quotations
from kenobot.core.lookalikes import defuse, markup_pattern, may_hold_markup
from kenobot.ports.identity import Principal, Trust
from kenobot.ports.messages import FORWARDED, Inbound
from kenobot.ports.names import Role, label_id, speaker_label, split_line
from kenobot.storage.conversation import StoredMessage

_BLOCK = "kenobot-context"
BLOCK_OPEN = f"<{_BLOCK}>"
BLOCK_CLOSE = f"</{_BLOCK}>"
_BORDER = re.compile(rf"{markup_pattern([_BLOCK], r'(?:[^<>]{0,256}+>)?').pattern}|<\|")  # <|: chat templates


def message_text(inbound: Inbound, role: Role) -> str:
    """Format a message as the conversation shows it: in a group with its speaker, and quoted when forwarded.

    What comes after its first line is indented or marked, so that nobody can write a line in another's name.
    """
    text = inbound.text
    if inbound.forwarded:
        text = "\n".join([FORWARDED, *(f"> {line}" for line in text.splitlines())])
    if not inbound.private:
        label = speaker_label(inbound.user_name, role, inbound.user)
        text = "\n  ".join(f"{label}{text}".splitlines())
    return text


def speech_context(
    inbound: Inbound, principal: Principal, lines: Sequence[StoredMessage], memory: Sequence[str]
) -> SpeechContext:
    """Attribute the words of a prompt to their speakers. lines: the history on show. memory: the texts that show
    memory.

    What the model answered to the text of others counts as theirs too, because it tells what stands there.
    """
    before: list[str] = []
    asked: list[str] = []
    remembered = [AttributedText(trust, text) for block in memory for trust, text in find_quotations(block)]
    others: list[AttributedText] = []
    answers_to: Trust | None = None
    for line in lines:
        if line.role == "assistant":
            if answers_to is None:
                asked.append(line.text)
            else:
                others.append(AttributedText(answers_to, line.text))
        elif _is_own(line, inbound, principal):
            answers_to = None
            before.append(without_quotes(line.text))
            others += [AttributedText("forward", text) for text in quoted_passages(line.text)]
        else:
            answers_to = line.trust
            others.append(AttributedText(line.trust, line.text))
    passages = [inbound.text] if inbound.forwarded else quoted_passages(inbound.text)
    others += [AttributedText("forward", text) for text in passages]
    now = "" if inbound.forwarded else without_quotes(inbound.text)
    return SpeechContext(
        principal.trust,
        now,
        tuple(before),
        tuple(asked),
        (*remembered, *others),
        has_quotes=bool(passages),
        others_spoke=bool(others),
    )


def shows_untrusted_words(
    inbound: Inbound, principal: Principal, lines: Sequence[StoredMessage], heard: SpeechContext
) -> bool:
    """Return whether the prompt shows others' words, or what may be such in the last two messages."""
    own = [line.text for line in lines if line.role == "user" and _is_own(line, inbound, principal)]
    return bool(heard.other_texts) or any(map(may_be_pasted, [inbound.text, *own[-1:]]))


def texts_with_markup(lines: Sequence[StoredMessage], heard: SpeechContext) -> list[str]:
    """Earlier texts that the model may be made to repeat: everybody else's, and whatever holds something like a tag."""
    return [voice.text for voice in heard.other_texts] + [
        line.text for line in lines if line.role == "user" and may_hold_markup(line.text)
    ]


def _is_own(line: StoredMessage, inbound: Inbound, principal: Principal) -> bool:
    """Return whether the speaker of this turn wrote a line of the history; ids tell guests of a group apart."""
    mine: Trust = "owner" if principal.role == "owner" else "guest"
    if line.role != "user" or line.trust != mine:
        return False
    return inbound.private or mine == "owner" or split_line(line.text).id == label_id(inbound.user)


def runtime_block(text: str) -> str:
    """`text` as the runtime's own block; "" for none."""
    return f"{BLOCK_OPEN}\n{text}\n{BLOCK_CLOSE}" if text else ""


def escape_runtime_block(text: str) -> str:
    """`text` without anything that could pass for the runtime's own block, in any disguise, whole or cut."""
    return defuse(text, _BORDER)
