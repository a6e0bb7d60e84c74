"""`/pair` and `/people`: the owner, in a private chat, lets people in and puts them out."""

from collections.abc import Callable

from kenobot.agent.commands.registry import CommandCall
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.gateway import pairing
from kenobot.gateway.access import Access
from kenobot.ports.identity import OWNER_SCOPE, Principal
from kenobot.ports.messages import Inbound
from kenobot.storage import approved_people
from kenobot.storage.approved_people import ApprovedPerson
from kenobot.storage.connection import Connection

_REVOKE = frozenset({"revoke", "revocar"})


def _is_owner_alone(principal: Principal) -> bool:
    return OWNER_SCOPE in principal.read_scopes


def _language(order: CommandCall, spanish: str) -> Language:
    """Who uses the Spanish name of a command wants a Spanish answer; a code and an id speak no language."""
    return "es" if order.inbound.text.strip().lower().startswith(f"/{spanish}") else "en"


class PairCommand:
    """`/pair CODE`.

    changed: called when the turn's transaction has something to say about who is let in. language: of the answers;
    None goes by the name that the command is called by.
    """

    names = ("pair", "emparejar")

    def __init__(self, access: Access, changed: Callable[[], None], language: Language | None = None) -> None:
        self._access = access
        self._changed = changed
        self._language = language

    def is_allowed(self, principal: Principal, inbound: Inbound) -> bool:
        return _is_owner_alone(principal)

    def run(self, connection: Connection, order: CommandCall) -> str:
        language = self._language or _language(order, self.names[1])
        if not order.arguments:
            return texts.PAIR_HOW(language)
        verdict = pairing.approve(connection, order.arguments, order.at, self._access.is_owner)
        self._changed()
        match verdict.kind:
            case "approved":
                assert verdict.person is not None
                return texts.PAIR_DONE(language, who=_who(verdict.person))
            case "wrong":
                return texts.PAIR_WRONG(language, left=verdict.tries_left)
            case "locked":
                return texts.PAIR_LOCKED(language)
            case "nothing":
                return texts.PAIR_NOTHING(language)


class PeopleCommand:
    """`/people` shows whom the owner let in and who waits for it; `/people revoke [CHANNEL] ID` puts somebody out.

    changed, language: see `Pair`.
    """

    names = ("people", "personas")

    def __init__(self, changed: Callable[[], None], language: Language | None = None) -> None:
        self._changed = changed
        self._language = language

    def is_allowed(self, principal: Principal, inbound: Inbound) -> bool:
        return _is_owner_alone(principal)

    def run(self, connection: Connection, order: CommandCall) -> str:
        language = self._language or _language(order, self.names[1])
        known = approved_people.list_people(connection)
        word, *account = order.arguments.split()[:4] or [""]
        if word.lower() in _REVOKE:
            found = [person for person in known if account in ([person.user], [person.channel, person.user])]
            if len(found) != 1:
                return texts.PEOPLE_UNKNOWN(language)
            approved_people.revoke_person(connection, *found[0].account)
            self._changed()
            return texts.PEOPLE_REVOKED(language, who=_who(found[0]))
        lines = "\n".join(f"- {_who(person)}" for person in known)
        shown = texts.PEOPLE_SOME(language, lines=lines) if known else texts.PEOPLE_NONE(language)
        waiting = pairing.open_pairings(connection, order.at)
        if not waiting:
            return shown
        lines = "\n".join(f"- {_who(ApprovedPerson(item.channel, item.user, item.name, ''))}" for item in waiting)
        return f"{shown}\n\n{texts.PEOPLE_WAITING(language, lines=lines)}"


def _who(person: ApprovedPerson) -> str:
    """A person as the owner recognises them: the name that they chose, and the id that is theirs alone."""
    return f"{person.name} ({person.channel} `{person.user}`)".strip()
