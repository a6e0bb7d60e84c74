"""Attribute the texts of a prompt to the speaker, the model, or others. Pure."""

from collections.abc import Sequence

from kenobot.agent.prompt.shown_message import PersonText, ShownMessage
from kenobot.language.provenance import AttributedText, SpeechContext
from kenobot.language.quoting import quote_lines
from kenobot.ports.identity import QUOTED_TRUST, Principal, Trust
from kenobot.ports.messages import FORWARDED, Inbound
from kenobot.ports.names import Role, label_id, sanitize_name, speaker_label, split_line


def message_text(inbound: Inbound, role: Role) -> str:
    """Format a message as the conversation shows it: in a group with its speaker, and quoted when forwarded.

    What comes after its first line is indented or marked, so that nobody can write a line in another's name.
    """
    text = spoken_words(inbound)
    if inbound.forwarded:
        text = "\n".join([FORWARDED, *quote_lines(inbound.text)])
    if not inbound.private:
        label = speaker_label(inbound.user_name, role, inbound.user)
        text = "\n  ".join(f"{label}{text}".splitlines())
    return text


def spoken_words(inbound: Inbound) -> str:
    """Put what a message answers above it, as a quotation."""
    if not inbound.quoted.strip():
        return inbound.text
    author = sanitize_name(inbound.quoted_author) or "You"
    quotation = "\n".join(quote_lines(f"{author} wrote:\n{inbound.quoted}"))
    return f"{quotation}\n\n{inbound.text}"


def speech_context(
    inbound: Inbound,
    spoken: PersonText,
    principal: Principal,
    lines: Sequence[ShownMessage],
    quoted_memory: Sequence[AttributedText],
) -> SpeechContext:
    """Attribute the words of a prompt to their speakers.

    spoken: the words of `inbound`. lines: the history on show. quoted_memory: what memory shows of others' words.
    What the model answered to the text of others counts as theirs too, because it tells what stands there; so does what
    it said after a tool had brought text from outside.
    """
    before: list[str] = []
    asked: list[str] = []
    others: list[AttributedText] = []
    answers_to: Trust | None = None
    for line in lines:
        if line.role == "assistant":
            if line.trust in QUOTED_TRUST:
                others.append(AttributedText(line.trust, line.text))
            elif answers_to is None:
                asked.append(line.text)
            else:
                others.append(AttributedText(answers_to, line.text))
        elif _is_own(line, inbound, principal):
            answers_to = None
            before.append(line.own_words)
            others += line.passages
        else:
            answers_to = line.trust
            others.append(AttributedText(line.trust, line.text))
    passages = (AttributedText("forward", inbound.text),) if inbound.forwarded else spoken.passages
    others += passages
    return SpeechContext(
        principal.trust,
        "" if inbound.forwarded else spoken.own_words,
        tuple(before),
        tuple(asked),
        (*quoted_memory, *others),
        has_quotes=bool(passages),
        others_spoke=bool(others),
    )


def shows_untrusted_words(
    inbound: Inbound, spoken: PersonText, principal: Principal, lines: Sequence[ShownMessage], heard: SpeechContext
) -> bool:
    """Return whether the conversation shows others' words, or what may be such in the last two messages.

    Others' words that memory alone shows are not counted: they count where the reply takes something of them.
    """
    if heard.others_spoke or spoken.may_be_pasted:
        return True
    own = (line for line in reversed(lines) if line.role == "user" and _is_own(line, inbound, principal))
    last = next(own, None)
    return last is not None and last.may_be_pasted


def texts_with_markup(lines: Sequence[ShownMessage], heard: SpeechContext) -> list[str]:
    """Earlier texts that the model may be made to repeat: everybody else's, and whatever holds something like a tag."""
    return [voice.text for voice in heard.other_texts] + [
        line.text for line in lines if line.role == "user" and line.may_hold_markup
    ]


def _is_own(line: ShownMessage, inbound: Inbound, principal: Principal) -> bool:
    """Return whether the speaker of this turn wrote a line of the history; ids tell guests of a group apart."""
    mine: Trust = "owner" if principal.role == "owner" else "guest"
    if line.role != "user" or line.trust != mine:
        return False
    return inbound.private or mine == "owner" or split_line(line.text).id == label_id(inbound.user)
