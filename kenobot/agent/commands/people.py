"""`/pair` and `/people`: the owner, in a private chat, lets people in and puts them out."""

from kenobot.agent.commands.base import ChatCommand, CommandContext
from kenobot.agent.commands.registry import CommandCall
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.gateway import pairing
from kenobot.gateway.access import Access
from kenobot.storage import approved_people
from kenobot.storage.approved_people import ApprovedPerson
from kenobot.storage.connection import Connection

_REVOKE = frozenset({"revoke", "revocar"})


class PairCommand(ChatCommand):
    """`/pair CODE`: approve the person who was given the code."""

    names = ("pair", "emparejar")
    changes = frozenset({"people"})
    owner_only = True

    def __init__(self, context: CommandContext, access: Access) -> None:
        super().__init__(context)
        self._access = access

    def answer(self, connection: Connection, call: CommandCall, language: Language) -> str:
        if not call.arguments:
            return texts.PAIR_HOW(language)
        result = pairing.approve(connection, call.arguments, call.at, self._access.is_owner)
        match result.kind:
            case "approved":
                assert result.person is not None
                return texts.PAIR_DONE(language, who=_person_text(result.person))
            case "wrong":
                return texts.PAIR_WRONG(language, left=result.tries_left)
            case "locked":
                return texts.PAIR_LOCKED(language)
            case "nothing":
                return texts.PAIR_NOTHING(language)


class PeopleCommand(ChatCommand):
    """`/people`: list approved and waiting people; `/people revoke [CHANNEL] ID`: revoke one."""

    names = ("people", "personas")
    changes = frozenset({"people"})
    owner_only = True

    def answer(self, connection: Connection, call: CommandCall, language: Language) -> str:
        people = approved_people.list_people(connection)
        word, *account = call.arguments.split()[:4] or [""]
        if word.lower() in _REVOKE:
            named = [person for person in people if account in ([person.user], [person.channel, person.user])]
            if len(named) != 1:
                return texts.PEOPLE_UNKNOWN(language)
            approved_people.revoke_person(connection, *named[0].account)
            return texts.PEOPLE_REVOKED(language, who=_person_text(named[0]))
        lines = "\n".join(f"- {_person_text(person)}" for person in people)
        parts = [texts.PEOPLE_SOME(language, lines=lines) if people else texts.PEOPLE_NONE(language)]
        if waiting := pairing.open_pairings(connection, call.at):
            lines = "\n".join(
                f"- {_person_text(ApprovedPerson(each.channel, each.user, each.name, ''))}" for each in waiting
            )
            parts.append(texts.PEOPLE_WAITING(language, lines=lines))
        return "\n\n".join(parts)


def _person_text(person: ApprovedPerson) -> str:
    """Name a person by the name that they chose and the id that is theirs alone."""
    return f"{person.name} ({person.channel} `{person.user}`)".strip()
