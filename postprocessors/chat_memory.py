"""`<chat-memory>`: something that happened in this chat and matters only here."""

from kenobot.ports import Candidate, NoSettings, Plugin, TurnEffects, chat_scope
from kenobot.postprocessors.tag import Tag


def _candidate(text: str, turn: TurnEffects) -> Candidate:
    return Candidate(form="episode", scope=chat_scope(turn.session), text=text, trust=turn.principal.trust)


plugin = Plugin(settings=NoSettings, build=lambda settings, surroundings: Tag(("chat-memory",), _candidate))
