"""Begin tasks in the background, and what their turns differ by from those of messages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from kenobot.agent.turn import tool_consent
from kenobot.agent.turn.pieces import ToolRound
from kenobot.agent.turn.task_run import TaskSeed
from kenobot.agent.turn.turn_data import TurnData
from kenobot.core import texts
from kenobot.core.redaction import Redactor, escape_controls
from kenobot.gateway.bot_messages import render
from kenobot.gateway.buttons import Choice, Pressers, add_buttons
from kenobot.ports.channel import Capabilities, Channel, capabilities_of
from kenobot.ports.messages import Button, MessagePart, Outbound
from kenobot.ports.provider import Reply, ToolCall, ToolResult
from kenobot.ports.tool import BACKGROUND
from kenobot.storage import inbox, outbox, tasks, turn_steps
from kenobot.storage.connection import Connection
from kenobot.storage.tasks import Task

MOST_OPEN = 10  # tasks of one account

_SHOWN_PART = -4  # of the work of a task: the message that tells how far it is
_QUESTION_PART = 1000  # and the first of its questions, behind all parts of its result
_LONGEST_TITLE = 100
_TASK = (
    'This is the background, and you are task {number}, "{title}". Nobody waits here, and the chat goes on beside you. '
    "Do what was asked for with your tools, to the end, and give the result as your answer; nothing comes after it."
)
_REFUSED = "Not run: the owner said no to this call. Do without it, or end with what you have."
_CALL = "background-0"


class TaskWaits(Exception):
    """A call of a task has to be put to the owner first. number: the step of the call."""

    def __init__(self, call: ToolCall, told: str, number: int) -> None:
        super().__init__(told)
        self.call, self.told, self.number = call, told, number


# ── beginning ────────────────────────────────────────────────────────────────────────────────────────────────────


def find_seed(rounds: Sequence[ToolRound], redact: Redactor) -> TaskSeed | None:
    """Return what the task begins with that the model wants begun: all that its turn did; None where it wants none."""
    if not any(_begins(call, result) for each in rounds for call, result in _pairs(each)):
        return None
    return TaskSeed(tuple(_without_secrets(each, redact) for each in rounds))


def _pairs(each: ToolRound) -> Iterator[tuple[ToolCall, ToolResult]]:
    return zip(each.calls, each.results, strict=True)


def _begins(call: ToolCall, result: ToolResult) -> bool:
    return call.name == BACKGROUND and not result.failed


def _without_secrets(each: ToolRound, redact: Redactor) -> ToolRound:
    return each._replace(pieces=tuple(replace(piece, text=redact.redact_known(piece.text)) for piece in each.pieces))


def begin_task(
    connection: Connection, data: TurnData, seed: TaskSeed, channels: Mapping[str, Channel], at: datetime
) -> list[Outbound]:
    """Begin a task inside the transaction of the turn that it comes from; return the message that shows it.

    Its prompt is that of the message, with the rounds that the turn had, in which the call that began it says where it
    is now. Where those are none, the person asked for it by words, and the message is the answer.
    """
    pending, asked = data.pending, data.pending.inbound
    title = make_title(asked.text)
    inbound = replace(
        asked,
        kind="task",
        external_id=f"task:{pending.id}",
        target=asked.platform_id or asked.target,
        platform_id="",
        value="",
        trace="",
        sent_at=at,
        may_repeat=False,
    )
    message = inbox.add_task_message(connection, inbound, pending.id, f"task-{pending.id}", at)
    if message is None:
        return []
    number = tasks.add_task(connection, message, pending.id, title, data.language)
    rounds = list(seed.rounds) or [ToolRound((_make_call(),), (ToolResult(_CALL, ""),))]
    told = _TASK.format(number=number, title=title)
    _write_rounds(connection, message, [_tell_task(each, told) for each in rounds], at)
    return _show(connection, data, number, message, channels, at, is_answer=not seed.rounds)


def move_turn(connection: Connection, data: TurnData, asked_by: int, at: datetime) -> bool:
    """Make the turn under way a task, inside a transaction; the message that asked for it shows it in its own turn."""
    pending = data.pending
    if tasks.count_open(connection, pending.inbound.user) >= MOST_OPEN:
        return False
    if not tasks.move_message(connection, pending.id, data.attempt):
        return False
    title = make_title(pending.inbound.text)
    number = tasks.add_task(connection, pending.id, asked_by, title, data.language)
    if not turn_steps.load_steps(connection, pending.id):
        told = ToolResult(_CALL, _TASK.format(number=number, title=title))
        _write_rounds(connection, pending.id, [ToolRound((_make_call(),), (told,))], at)
    data.calls.write(connection)
    return True


def show_task(
    connection: Connection, data: TurnData, task: Task, channels: Mapping[str, Channel], at: datetime
) -> list[Outbound]:
    """Show a task in the answer to the message that asked for it, inside the transaction of that."""
    return _show(connection, data, task.id, task.inbox_id, channels, at, is_answer=True)


def make_title(text: str) -> str:
    """Name a task by the beginning of what is asked for."""
    line = escape_controls(" ".join(text.split()))
    return line if len(line) <= _LONGEST_TITLE else f"{line[: _LONGEST_TITLE - 1].rstrip()}…"


def _make_call() -> Reply:
    return Reply("", "tool_use", calls=(ToolCall(_CALL, BACKGROUND, {}),))


def _tell_task(each: ToolRound, told: str) -> ToolRound:
    """Answer the calls of a round that begin a task with what is to be known in it."""
    results = (replace(result, text=told) if _begins(call, result) else result for call, result in _pairs(each))
    return each._replace(results=tuple(results))


def _write_rounds(connection: Connection, message: int, rounds: Sequence[ToolRound], at: datetime) -> None:
    number = 0
    for each in rounds:
        for piece in each.pieces:
            turn_steps.append_step(connection, message, number, piece, at)
            number += 1
        for result in each.results:
            turn_steps.append_step(connection, message, number + 1, result, at)
            number += 2


def _show(
    connection: Connection,
    data: TurnData,
    number: int,
    message: int,
    channels: Mapping[str, Channel],
    at: datetime,
    *,
    is_answer: bool,
) -> list[Outbound]:
    inbound, task = data.pending.inbound, tasks.get_task(connection, number)
    assert task is not None
    limits = _limits(channels, inbound.channel)
    if not (is_answer or limits.edits):
        return []
    parts: Sequence[MessagePart] = (_render(channels, task, _open_words(task, texts.TASK_BEGUN(task.language))),)
    if limits.buttons:
        cancel = Choice(texts.BUTTON_CANCEL_TASK(task.language), "task", f"cancel {number}")
        pressers = Pressers(inbound.channel, inbound.chat, (inbound.user,), owner=True)
        parts = add_buttons(connection, parts, ((cancel,),), pressers, task.language, at)
    to = outbox.Destination(
        inbound.channel, inbound.chat, f"task-{number}", message, _SHOWN_PART, thread=inbound.thread
    )
    sent = outbox.enqueue(connection, data.destination() if is_answer else to, parts, at)
    if limits.edits:
        tasks.note_shown(connection, number, sent[0].id, parts[0].buttons[0][0].value if limits.buttons else "")
    return sent


def _render(channels: Mapping[str, Channel], task: Task, words: str) -> MessagePart:
    """Render the message of a task: an address in its title, which may be another's, is not opened thereby."""
    return replace(render(channels, task.channel, words)[0], has_previews=False)


def _limits(channels: Mapping[str, Channel], channel: str) -> Capabilities:
    return capabilities_of(channels[channel]) if channel in channels else Capabilities()


def _open_words(task: Task, line: str) -> str:
    return f"{texts.TASK_OPEN(task.language, **_names(task))}\n{line}"


def _names(task: Task) -> dict[str, object]:
    return {"number": task.id, "title": task.title.replace("`", "'")}


# ── telling ──────────────────────────────────────────────────────────────────────────────────────────────────────


def show_progress(
    connection: Connection, number: int, steps: int, tool: str, channels: Mapping[str, Channel], at: datetime
) -> list[Outbound]:
    """Tell in the message of a task how far it is, unless the last change is still on its way."""
    task = tasks.get_task(connection, number)
    if task is None or not task.shown or not task.is_open:
        return []
    shown, is_free = tasks.follow_shown(connection, task)
    if not is_free:
        return []
    words = _open_words(task, texts.TASK_AT_WORK(task.language, steps=steps, tool=tool))
    return _change(connection, replace(task, shown=shown), words, channels, at, has_button=True)


def show_end(connection: Connection, task: Task, channels: Mapping[str, Channel], at: datetime) -> list[Outbound]:
    """Tell in the message of a task that it is over; nothing changes it after that."""
    words = {"done": texts.TASK_DONE, "cancelled": texts.TASK_CANCELLED}.get(task.state, texts.TASK_FAILED)
    shown, _ = tasks.follow_shown(connection, task)
    changed = _change(
        connection, replace(task, shown=shown), words(task.language, **_names(task)), channels, at, has_button=False
    )
    tasks.note_shown(connection, task.id, 0)
    return changed


def _change(
    connection: Connection, task: Task, words: str, channels: Mapping[str, Channel], at: datetime, *, has_button: bool
) -> list[Outbound]:
    part = _render(channels, task, words)
    if has_button and task.button:
        part = replace(part, buttons=((Button(texts.BUTTON_CANCEL_TASK(task.language), task.button),),))
    to = outbox.Destination(task.channel, task.chat, f"task-{task.id}", thread=task.thread, changes=task.shown)
    sent = outbox.enqueue(connection, to, [part], at)
    tasks.note_change(connection, task.id, sent[0].id)
    return sent


# ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────


def ask_for_task(
    connection: Connection, data: TurnData, held: TaskWaits, channels: Mapping[str, Channel], at: datetime
) -> list[Outbound]:
    """Put a call of a task to the owner, inside a transaction, and have the task wait; return the question."""
    assert data.task is not None
    inbound, task = data.pending.inbound, tasks.get_task(connection, data.task.task.id)
    if task is None or task.state != "running":  # cancelled meanwhile, or its claim withdrawn
        return []
    data.held_back = held.call, held.told
    choices = tool_consent.ask(connection, data, at, {"task": task.id, "step": held.number})
    words = f"{texts.TASK_ASKS(task.language, **_names(task))}\n\n{tool_consent.question(data)}"
    parts: Sequence[MessagePart] = render(channels, inbound.channel, words)
    if _limits(channels, inbound.channel).buttons:
        pressers = Pressers(inbound.channel, inbound.chat, (inbound.user,))
        parts = add_buttons(connection, parts, (choices,), pressers, task.language, at)
    tasks.wait_for(connection, task, int(choices[0].arguments.partition(" ")[2]))
    data.calls.write(connection)
    quiet = [replace(part, has_previews=False) for part in parts]
    return outbox.enqueue(connection, data.destination(_QUESTION_PART + held.number), quiet, at)


def answer_for_task(connection: Connection, data: TurnData, answer: tool_consent.ConsentAnswer, at: datetime) -> str:
    """Follow the owner's answer about a call of a task, inside a transaction; return what they are told."""
    asked = tool_consent.find_asked(connection, data, at)
    number = asked.payload.get("task") if asked is not None else None
    task = tasks.get_task(connection, number) if isinstance(number, int) else None
    if asked is None or task is None or task.state != "waiting" or task.asked != asked.id:
        return texts.TOOL_OVER(data.language)
    call = tool_consent.close_asked(connection, asked, answer, at)
    if call is not None:
        tasks.go_on(connection, task, tool_consent.describe_call(call))
        return texts.TASK_GOES_ON(data.language, **_names(task))
    step = asked.payload["step"]
    assert isinstance(step, int)
    refused = ToolResult(str(asked.payload["id"]), _REFUSED, failed=True)
    turn_steps.append_step(connection, task.inbox_id, step + 1, refused, at)
    tasks.go_on(connection, task)
    return texts.TASK_WITHOUT(data.language, **_names(task))
