"""The person's reaction to a memory that the last reply used: yes, no, or never forget that.

What counts as a reaction is a short clause that says nothing else. A bare "no" answers a question, a question asks, and
a long text is about something else; when in doubt, it is no reaction. What is meant are records whose words the last
reply used, or that the turn before taught; where several could be meant and the reaction does not say which, only a
yes applies to them, as a no would hit what is right.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from kenobot.cognitive.beliefs.lifecycle import apply_event
from kenobot.cognitive.beliefs.value import DEFAULT
from kenobot.cognitive.policy.value import ValuePolicy
from kenobot.cognitive.procedural.outcome import folded_reply, is_too_old
from kenobot.cognitive.recall.usage import records_behind_reply
from kenobot.cognitive.store import feedback
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import ChangeContext
from kenobot.cognitive.store.feedback import LastExchange
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.stopwords import STOPWORDS
from kenobot.cognitive.text.words import stems, terms, words
from kenobot.ports.identity import Principal
from kenobot.storage.connection import Connection

ReactionKind = Literal["confirmed", "disputed", "pinned"]

_CLAUSE = re.compile(r"[,.;:!¡\n…—–]+|\s-+\s")
_FILLER = re.compile(
    r"(?:(?:yes|yeah|yep|yup|oh|ah|hm+|mm+|well|actually|sorry|hey|ok|okay|sure|wait|si|claro|vale|bueno"
    r"|uy|ay|eh|oye|pues|perdona|perdon|espera|lo siento|gracias|thanks|thank you)(?:\s+|$))*"
)
_NAY = re.compile(r"(?:(?:no|nope|nah)(?:\s+|$))+")
_THAT = r"(?:that|this|it|what you said|eso|esto|lo que (?:dices|has dicho|dijiste))"
_IS = r"(?:'s| is|s)"
_NOT = r"(?: isn't| isnt|'s not| is not|s not)"
_TRUE = r"(?:right|correct|true|accurate|exact)"
_VERDAD = r"(?:verdad|ciert[oa]|correct[oa]|asi|exact[oa])"
_NOW = r"(?: any ?more| any longer| now| at all| ahora)?"
_SINCE = r"(?: (?:because|since|as i|porque|ya que|desde)(?: .*)?)?"
_ABOUT_ME = r"(?: about me| de mi| sobre mi)?"

_YES = (
    rf"{_THAT}{_IS} (?:totally |absolutely |completely |exactly |still )?{_TRUE}{_ABOUT_ME}",
    r"(?:you're|you are|youre) (?:totally |absolutely |completely |quite )?right",
    r"(?:exactly|correct|precisely|indeed|spot on|absolutely right|quite right|that's it exactly|still true)",
    r"(?:exacto|exactamente|correcto|efectivamente|precisamente|asi es|eso es|eso mismo|tal cual|en efecto)",
    rf"(?:{_THAT} )?(?:es|sigue siendo) (?:totalmente |completamente )?{_VERDAD}",
    r"(?:tienes|tiene) (?:toda la )?razon|estas en lo cierto|(?:lo )?recuerdas bien|bien recordado|you remember well",
)
_NO = (
    rf"{_THAT}{_NOT} {_TRUE}{_ABOUT_ME}{_NOW}{_SINCE}",
    rf"{_THAT}{_IS} (?:totally |completely |just |all )?(?:wrong|incorrect|false|untrue|a mistake|outdated|out of date"
    rf"|not the case|no longer (?:true|right|the case|so|valid)){_ABOUT_ME}{_NOW}{_SINCE}",
    rf"{_THAT} (?:has changed|changed|was before|used to be so){_SINCE}",
    r"(?:you're|you are|youre) (?:wrong|mistaken)(?: about (?:that|this|me))?",
    r"you (?:got|have) (?:that|this|it) wrong|you (?:remember|misremember) (?:that |this |it )?(?:wrong|wrongly|badly)",
    r"i (?:never|didn't|did not) (?:say|said|tell you|told you) (?:that|this|so)",
    rf"(?:wrong|incorrect|not true|not correct|not any ?more|no longer true|no longer the case){_SINCE}",
    rf"(?:{_THAT} )?(?:ya )?no es {_VERDAD}{_NOW}{_SINCE}",
    rf"{_THAT} (?:esta (?:mal|equivocado|anticuado|desactualizado)|es (?:falso|mentira|incorrecto|un error)){_SINCE}",
    rf"{_THAT} (?:ya )?(?:cambio|ha cambiado|era antes|no vale|no se cumple){_SINCE}",
    r"(?:ahi |en eso )?te (?:equivocas|has equivocado|confundes|has confundido)|(?:estas|estabas) equivocad[oa]",
    r"(?:lo )?recuerdas mal|(?:yo )?(?:nunca|no) (?:he dicho|dije|te dije|te he dicho) eso|eso no lo (?:dije|he dicho)",
    r"incorrecto|falso|es falso",
)
_PIN = (
    r"(?:please )?(?:always remember|never forget) (?:that|this|it)",
    r"(?:please )?(?:remember|keep) (?:that|this|it)(?: in mind)? (?:always|forever|for ever|for good)",
    r"(?:please )?(?:pin (?:that|this|it)(?: memory)?|don't ever forget (?:that|this|it))(?: please)?",
    r"(?:por favor )?(?:recuerda (?:eso|esto)|recuerdalo|acuerdate de (?:eso|esto)|guarda (?:eso|esto)|guardalo)"
    r" (?:siempre|para siempre)",
    r"(?:por favor )?no (?:olvides (?:eso|esto)|lo olvides|te olvides de (?:eso|esto))(?: nunca| jamas)",
    r"(?:por favor )?(?:nunca|jamas) (?:olvides (?:eso|esto)|lo olvides|te olvides de (?:eso|esto))",
    r"(?:por favor )?(?:fija (?:eso|esto)|fijalo|ancla (?:eso|esto)|anclalo)(?: por favor)?",
)
_REACTIONS: tuple[tuple[ReactionKind, re.Pattern[str]], ...] = (
    ("disputed", re.compile("|".join(_NO))),
    ("pinned", re.compile("|".join(_PIN))),
    ("confirmed", re.compile("|".join(_YES))),
)
_BUT = re.compile(r"(?:but|though|except|however|only|pero|aunque|salvo|menos|solo que|sin embargo)\b")


@dataclass(frozen=True, slots=True)
class Reaction:
    """A reaction that was understood.

    `rest_words`: the rest of what was said with it, folded, to tell what is meant.
    """

    kind: ReactionKind
    rest_words: str = ""


def match_reaction(text: str) -> Reaction | None:
    """The reaction that `text` is, in Spanish or English; None when it is anything else. Pure."""
    folded = folded_reply(text)
    if folded is None or "?" in folded:
        return None
    clauses = [clause.strip() for clause in _CLAUSE.split(folded)]
    clauses = [bare for clause in clauses if (bare := _FILLER.sub("", clause, count=1).strip())]
    refuses = bool(clauses) and _NAY.fullmatch(clauses[0]) is not None
    said = clauses[1:] if refuses else clauses
    reaction = _reaction(said[0], refuses) if said else None
    return _weighed(reaction, said[0], said[1:], told=":" in folded) if reaction is not None else None


def apply_reaction(
    connection: Connection,
    session: str,
    text: str,
    principal: Principal,
    at: datetime,
    policy: ValuePolicy = DEFAULT,
) -> list[int]:
    """Apply what `text` says of the memories that the session's last reply used, inside the turn's transaction.

    Returns the records it was applied to. To be called before the turn itself is written. A guest speaks for what is
    theirs alone.
    """
    heard = match_reaction(text) if principal.trust in ("owner", "guest") else None
    last = feedback.last_exchange(connection, session) if heard is not None else None
    if heard is None or last is None or is_too_old(last.at, at, policy.reaction_hours):
        return []
    reach = principal.read_scopes if principal.role == "owner" else (principal.write_scope,)
    shown = records_behind_reply(connection, session, last.inbox)
    taught = dict(feedback.recently_learned(connection, session))
    known = store.by_ids(connection, list(dict.fromkeys([*shown, *taught])), reach)
    live = [record for record in known.values() if record.status == "active"]
    meant = _meant(heard, [(record, taught.get(record.id, "") > last.since) for record in live], last, policy)
    act = ChangeContext(at, principal.role, f"they said so: {text.strip()[:80]}", session)
    for record in meant:
        apply_event(connection, record, heard.kind, act, policy)
    return [record.id for record in meant]


def _reaction(clause: str, refuses: bool) -> ReactionKind | None:
    """What one clause says; after a no, and with one inside it, it can only be another no."""
    for reaction, pattern in _REACTIONS:
        if pattern.fullmatch(clause) and not (refuses and reaction == "confirmed"):
            return reaction
    bare = _NAY.sub("", clause, count=1) if _NAY.match(clause) else ""
    return "disputed" if bare and _REACTIONS[0][1].fullmatch(bare) else None


def _weighed(reaction: ReactionKind, said: str, rest: Sequence[str], *, told: bool) -> Reaction | None:
    """A yes with a but is no yes, and "never forget this: …" speaks of what follows."""
    if reaction == "confirmed" and any(_BUT.match(clause) for clause in rest):
        return None
    if reaction == "pinned" and told:
        return None
    _, _, reason = said.partition(" porque ") if " porque " in said else said.partition(" because ")
    return Reaction(reaction, " ".join([reason, *rest]).strip())


def _meant(
    heard: Reaction, records: Sequence[tuple[Record, bool]], last: LastExchange, policy: ValuePolicy
) -> list[Record]:
    """Which of the records are meant: those whose words were used, and of several those that the reaction names.

    records: with whether the last turn taught them; of the others the reply itself must have said something.
    """
    both = f"{last.reply}\n{last.question}"
    used = {
        record.id: (_echo(record.text, both), record)
        for record, taught in records
        if _echo(record.text, both) >= policy.used_from_share and (taught or _echo(record.text, last.reply) > 0)
    }
    if heard.rest_words and len(used) > 1:
        said = set(terms(heard.rest_words))
        named = {number: found for number, found in used.items() if said & set(terms(found[1].text))}
        used = named or used
    if heard.kind == "confirmed":
        return [record for _, record in used.values()] if len(used) <= policy.max_confirmed_by_yes else []
    closest = max((echo for echo, _ in used.values()), default=0.0)
    meant = [record for echo, record in used.values() if echo == closest]
    return meant if len(meant) == 1 else []


def _echo(text: str, reply: str) -> float:
    """The share of a record's words that the reply has, by their stems in either language."""
    own = [stems(word) for word in dict.fromkeys(_words(text))]
    heard = {stem for word in _words(reply) for stem in stems(word)}
    return sum(any(stem in heard for stem in word) for word in own) / len(own) if own else 0.0


def _words(text: str) -> list[str]:
    return [word for word in words(text) if word not in STOPWORDS]
