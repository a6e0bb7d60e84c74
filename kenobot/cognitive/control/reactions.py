"""Apply a person's reaction to the memories that a reply used: yes, no, or never forget that, in words or an emoji.

What is meant are records whose words the last reply used, or that the turn before taught; where several could be meant
and the reaction does not say which, only a yes applies to them, as a no would hit what is right.
"""

import contextlib
from collections.abc import Sequence
from datetime import datetime

from kenobot.cognitive.beliefs.lifecycle import apply_event
from kenobot.cognitive.beliefs.value import DEFAULT
from kenobot.cognitive.procedural.outcome import is_too_old
from kenobot.cognitive.recall.prompt.usage import records_behind_reply
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import feedback
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.feedback import LastExchange
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.reactions import Reaction, match_emoji, match_reaction
from kenobot.language.words import stems, terms, words
from kenobot.ports.identity import Principal
from kenobot.ports.memory_changes import ChangeContext, UndoError
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection


def apply_reaction(connection: Connection, session: str, text: str, principal: Principal, at: datetime) -> list[int]:
    """Apply what `text` says of the memories that the session's last reply used, inside the turn's transaction.

    Returns the records it was applied to. To be called before the turn itself is written. A guest speaks for what is
    theirs alone.
    """
    heard = match_reaction(text) if principal.trust in ("owner", "guest") else None
    last = feedback.last_exchange(connection, session) if heard is not None else None
    if heard is None or last is None or is_too_old(last.at, at, DEFAULT.reaction_hours):
        return []
    act = ChangeContext(at, principal.role, Sentence("reasons.they_said", words=text.strip()[:80]), session)
    return _apply(connection, heard, last, principal, act)


def apply_emoji(
    connection: Connection, session: str, emoji: str, inbox: int, principal: Principal, at: datetime, account: str = ""
) -> list[int]:
    """Apply an emoji that was put to the reply to an inbox row, inside a transaction; "" for one that was taken away.

    What an earlier one of theirs to the same reply did is undone. account: of the person, in a group. Returns the
    records that changed. One whose meaning is open, such as a laugh, says nothing.
    """
    last = feedback.exchange_of(connection, session, inbox)
    if principal.trust not in ("owner", "guest") or last is None or is_too_old(last.at, at, DEFAULT.reaction_hours):
        return []
    reach, changed = _reach(principal), []
    for event in feedback.find_applied(connection, session, _describe(account, inbox)):
        occasion = AdmitContext(at, at.date().isoformat(), principal.role, session)
        from kenobot.cognitive.control.undo import undo

        with contextlib.suppress(UndoError):  # it is undone already, or something changed since
            changed += [record.id for record in undo(connection, event, reach, occasion).after]
    kind = match_emoji(emoji)
    if kind is not None:
        act = ChangeContext(at, principal.role, _describe(account, inbox, emoji), session)
        changed += _apply(connection, Reaction(kind), last, principal, act)
    return changed


def _describe(account: str, reply: int, emoji: str = "") -> Sentence:
    """Return the reason of a decision for an emoji; without one, what the reasons of all to the reply begin with."""
    if not account:
        return Sentence("reasons.reacted", reply=reply, emoji=emoji)
    return Sentence("reasons.reacted_in_group", who=account, reply=reply, emoji=emoji)


def _reach(principal: Principal) -> tuple[str, ...]:
    return principal.read_scopes if principal.role == "owner" else (principal.write_scope,)


def _apply(
    connection: Connection, heard: Reaction, last: LastExchange, principal: Principal, act: ChangeContext
) -> list[int]:
    """Apply a reaction to what the reply of an exchange used, and what that taught; returns the records."""
    session, reach = act.session, _reach(principal)
    shown = records_behind_reply(connection, session, last.inbox)
    taught = dict(feedback.recently_learned(connection, session))
    known = store.by_ids(connection, list(dict.fromkeys([*shown, *taught])), reach)
    live = [record for record in known.values() if record.status == "active"]
    meant = _choose_meant(heard, [(record, taught.get(record.id, "") > last.since) for record in live], last)
    for record in meant:
        apply_event(connection, record, heard.kind, act)
    return [record.id for record in meant]


def _choose_meant(heard: Reaction, records: Sequence[tuple[Record, bool]], last: LastExchange) -> list[Record]:
    """Choose the records that are meant: whose words were used, and of several those that the reaction names.

    records: with whether the last turn taught them; of the others the reply itself must have said something.
    """
    both = f"{last.reply}\n{last.question}"
    used = {
        record.id: (_echo(record.text, both), record)
        for record, taught in records
        if _echo(record.text, both) >= DEFAULT.used_from_share and (taught or _echo(record.text, last.reply) > 0)
    }
    if heard.rest_words and len(used) > 1:
        said = set(terms(heard.rest_words))
        named = {number: found for number, found in used.items() if said & set(terms(found[1].text))}
        used = named or used
    if heard.kind == "confirmed":
        return [record for _, record in used.values()] if len(used) <= DEFAULT.max_confirmed_by_yes else []
    closest = max((echo for echo, _ in used.values()), default=0.0)
    meant = [record for echo, record in used.values() if echo == closest]
    return meant if len(meant) == 1 else []


def _echo(text: str, reply: str) -> float:
    """Measure the share of a record's words that the reply has, by their stems in either language."""
    own = [stems(word) for word in dict.fromkeys(_words(text))]
    heard = {stem for word in _words(reply) for stem in stems(word)}
    return sum(any(stem in heard for stem in word) for word in own) / len(own) if own else 0.0


def _words(text: str) -> list[str]:
    return [word for word in words(text) if word not in STOPWORDS]
