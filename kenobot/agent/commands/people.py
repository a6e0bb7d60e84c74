"""`/pair` and `/people`: the owner, in a private chat, lets people in and puts them out."""

from collections.abc import Callable

from kenobot.agent.commands.registry import Order
from kenobot.core.i18n import Language, say
from kenobot.gateway import pairing
from kenobot.gateway.access import Access
from kenobot.ports.identity import OWNER_SCOPE, Principal
from kenobot.ports.messages import Inbound
from kenobot.storage import approved_people
from kenobot.storage.approved_people import Person
from kenobot.storage.connection import Connection

_REVOKE = frozenset({"revoke", "revocar"})


def _is_owner_alone(principal: Principal) -> bool:
    return OWNER_SCOPE in principal.reads


def _language(order: Order, spanish: str) -> Language:
    """Who uses the Spanish name of a command wants a Spanish answer; a code and an id speak no language."""
    return "es" if order.inbound.text.strip().lower().startswith(f"/{spanish}") else "en"


class Pair:
    """`/pair CODE`.

    changed: called when the turn's transaction has something to say about who is let in. language: of the answers;
    None goes by the name that the command is called by.
    """

    names = ("pair", "emparejar")

    def __init__(self, access: Access, changed: Callable[[], None], language: Language | None = None) -> None:
        self._access = access
        self._changed = changed
        self._language = language

    def may(self, principal: Principal, inbound: Inbound) -> bool:
        return _is_owner_alone(principal)

    def run(self, connection: Connection, order: Order) -> str:
        language = self._language or _language(order, self.names[1])
        if not order.rest:
            return say("pair_how", language)
        verdict = pairing.approve(connection, order.rest, order.at, self._access.is_owner)
        self._changed()
        match verdict.kind:
            case "approved":
                assert verdict.person is not None
                return say("pair_done", language, who=_who(verdict.person))
            case "wrong":
                return say("pair_wrong", language, left=verdict.left)
            case "locked":
                return say("pair_locked", language)
            case "nothing":
                return say("pair_nothing", language)


class People:
    """`/people` shows whom the owner let in and who waits for it; `/people revoke [CHANNEL] ID` puts somebody out.

    changed, language: see `Pair`.
    """

    names = ("people", "personas")

    def __init__(self, changed: Callable[[], None], language: Language | None = None) -> None:
        self._changed = changed
        self._language = language

    def may(self, principal: Principal, inbound: Inbound) -> bool:
        return _is_owner_alone(principal)

    def run(self, connection: Connection, order: Order) -> str:
        language = self._language or _language(order, self.names[1])
        known = approved_people.everybody(connection)
        word, *account = order.rest.split()[:4] or [""]
        if word.lower() in _REVOKE:
            found = [person for person in known if account in ([person.user], [person.channel, person.user])]
            if len(found) != 1:
                return say("people_unknown", language)
            approved_people.put_out(connection, *found[0].account)
            self._changed()
            return say("people_revoked", language, who=_who(found[0]))
        lines = "\n".join(f"- {_who(person)}" for person in known)
        shown = say("people_some", language, lines=lines) if known else say("people_none", language)
        waiting = pairing.waiting(connection, order.at)
        if not waiting:
            return shown
        lines = "\n".join(f"- {_who(Person(item.channel, item.user, item.name, ''))}" for item in waiting)
        return f"{shown}\n\n{say('people_waiting', language, lines=lines)}"


def _who(person: Person) -> str:
    """A person as the owner recognises them: the name that they chose, and the id that is theirs alone."""
    return f"{person.name} ({person.channel} `{person.user}`)".strip()
