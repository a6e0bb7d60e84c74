"""The page *memories*: search by meaning and words, see where each is from, correct, forget and undo."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Form, Path, Query, Response
from pydantic import BaseModel, Field

from kenobot.cognitive.memory import Memory, SearchReport
from kenobot.ports.records import HistoryStep
from kenobot.storage.connection import Connection
from kenobot_dashboard.changes import list_attributes, word_changes
from kenobot_dashboard.fields import DAY, read_day
from kenobot_dashboard.names import read_names
from kenobot_dashboard.pages.memories.plot import plot_confidence
from kenobot_dashboard.viewer import LiveView, View, Viewer
from kenobot_http.api import browsing, memory
from kenobot_http.api.memory import NewMemory, Status, Undo
from kenobot_http.api.paging import LARGEST_ID

router = APIRouter(prefix="/memories")

FORMS: Final = ("note", "episode", "procedure", "profile", "entity", "summary", "scratchpad")
SOURCES: Final = ("tag", "extraction", "command", "edit", "import", "sleep")
OWNER_SUBJECT: Final = "owner"
STATUSES: Final = ("active", "superseded", "expired", "archived", "forgotten", "invalidated", "all")
_PAGE: Final = 30
_FOUND: Final = 40  # memories of a search, before the filters
_SUBJECTS: Final = 60  # that are offered
_LONGEST: Final = 4000
_EXCERPTS: Final = 5
_SMALL: Final = ("lifecycle", "boxed", "linked")
"""Steps of a history that change nothing of what a memory says."""
_WITHIN: Final = re.compile(r"/[a-z0-9/_-]*(?:\?[A-Za-z0-9=&_%.-]*)?")

MemoryNumber = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Words = Annotated[str, Form(min_length=1, max_length=_LONGEST)]


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory in a list. because: why a search found it; score: how well it fits, 0 to 1, None without a search."""

    id: int
    text: str
    form: str
    category: str
    subject: str
    origin: str
    status: str
    trust: str
    confidence: float
    created: str
    because: str = ""
    score: float | None = None


class Filters(BaseModel):
    """The fields of the search. q: what to search for; "" lists memories by day."""

    q: str = Field("", max_length=memory.LONGEST_QUESTION)
    form: str = Field("", max_length=200)
    subject: str = Field("", max_length=200)
    source: str = Field("", max_length=200)
    status: Status = "active"
    first: str = Field("", pattern=DAY)
    last: str = Field("", pattern=DAY)
    cursor: str = Field("", pattern=r"^([1-9][0-9]{0,14})?$")

    @property
    def given(self) -> dict[str, str]:
        """Return the fields that narrow the list, by name."""
        return self.model_dump(exclude={"cursor"}, exclude_defaults=True)

    @property
    def is_narrowed(self) -> bool:
        """Return whether more than the question narrows the list."""
        return bool(self.given.keys() - {"q"})

    def choose(self, subjects: Mapping[str, str]) -> browsing.MemoryFilter:
        """Return them as the API takes them. Raises HTTPException for a day that no calendar has.

        subjects: whom memories are about, by their name in small letters. Another name is looked for in the texts.
        """
        days = sorted(filter(None, (read_day(self.first), read_day(self.last))))
        name = self.subject.strip()
        subject = subjects.get(name.casefold(), "")
        return browsing.MemoryFilter(
            form=self.form,
            subject=subject,
            text="" if subject else name,
            source=self.source,
            first=days[0] if self.first else None,
            last=days[-1] if self.last else None,
        )


@router.get("")
async def list_memories(view: View, filters: Annotated[Filters, Query()]) -> Response:
    """Search memory by meaning and words, or list it, the newest first; filters narrow both."""
    caller = view.caller
    wanted = filters.choose(await _list_names(view) if filters.subject else {})
    report: SearchReport | None = None
    following = ""
    if question := filters.q.strip():
        report = await memory.search(caller, question, _FOUND)
        chosen = wanted.to_record_filter(() if filters.status == "all" else (filters.status,))
        shown = [
            _show(each.record, because=each.explain().sentence(with_steps=False), score=each.relevance)
            for each in report.memories
            if chosen.matches(each.record)
        ]
    else:
        page = await memory.list_memories(caller, wanted, filters.status, _PAGE, filters.cursor)
        shown, following = [_show(each) for each in page.items], page.next
    return view.page(
        "memories",
        shown=shown,
        report=report,
        excerpts=report.excerpts[:_EXCERPTS] if report is not None else (),
        next=following,
        filters=filters,
        forms=FORMS,
        sources=SOURCES,
        statuses=STATUSES,
    )


async def _list_names(view: Viewer) -> dict[str, str]:
    """List whom memories are about, by the names under which people look for them, in small letters."""
    found = {name.casefold(): name for name in await browsing.count_subjects(view.caller)}
    return found | {view.texts("")("the_owner"): OWNER_SUBJECT}


@router.get("/subjects")
async def list_subjects(view: LiveView) -> Response:
    """List whom memories are about, for the field that asks for it: counted only once it is used."""
    found = await browsing.count_subjects(view.caller)
    owner = view.texts("")("the_owner")
    names = [owner if name == OWNER_SUBJECT else name for name in [*found][:_SUBJECTS]]
    return view.page("memories", "subjects.html", subjects=names, notice=None)


@router.post("")
async def add_memory(view: View, text: Words) -> Response:
    """Remember a text as it stands."""
    done = await memory.remember(view.caller, NewMemory(text=text))
    return view.go(f"/memories/{done.memory}", done="remembered", event=done.event, about=text)


@router.post("/undo")
async def undo_change(
    view: View, event: Annotated[int, Form(ge=1, le=LARGEST_ID)], back: Annotated[str, Form(max_length=200)] = ""
) -> Response:
    """Take back a decision about memory. back: the path of a page to return to, else that of the memory."""
    done = await memory.undo(view.caller, Undo(event=event))
    path = back if _WITHIN.fullmatch(back) else f"/memories/{done.memory}"
    alive = await memory.get_memory(view.caller, done.memory)
    return view.go(path.partition("?")[0], done="undone", event=done.event, about=alive.text)


@router.get("/{number}")
async def show_memory(view: View, number: MemoryNumber) -> Response:
    """Show a memory with its evidence, links, history and how sure it was over time."""
    found = await memory.get_memory(view.caller, number)
    reach = view.caller.reach

    def read(connection: Connection) -> tuple[list[HistoryStep], frozenset[int]]:
        steps = Memory.history.list_steps(connection, number, reach)
        return steps, Memory.history.select_undoable(connection, (step.event for step in steps), reach)

    history, undoable = await view.services.database.read(read)
    t, f = view.texts("memories"), view.formats
    small = [step for step in history if step.kind in _SMALL and not step.changes]
    steps = [(step, word_changes(step.changes, t, f)) for step in history if step not in small]
    return view.page(
        "memories",
        "memory.html",
        memory=found,
        history=steps,
        undoable=undoable,
        small_steps=small,
        plot=plot_confidence(found.confidences, _find_end(history) or view.now),
        attributes=list_attributes(found.attributes, t, f),
        names=await read_names(view, [each.session for each in found.said]),
    )


def _find_end(history: Sequence[HistoryStep]) -> datetime | None:
    """Return when a memory ceased to hold; None for one that holds."""
    for step in history:
        for column, _, after in step.changes:
            if column == "status":
                return None if after == "active" else datetime.fromisoformat(step.at)
    return None


@router.post("/{number}/correct")
async def correct_memory(view: View, number: MemoryNumber, text: Words) -> Response:
    """Put other words in the place of a memory."""
    before = await memory.get_memory(view.caller, number)
    done = await memory.correct(view.caller, number, NewMemory(text=text))
    return view.go(f"/memories/{done.memory}", done="corrected", event=done.event, about=before.text)


@router.post("/{number}/forget")
async def forget_memory(view: View, number: MemoryNumber) -> Response:
    """Forget a memory with what repeats it."""
    before = await memory.get_memory(view.caller, number)
    done = await memory.forget_memory(view.caller, number)
    return view.go("/memories", done="forgotten", event=done.event, about=before.text)


def _show(record: object, *, because: str = "", score: float | None = None) -> Shown:
    """Return a memory of the API, or a record, as lists show it."""
    names = [name for name in Shown.__slots__ if name not in ("because", "score")]
    return Shown(**{name: getattr(record, name) for name in names}, because=because, score=score)
