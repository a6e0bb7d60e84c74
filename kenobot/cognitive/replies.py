"""Record the lessons of a finished turn: the memories it was shown, its grade, and reactions to it."""

from datetime import datetime

from kenobot.cognitive.control import reactions
from kenobot.cognitive.procedural import outcome
from kenobot.cognitive.recall.prompt import usage
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.language import outcomes
from kenobot.language.reactions import match_reaction
from kenobot.language.reply_grade import grade_reply
from kenobot.ports.identity import Principal
from kenobot.ports.memory import Candidate, Decision
from kenobot.storage.connection import Connection


class Replies:
    """Note what replies were made of and how they were taken; inside the transaction of their turn."""

    @staticmethod
    def admit(connection: Connection, candidate: Candidate, occasion: AdmitContext) -> Decision:
        """Admit what a reply noted; one that cannot be written is discarded, and costs nothing else."""
        from kenobot.cognitive.remember.fact_candidates import admit_isolated

        return admit_isolated(connection, candidate, occasion)

    log_usage = staticmethod(usage.log_usage)
    """Note which memories a reply was shown."""

    grade = staticmethod(grade_reply)
    """Grade a reply by its words."""

    @staticmethod
    def is_reaction(text: str) -> bool:
        """Return whether a message says how the last reply was, or what came of it."""
        return match_reaction(text) is not None or outcomes.detect_outcome(text) is not None

    @staticmethod
    def react(connection: Connection, session: str, text: str, principal: Principal, at: datetime) -> list[int]:
        """Follow a reaction in words; return the events."""
        reacted = reactions.apply_reaction(connection, session, text, principal, at)
        return reacted + outcome.apply_outcome(connection, session, text, principal, at, reacted)

    react_by_emoji = staticmethod(reactions.apply_emoji)
    """Follow a reaction by an emoji to the answer of an inbox row; return the events."""
