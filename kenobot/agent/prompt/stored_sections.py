"""Measure the sections of the prompt in which a reply was given, from what is stored of it."""

from typing import Literal

from kenobot.agent.prompt.context_builder import TAG_INSTRUCTIONS
from kenobot.core.token_estimate import estimate_tokens
from kenobot.identity.identity_files import Identity
from kenobot.ports.explanations import ReplyExplanation
from kenobot.ports.frozen import dataclass
from kenobot.storage import conversation, message_rows, prompt_prefix
from kenobot.storage.connection import Connection

SectionName = Literal[
    "identity", "instructions", "preferences", "memory", "later", "conversation", "notes", "recalled", "message"
]


@dataclass(frozen=True, slots=True)
class PromptSection:
    """A section of a prompt, in its order. tokens: estimated."""

    name: SectionName
    tokens: int


def measure_sections(connection: Connection, identity: Identity, reply: ReplyExplanation) -> list[PromptSection]:
    """Measure what the prompt of a reply held; nothing where another frozen beginning has taken its place since.

    Identity and instructions are measured as they are now, memory and conversation as the prompt showed them.
    """
    asked = next((row for row in message_rows.messages_of_turns(connection, [reply.turn]) if row.role == "user"), None)
    prefix = prompt_prefix.load_prefix(connection, reply.session)
    if asked is None or prefix is None or asked.id < prefix.first_message:
        return []
    told = identity.read()
    log = conversation.load_between(connection, reply.session, prefix.first_message, asked.id)
    earlier, own = log[:-1], log[-1:]
    recalled = [used.record.text for used in reply.used_memories if used.where == "message" and used.record is not None]
    texts: dict[SectionName, list[str]] = {
        "identity": [told.core, told.rules],
        "instructions": [TAG_INSTRUCTIONS],
        "preferences": [prefix.preferences],
        "memory": [prefix.text],
        "later": [prefix.later],
        "conversation": [text for line in earlier for text in (line.context, line.text)],
        "notes": [line.context for line in own],
        "recalled": recalled,
        "message": [asked.text],
    }
    sections = ((name, [text for text in parts if text]) for name, parts in texts.items())
    return [PromptSection(name, sum(map(estimate_tokens, parts))) for name, parts in sections if parts]
