"""Record the lessons of a finished turn: the memories it was shown, its grade, and reactions to it."""

from collections.abc import Sequence
from datetime import datetime

from kenobot.cognitive.control import reactions
from kenobot.cognitive.procedural import outcome
from kenobot.cognitive.recall.prompt import usage
from kenobot.cognitive.recall.results.memory import MemoryPack
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.fact_candidates import admit_isolated
from kenobot.language import outcomes
from kenobot.language.reply_grade import grade_reply
from kenobot.ports.identity import Principal
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.turns import ReplyGrade
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes


class Replies:
    """Note what replies were made of and how they were taken; inside the transaction of their turn."""

    @staticmethod
    def admit(connection: Connection, candidate: Candidate, occasion: AdmitContext) -> Decision:
        """Admit what a reply noted; one that cannot be written is discarded, and costs nothing else."""
        return admit_isolated(connection, candidate, occasion)

    @staticmethod
    def log_usage(
        connection: Connection, shown: MemoryPack, inbox: int, session: str, at: datetime, reach: Scopes
    ) -> None:
        """Note which memories a reply was shown."""
        usage.log_usage(connection, shown, inbox, session, at, reach)

    @staticmethod
    def grade(reply: str, asked: str, shown: Sequence[str]) -> ReplyGrade:
        """Grade a reply by its words."""
        return grade_reply(reply, asked, shown)

    @staticmethod
    def is_reaction(text: str) -> bool:
        """Return whether a message says how the last reply was, or what came of it."""
        return reactions.match_reaction(text) is not None or outcomes.detect_outcome(text) is not None

    @staticmethod
    def react(connection: Connection, session: str, text: str, principal: Principal, at: datetime) -> list[int]:
        """Follow a reaction in words; return the events."""
        reacted = reactions.apply_reaction(connection, session, text, principal, at)
        return reacted + outcome.apply_outcome(connection, session, text, principal, at, reacted)

    @staticmethod
    def react_by_emoji(
        connection: Connection,
        session: str,
        emoji: str,
        inbox: int,
        principal: Principal,
        at: datetime,
        account: str = "",
    ) -> list[int]:
        """Follow a reaction by an emoji to the answer of an inbox row; return the events."""
        return reactions.apply_emoji(connection, session, emoji, inbox, principal, at, account)
