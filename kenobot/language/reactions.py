"""Match what a person says of the last reply: yes, no, or never forget that, in words or an emoji.

What counts as a reaction is a short clause that says nothing else. A bare "no" answers a question, a question asks, and
a long text is about something else; when in doubt, it is no reaction.
"""

from collections.abc import Sequence
from typing import Literal

from kenobot.core import lazy
from kenobot.language.lexicon import alternatives, load_phrases
from kenobot.language.outcomes import fold_reply
from kenobot.ports.frozen import dataclass

ReactionKind = Literal["confirmed", "disputed", "pinned"]

_KINDS: tuple[ReactionKind, ...] = ("disputed", "pinned", "confirmed")  # a no before a yes

_CLAUSE = lazy.regex(r"[,.;:!¡\n…—–]+|\s-+\s")
_FILLER = lazy.regex(rf"(?:(?:{alternatives('filler')})(?:\s+|$))*")
_NAY = lazy.regex(r"(?:(?:no|nope|nah)(?:\s+|$))+")
_PHRASES = {kind: lazy.regex(pattern) for kind, pattern in load_phrases("kenobot.language", "reactions.toml").items()}
# Of the emoji that a reply is reacted to with, those that can only mean one thing. Without their variants of colour.
_LIKED = frozenset("👍 👌 💯 ✅ ❤ 🔥 👏 🏆 🙏 🤝 🫡".split())
_DISLIKED = frozenset("👎 ❌ 💩 🤮 🤬 😡 🖕 🤡".split())
_VARIANTS = dict.fromkeys([0xFE0F, *range(0x1F3FB, 0x1F400)])
_BUT = lazy.regex(r"(?:but|though|except|however|only|pero|aunque|salvo|menos|solo que|sin embargo)\b")


@dataclass(frozen=True, slots=True)
class Reaction:
    """A reaction that was understood.

    `rest_words`: the rest of what was said with it, folded, to tell what is meant.
    """

    kind: ReactionKind
    rest_words: str = ""


def match_reaction(text: str) -> Reaction | None:
    """Match a reaction in Spanish or English; None for any other text."""
    folded = fold_reply(text)
    if folded is None or "?" in folded:
        return None
    clauses = [clause.strip() for clause in _CLAUSE.split(folded)]
    clauses = [bare for clause in clauses if (bare := _FILLER.sub("", clause, count=1).strip())]
    refuses = bool(clauses) and _NAY.fullmatch(clauses[0]) is not None
    said = clauses[1:] if refuses else clauses
    reaction = _reaction(said[0], refuses) if said else None
    return _weigh(reaction, said[0], said[1:], told=":" in folded) if reaction is not None else None


def match_emoji(emoji: str) -> ReactionKind | None:
    """Match an emoji that was put to a reply; None for one whose meaning is open, such as a laugh."""
    plain = emoji.translate(_VARIANTS)
    return "confirmed" if plain in _LIKED else "disputed" if plain in _DISLIKED else None


def _reaction(clause: str, refuses: bool) -> ReactionKind | None:
    """Match one clause; after a no, and with one inside it, it can only be another no."""
    for reaction in _KINDS:
        if _PHRASES[reaction].fullmatch(clause) and not (refuses and reaction == "confirmed"):
            return reaction
    bare = _NAY.sub("", clause, count=1) if _NAY.match(clause) else ""
    return "disputed" if bare and _PHRASES["disputed"].fullmatch(bare) else None


def _weigh(reaction: ReactionKind, said: str, rest: Sequence[str], *, told: bool) -> Reaction | None:
    """Drop a yes with a but, and "never forget this: …", which speaks of what follows."""
    if reaction == "confirmed" and any(_BUT.match(clause) for clause in rest):
        return None
    if reaction == "pinned" and told:
        return None
    _, _, reason = said.partition(" porque ") if " porque " in said else said.partition(" because ")
    return Reaction(reaction, " ".join([reason, *rest]).strip())
