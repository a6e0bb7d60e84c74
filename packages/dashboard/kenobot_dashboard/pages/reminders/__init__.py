"""The page *reminders*: reminders and promises that are due, and tasks in the background."""

from datetime import date, datetime, time
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Form, Path, Query, Response
from starlette.exceptions import HTTPException

from kenobot.agenda.say_time import say_rule
from kenobot.ports.identity import session_id
from kenobot.ports.sentences import Sentence
from kenobot_dashboard.names import read_names
from kenobot_dashboard.notes import UndoButton
from kenobot_dashboard.viewer import View, Viewer
from kenobot_http.api import agenda, memory, schedule, tools
from kenobot_http.api.paging import LARGEST_ID
from kenobot_http.api.schedule import NewReminder, Reminder

router = APIRouter(prefix="/reminders")

_PAGE: Final = 50
_AHEAD: Final = 90  # days of promises

Number = Annotated[int, Path(ge=1, le=LARGEST_ID)]
State = Literal["open", "all"]


@router.get("")
async def list_reminders(
    view: View, state: State = "open", cursor: Annotated[str, Query(pattern=r"^([1-9][0-9]{0,14})?$")] = ""
) -> Response:
    """List reminders, the promises of the coming weeks, and tasks."""
    page = await schedule.list_reminders(view.caller, state, _PAGE, cursor)
    due = await agenda.get_agenda(view.caller, None, _AHEAD, undated=True)
    sessions = {each.id: session_id(each.channel, each.chat) for each in page.items}
    return view.page(
        "reminders",
        sessions=sessions,
        names=await read_names(view, sessions.values()),
        reminders=[(each, _say_repeats(each, view)) for each in page.items],
        next=page.next,
        state=state,
        promises=[each for each in due.entries if each.kind == "memory"],
        tasks=await tools.list_tasks(view.caller),
    )


@router.post("")
async def add_reminder(
    view: View,
    text: Annotated[str, Form(min_length=1, max_length=1000)],
    when: Annotated[str, Form(max_length=200)] = "",
    day: Annotated[str, Form(max_length=10)] = "",
    hour: Annotated[str, Form(max_length=8)] = "",
) -> Response:
    """Add a reminder at a moment in words, or at a day and an hour."""
    wanted = _read_time(when.strip(), day, hour)
    await schedule.add_reminder(view.caller, NewReminder(text=text, **wanted))
    return view.go("/reminders", done="added", about=text)


@router.post("/{number}/cancel")
async def cancel_reminder(view: View, number: Number) -> Response:
    """End a reminder."""
    done = await schedule.cancel_reminder(view.caller, number)
    undo = UndoButton(f"/reminders/{number}/restore")
    return view.go("/reminders", done="cancelled", about=done.text, undo=undo)


@router.post("/{number}/restore")
async def restore_reminder(view: View, number: Number) -> Response:
    """Take back that a reminder was ended."""
    done = await schedule.restore_reminder(view.caller, number)
    return view.go("/reminders", done="restored", about=done.text)


@router.post("/promises/{number}/done")
async def note_done(view: View, number: Number) -> Response:
    """Note that what a memory says was to be done is done."""
    done = await agenda.note_done(view.caller, number)
    promise = await memory.get_memory(view.caller, number)
    return view.go("/reminders", done="kept", event=done.event, about=promise.text)


@router.post("/tasks/{number}/cancel")
async def cancel_task(view: View, number: Number) -> Response:
    """Cancel a task in the background."""
    await tools.cancel_task(view.caller, number)
    return view.go("/reminders", done="task_cancelled")


def _read_time(when: str, day: str, hour: str) -> dict[str, Any]:
    """Read when a reminder is to come, as the API takes it: in words, or by day and hour. Raises HTTPException.

    A day alone is read like its date in words, and so is an hour: what comes of them is the same in every chat.
    """
    if when or not (day or hour):
        if day or hour or not when:
            raise HTTPException(422, Sentence("api.one_time"))
        return {"when": when}
    try:
        if not (day and hour):
            return {"when": date.fromisoformat(day).isoformat() if day else f"{time.fromisoformat(hour):at %H:%M}"}
        return {"at": datetime.combine(date.fromisoformat(day), time.fromisoformat(hour))}
    except ValueError:
        raise HTTPException(422, Sentence("api.when_unclear")) from None


def _say_repeats(reminder: Reminder, view: Viewer) -> str:
    """Say how a reminder repeats; "" for once."""
    return say_rule(reminder.rule, datetime.fromisoformat(reminder.start), view.language) if reminder.rule else ""
