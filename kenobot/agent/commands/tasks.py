"""`/tasks`: list the tasks in the background and cancel one, by its number, its button or plain words."""

from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext, button_rows, duration_text
from kenobot.core import texts
from kenobot.core.i18n import Language, Text
from kenobot.gateway.buttons import Choice
from kenobot.language.words import fold
from kenobot.ports.tool import BACKGROUND
from kenobot.storage import tasks, tool_runs
from kenobot.storage.connection import Connection
from kenobot.storage.tasks import Task, TaskState

_MOST = 12  # that are listed
_CANCEL = frozenset(("cancel", "cancela", "cancelar", "stop", "para", "parar", "end"))
_STATES: dict[TaskState, Text] = {
    "queued": texts.TASK_STATE_QUEUED,
    "running": texts.TASK_STATE_RUNNING,
    "waiting": texts.TASK_STATE_WAITING,
    "done": texts.TASK_STATE_DONE,
    "failed": texts.TASK_STATE_FAILED,
    "cancelled": texts.TASK_STATE_CANCELLED,
}


def show_tasks(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """`/tasks`: list the newest tasks with their states; `/tasks cancel 3`: cancel one."""
    word, _, rest = fold(call.arguments.strip()).partition(" ")
    if word in _CANCEL:
        return _cancel_named(connection, call, rest.strip().removeprefix("#"))
    found = find_tasks(connection, call)[:_MOST]
    if not found:
        return (texts.TASKS_NONE if BACKGROUND in context.tools else texts.TASKS_OFF)(call.language)
    lines = [_line(connection, call, each) for each in reversed(found)]
    text = "\n".join([texts.TASKS_LIST(call.language), *(f"- {line}" for line in lines)])
    return CommandAnswer(text, _buttons([each for each in reversed(found) if each.is_open], call.language))


def cancel_that(connection: Connection, call: CommandCall, _: CommandContext) -> str | CommandAnswer:
    """Cancel a task by plain words; the arguments are its number, or nothing for the only one there is."""
    return _cancel_named(connection, call, call.arguments)


def press(connection: Connection, call: CommandCall, _: CommandContext) -> str:
    """Cancel the task whose button was pressed: who may press it, may. Its message then says so."""
    task = tasks.get_task(connection, int(call.arguments.partition(" ")[2]))
    return "" if task is None else _cancel(connection, call, task)


def find_tasks(connection: Connection, call: CommandCall) -> list[Task]:
    """Find the tasks that a person may see here, the newest first: their own, and in a group those of the group.

    The owner may see everybody's.
    """
    inbound, is_owner = call.inbound, call.principal.role == "owner"
    sender, session = "" if is_owner else inbound.user, "" if inbound.private else inbound.session
    return tasks.tasks_of(connection, inbound.channel, sender, session, 100)


def tell_did(connection: Connection, task: Task, language: Language) -> str:
    """Name the tools by which a task that comes to no end changed something; "" for none. Its steps are still there."""
    names = tasks.list_begun_calls(connection, task.inbox_id)
    return texts.TASK_DID(language, names=", ".join(f"`{name}`" for name in names)) if names else ""


def _cancel_named(connection: Connection, call: CommandCall, number: str) -> str | CommandAnswer:
    is_open = [each for each in find_tasks(connection, call) if each.is_open]
    if number:
        named = [each for each in is_open if str(each.id) == number]
        return _cancel(connection, call, named[0]) if named else texts.TASK_UNKNOWN(call.language, number=number[:20])
    own = [each for each in is_open if each.sender == call.inbound.user and each.session == call.inbound.session]
    if len(own or is_open) == 1:
        return _cancel(connection, call, (own or is_open)[0])
    if not is_open:
        return texts.TASKS_NONE(call.language)
    lines = [texts.TASK_WHICH(call.language), *(f"- {_line(connection, call, each)}" for each in reversed(is_open))]
    return CommandAnswer("\n".join(lines), _buttons(is_open[::-1], call.language))


def _cancel(connection: Connection, call: CommandCall, task: Task) -> str:
    did = tell_did(connection, task, call.language)
    if not tasks.cancel(connection, task, call.at):
        return texts.TASK_UNKNOWN(call.language, number=task.id)
    told = texts.TASK_CANCELLED(call.language, number=task.id, title=task.title)
    if call.inbound.kind == "action" and call.arguments.startswith("cancel "):  # in the place of its message
        tasks.note_shown(connection, task.id, 0)
    return "\n".join(filter(None, (told, did)))


def _line(connection: Connection, call: CommandCall, task: Task) -> str:
    steps = len(tool_runs.runs_of_turn(connection, task.inbox_id)) if task.state == "running" else 0
    span = duration_text(call.at - task.begun, call.language)
    state = _STATES[task.state](call.language, span=span, steps=steps)
    return texts.TASK_LINE(call.language, number=task.id, title=task.title, state=state)


def _buttons(open_tasks: list[Task], language: Language) -> tuple[tuple[Choice, ...], ...]:
    label = texts.BUTTON_CANCEL_THAT_TASK
    return button_rows(Choice(label(language, number=each.id), "task", f"listed {each.id}") for each in open_tasks)
