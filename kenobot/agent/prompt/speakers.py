"""Attribute the texts of a prompt to the speaker, the model, or others. Pure."""

from collections.abc import Sequence

from kenobot.agent.prompt.shown_message import PersonText
from kenobot.agent.prompt.shown_talk import ShownTalk
from kenobot.language.provenance import AttributedText, SpeechContext
from kenobot.language.quoting import quote_lines
from kenobot.ports.identity import Principal
from kenobot.ports.messages import FORWARDED, Inbound
from kenobot.ports.names import Role, sanitize_name, speaker_label


def message_text(inbound: Inbound, role: Role) -> str:
    """Format a message as the conversation shows it: in a group with its speaker, and quoted when forwarded.

    What comes after its first line is indented or marked, so that nobody can write a line in another's name.
    """
    text = list_spoken_words(inbound)
    if inbound.forwarded:
        text = "\n".join([FORWARDED, *quote_lines(inbound.text)])
    if not inbound.private:
        label = speaker_label(inbound.user_name, role, inbound.user)
        text = "\n  ".join(f"{label}{text}".splitlines())
    return text


def list_spoken_words(inbound: Inbound) -> str:
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
    talk: ShownTalk,
    quote_memory: Sequence[AttributedText],
) -> SpeechContext:
    """Attribute the words of a prompt to their speakers.

    spoken: the words of `inbound`. talk: the history on show. quote_memory: what memory shows of others' words.
    """
    passages = (AttributedText("forward", inbound.text),) if inbound.forwarded else spoken.passages
    others = (*talk.others, *passages)
    return SpeechContext(
        principal.trust,
        "" if inbound.forwarded else spoken.own_words,
        talk.before,
        talk.asked,
        (*quote_memory, *others),
        has_quotes=bool(passages),
        others_spoke=bool(others),
    )


def shows_untrusted_words(spoken: PersonText, talk: ShownTalk, heard: SpeechContext) -> bool:
    """Return whether the conversation shows others' words, or what may be such in the last two messages.

    Others' words that memory alone shows are not counted: they count where the reply takes something of them.
    """
    if heard.others_spoke or spoken.may_be_pasted:
        return True
    return talk.last_own is not None and talk.last_own.may_be_pasted


def texts_with_markup(talk: ShownTalk, heard: SpeechContext) -> list[str]:
    """List earlier texts that the model may be made to repeat: others', and what holds something like a tag."""
    return [*[voice.text for voice in heard.other_texts], *talk.marked]
