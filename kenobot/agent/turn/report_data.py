"""Define the report of a message, and the question about a memory that it may end in."""

from dataclasses import field, replace
from datetime import datetime

from kenobot.agent.commands.command import one_line, time_ago_text
from kenobot.agent.prompt.runtime_block import escape_runtime_block, runtime_block
from kenobot.cognitive.memory import MemoryPack
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.language.changes.value_phrase import has_parts
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.provider import Block, Request
from kenobot.ports.records import Record


@dataclass(frozen=True, slots=True)
class ChangeQuestion:
    """Return whether a message takes the place of memory `old`. new: the memory made of the message, None without one.

    words: a fingerprint of what is new, by which the same pair is known. noted: what is to be noted of the message,
    where nothing was. clause: the one of `old` that is meant, "" for all of it. is_put: it is asked; else only both are
    shown together later. due: the day of what is noted, YYYY-MM-DD, "" for none.
    """

    old: Record
    new: int | None
    words: str
    noted: str
    clause: str = ""
    is_put: bool = True
    due: str = ""

    def text(self, at: datetime, language: Language) -> str:
        """Word the question."""
        age, what = time_ago_text(self.old.created, at, language), self.clause or self.old.text
        question = texts.CHANGE_QUESTION_LONG if has_parts(what) else texts.CHANGE_QUESTION
        return question(language, what=one_line(what), age=age)


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """The report of a message. decisions: what was admitted. found: the memories shown. change: to be asked about."""

    text: str = ""
    decisions: tuple[tuple[Candidate, Decision], ...] = ()
    found: MemoryPack = field(default_factory=MemoryPack)
    change: ChangeQuestion | None = None

    def add_to(self, request: Request) -> Request:
        """Return a request that ends with this report."""
        last = request.messages[-1]
        blocks = (*last.blocks, Block(runtime_block(escape_runtime_block(self.text))))
        return replace(request, messages=(*request.messages[:-1], replace(last, blocks=blocks)))
