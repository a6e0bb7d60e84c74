"""`/pair` and `/people`: the owner lets people in, by their code or by a button, and revokes it."""

from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.gateway import pairing
from kenobot.gateway.buttons import Choice
from kenobot.gateway.pairing import OpenPairing, PairingResult
from kenobot.storage import approved_people
from kenobot.storage.approved_people import ApprovedPerson
from kenobot.storage.connection import Connection

_REVOKE = frozenset({"revoke", "revocar"})


def pair(connection: Connection, call: CommandCall, context: CommandContext) -> str:
    """`/pair CODE`: approve the person who was given the code."""
    if not call.arguments:
        return texts.PAIR_HOW(call.language)
    return _result_text(pairing.approve(connection, call.arguments, call.at, context.access.is_owner), call.language)


def ask_to_admit(connection: Connection, call: CommandCall, _: CommandContext) -> str | CommandAnswer:
    """Ask whether the owner knows that this is the person whose name they read. arguments: channel and account."""
    waiting = _waiting(connection, call)
    if waiting is None:
        return texts.PAIR_NOTHING(call.language)
    yes = Choice(texts.BUTTON_ADMIT_SURE(call.language), "admit", call.arguments)
    return CommandAnswer(
        texts.PAIR_SURE(call.language, who=_person_text(waiting)),
        ((yes, Choice(texts.BUTTON_TURN_AWAY(call.language), "turn_away", call.arguments)),),
    )


def admit(connection: Connection, call: CommandCall, context: CommandContext) -> str:
    """Approve the person who waits under this account."""
    account = _account(call)
    return _result_text(pairing.approve_account(connection, *account, call.at, context.access.is_owner), call.language)


def turn_away(connection: Connection, call: CommandCall, _: CommandContext) -> str:
    """Void the code of the person who waits under this account."""
    waiting = _waiting(connection, call)
    if waiting is None:
        return texts.PAIR_NOTHING(call.language)
    pairing.void_code(connection, *_account(call))
    return texts.PAIR_TURNED_AWAY(call.language, who=_person_text(waiting))


def _account(call: CommandCall) -> tuple[str, str]:
    channel, _, user = call.arguments.partition(" ")
    return channel, user


def _waiting(connection: Connection, call: CommandCall) -> OpenPairing | None:
    waiting = pairing.open_pairings(connection, call.at)
    return next((each for each in waiting if (each.channel, each.user) == _account(call)), None)


def _result_text(result: PairingResult, language: Language) -> str:
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


def show_people(connection: Connection, call: CommandCall, _: CommandContext) -> str | CommandAnswer:
    """`/people`: list approved and waiting people; `/people revoke [CHANNEL] ID`: revoke one."""
    people = approved_people.list_people(connection)
    word, *account = call.arguments.split()[:4] or [""]
    if word.lower() in _REVOKE:
        named = [person for person in people if account in ([person.user], [person.channel, person.user])]
        if len(named) != 1:
            return texts.PEOPLE_UNKNOWN(call.language)
        approved_people.revoke_person(connection, *named[0].account)
        return texts.PEOPLE_REVOKED(call.language, who=_person_text(named[0]))
    lines = "\n".join(f"- {_person_text(person)}" for person in people)
    parts = [texts.PEOPLE_SOME(call.language, lines=lines) if people else texts.PEOPLE_NONE(call.language)]
    waiting = pairing.open_pairings(connection, call.at)
    if waiting:
        lines = "\n".join(f"- {_person_text(person)}" for person in waiting)
        parts.append(texts.PEOPLE_WAITING(call.language, lines=lines))
    rows = (
        (Choice(texts.BUTTON_ADMIT(call.language, who=each.name), "ask_admit", f"{each.channel} {each.user}"),)
        for each in waiting
    )
    return CommandAnswer("\n\n".join(parts), tuple(rows))


def _person_text(person: ApprovedPerson | OpenPairing) -> str:
    """Name a person by the name that they chose and the id that is theirs alone."""
    return f"{person.name} ({person.channel} `{person.user}`)".strip()
