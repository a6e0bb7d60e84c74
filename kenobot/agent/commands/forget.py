"""`/forget`, and the wishes of people who use plain words: what may need a question first, and the answer to it.

The question is a row of the database, so it outlives a restart. It is good for one hour, for the person whom it was
put to, and only until the conversation goes on: a later "yes" is an answer to something else.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from kenobot.agent.commands import forget_unextracted
from kenobot.agent.commands.forget_unextracted import Said
from kenobot.agent.commands.memory import Memory
from kenobot.agent.commands.memory_base import ByHand, Hands, clipped, listed, may, shown
from kenobot.agent.commands.memory_texts import tell
from kenobot.agent.commands.natural_language import Answer, answer, hear
from kenobot.agent.commands.registry import Command, Order
from kenobot.cognitive.control.find import seek, sure
from kenobot.cognitive.control.forget import Hidden, hide
from kenobot.cognitive.control.refs import looks_like_number
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.policy.control import HandsPolicy
from kenobot.cognitive.store import history
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Json, Record
from kenobot.core.i18n import Language
from kenobot.ports.identity import Principal
from kenobot.ports.messages import Inbound
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state, write_state


class Forget(ByHand):
    """`/forget NUMBER` or `/forget WORDS`: out of sight at once when it is certain what is meant; otherwise it asks.

    asking: ask even then, because nobody gave an order with a slash.
    """

    names = ("forget", "olvida")

    def __init__(self, hands: Hands, *, asking: bool = False, policy: HandsPolicy = DEFAULT.hands) -> None:
        super().__init__(hands)
        self._asking = asking
        self._policy = policy

    def run(self, connection: Connection, order: Order) -> str:
        language = self._hands.speak(order, self.names)
        if not order.rest:
            return tell("forget_how", language)
        reach = order.principal.reads
        number = looks_like_number(order.rest)
        if number is not None and not self._asking:
            record = store.get(connection, number, reach)
            if record is None or record.status != "active":
                return tell("forget_gone", language, number=number)
            return forgotten(connection, [record], order, self._hands, language)
        found = seek(connection, order.rest, reach, near=self._hands.near, policy=self._policy)
        said = forget_unextracted.find(connection, order.rest, order.inbound.session, reach, self._policy)
        if said is not None and not any(meant.exact or meant.share >= said.share for meant in found):
            if said.certain and not self._asking:
                return unsaid(connection, said, order.rest, order, self._hands, language)
            ask(connection, order, [], language, self._policy.patience, about=order.rest)
            return tell("forget_said", language, what=clipped(said.text))
        if not found:
            return tell("forget_none", language)
        certain = sure(found)
        if certain is not None and not self._asking:
            return forgotten(connection, [certain], order, self._hands, language)
        records = [certain] if certain is not None else [meant.record for meant in found]
        ask(connection, order, records, language, self._policy.patience)
        return tell("forget_one" if len(records) == 1 else "forget_which", language, lines=listed(records, language))


class Answered(ByHand):
    """What somebody says to the question that is open here."""

    names = ("answer", "respuesta")

    def run(self, connection: Connection, order: Order) -> str:
        said = answer(order.rest)
        question = _open(connection, order.inbound, order.at)
        language: Language = "es" if question and question["language"] == "es" else "en"
        language = self._hands.language or language
        if question is None or said is None:
            return tell("no_question", self._hands.language or order.language)
        if said == "no":
            close(connection, order.inbound.session)
            return tell("kept", language)
        if about := str(question.get("about") or ""):
            close(connection, order.inbound.session)
            return self._unsaid(connection, about, order, language)
        asked = _numbers(question["records"])
        chosen = _chosen(said, asked)
        records = store.by_ids(connection, chosen, order.principal.reads)
        live = [records[number] for number in chosen if number in records and records[number].status == "active"]
        if not chosen:
            known = store.by_ids(connection, asked, order.principal.reads)
            return tell("forget_which", language, lines=listed(list(known.values()), language))
        close(connection, order.inbound.session)
        if not live:
            return tell("forget_none", language)
        return forgotten(connection, live, order, self._hands, language)

    def _unsaid(self, connection: Connection, about: str, order: Order, language: Language) -> str:
        """Forget what was said; it may have been read for memories since the question."""
        reach = order.principal.reads
        said = forget_unextracted.find(connection, about, order.inbound.session, reach)
        if said is not None:
            return unsaid(connection, said, about, order, self._hands, language)
        found = seek(connection, about, reach, near=self._hands.near)
        if not found:
            return tell("forget_none", language)
        return forgotten(connection, [found[0].record], order, self._hands, language)


class TellAll(ByHand):
    """What is known about somebody who asks for it in plain words, or would have it all forgotten."""

    names = ("tell", "cuenta")

    def __init__(self, hands: Hands, *, forgetting: bool = False) -> None:
        super().__init__(hands)
        self._memory = Memory(hands)
        self._forgetting = forgetting

    def run(self, connection: Connection, order: Order) -> str:
        wish = hear(order.inbound.text)
        language = self._hands.language or (wish.language if wish is not None else order.language)
        if self._forgetting:
            return tell("forget_everything", language)
        return self._memory.overview(connection, order, language)


class PlainWords:
    """Hears wishes about memory that carry no slash; see `kenobot.agent.commands.registry.Listener`."""

    def __init__(self, hands: Hands) -> None:
        self._forget = _InPlainWords(hands)
        self._tell = TellAll(hands)
        self._everything = TellAll(hands, forgetting=True)
        self._answered = Answered(hands)

    def hears(self, inbound: Inbound, principal: Principal) -> tuple[Command, str] | None:
        """The wish that a message is, and nothing but that."""
        wish = hear(inbound.text)
        if wish is None or not may(principal, inbound):
            return None
        match wish.kind:
            case "tell":
                return self._tell, ""
            case "forget_all":
                return self._everything, ""
            case "forget":
                return self._forget, wish.about

    def may_answer(self, inbound: Inbound) -> bool:
        """Whether it is worth looking for an open question."""
        return not inbound.forwarded and answer(inbound.text) is not None

    def answers(
        self, connection: Connection, inbound: Inbound, principal: Principal, at: datetime
    ) -> tuple[Command, str] | None:
        """The answer that a message gives to an open question."""
        if not may(principal, inbound) or _open(connection, inbound, at) is None:
            return None
        return self._answered, inbound.text


class _InPlainWords(Forget):
    """As `/forget`, but it always asks, and in the language of the wish."""

    def __init__(self, hands: Hands) -> None:
        super().__init__(hands, asking=True)

    def run(self, connection: Connection, order: Order) -> str:
        wish = hear(order.inbound.text)
        if wish is None:
            return super().run(connection, order)
        return super().run(
            connection,
            Order(order.inbound, order.principal, order.rest, wish.language, order.at, order.message),
        )


# ── the deed ─────────────────────────────────────────────────────────────────────────────────────────────────────


def forgotten(connection: Connection, records: Sequence[Record], order: Order, hands: Hands, language: Language) -> str:
    """Take `records` out of sight, and say so."""
    names = [order.inbound.user_name] if order.inbound.user_name else []
    done = []
    for record in records:
        hidden = hide(
            connection, record.id, order.principal.reads, hands.occasion(order), names=names, reason="a person said so"
        )
        if hidden is not None:
            done.append(hidden)
    if not done:
        return tell("forget_none", language)
    lines = "\n".join(_line(connection, hidden, order, language) for hidden in done)
    if len(done) > 1:
        return tell("forgotten_several", language, lines=lines)
    return tell("forgotten", language, lines=lines, event=done[0].event)


def unsaid(connection: Connection, said: Said, about: str, order: Order, hands: Hands, language: Language) -> str:
    """Take out of sight what was said and not read yet, and say so."""
    number = forget_unextracted.learn(connection, said, about, hands.occasion(order), hands.zone)
    record = store.get(connection, number, order.principal.reads) if number is not None else None
    if record is None or record.status != "active":
        history.veil(connection, [said.turn.inbox] if said.turn.inbox is not None else [], number or 0)
        return tell("forgotten_said", language)
    return forgotten(connection, [record], order, hands, language)


def _line(connection: Connection, hidden: Hidden, order: Order, language: Language) -> str:
    line = tell("line", language, number=hidden.record.id, what=shown(hidden.record))
    turns = history.spoken(connection, order.inbound.session, hidden.turns)
    along = [tell("copies", language, count=len(hidden.copies))] if hidden.copies else []
    along += [tell("turns", language, count=turns)] if turns else []
    return tell("along", language, line=line, along=", ".join(along)) if along else line


# ── the question ─────────────────────────────────────────────────────────────────────────────────────────────────


def ask(
    connection: Connection,
    order: Order,
    records: Sequence[Record],
    language: Language,
    patience: timedelta,
    about: str = "",
) -> None:
    """Keep what was asked, for the next thing that this person says here. about: what was said and is no record yet."""
    question: dict[str, Json] = {
        "user": order.inbound.user,
        "records": [record.id for record in records],
        "until": store.stamp(order.at + patience),
        "after": history.last_message(connection, order.inbound.session),
        "language": language,
        "about": about,
    }
    write_state(connection, _key(order.inbound.session), json.dumps(question))


def close(connection: Connection, session: str) -> None:
    """No question is open here any more."""
    write_state(connection, _key(session), "{}")


def _open(connection: Connection, inbound: Inbound, at: datetime) -> dict[str, Json] | None:
    """The question that the sender of `inbound` may answer; None when there is none, or the talk has gone on."""
    question: dict[str, Json] = json.loads(read_state(connection, _key(inbound.session)) or "{}")
    if not question or question["user"] != inbound.user or str(question["until"]) <= store.stamp(at):
        return None
    return question if question["after"] == history.last_message(connection, inbound.session) else None


def _key(session: str) -> str:
    return f"question:{session}"


def _numbers(told: Json) -> list[int]:
    return [number for number in told if isinstance(number, int)] if isinstance(told, list) else []


def _chosen(said: Answer, asked: Sequence[int]) -> list[int]:
    """The records that an answer means; none when it does not say which of several."""
    if said == "all" or (said == "yes" and len(asked) == 1):
        return list(asked)
    if isinstance(said, frozenset):
        return [number for number in asked if number in said] if said <= set(asked) else []
    return []
