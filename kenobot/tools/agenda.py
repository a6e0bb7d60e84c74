"""Read the agenda, set reminders and cancel them."""

from datetime import date

from pydantic import Field

from kenobot.ports.plugin import NoSettings, Plugin
from kenobot.ports.tool import ToolArguments, ToolContext, ToolEffects

_READS = ToolEffects(reads_private=True, brings_untrusted=False, way_out=False, changes_outside=False)
_CHANGES = ToolEffects(
    reads_private=False, brings_untrusted=False, way_out=False, changes_outside=True, asks_first=True
)


class AgendaArguments(ToolArguments):
    first: date | None = Field(None, description="First day; without one: all that is open.")
    last: date | None = Field(None, description="Last day; without one: the first.")


class ReadAgenda:
    """Tells what is planned on days ahead, and what was done or said on days that are over."""

    name = "agenda"
    description = "Reminders, promises and appointments of days ahead; of days that are over, what was done and said."
    arguments = AgendaArguments
    effects = _READS

    async def run(self, arguments: AgendaArguments, turn: ToolContext) -> str:
        """Return the entries by day, with the numbers of reminders."""
        return await turn.agenda.show(arguments.first, arguments.last)


class RemindArguments(ToolArguments):
    text: str = Field(min_length=1, max_length=1000, description="What to say then, in the person's language.")
    when: str = Field(
        min_length=1,
        max_length=200,
        description='Where the person is: "2026-12-01T09:00", "in 2 hours", "every Monday at 9:00".',
    )


class Remind:
    """Sets a reminder in the chat of the turn."""

    name = "remind"
    description = "Set a reminder in this chat, once or again and again."
    arguments = RemindArguments
    effects = _CHANGES

    async def run(self, arguments: RemindArguments, turn: ToolContext) -> str:
        """Set it and return its number and its next time."""
        return await turn.agenda.remind(arguments.text, arguments.when)


class CancelArguments(ToolArguments):
    number: int = Field(ge=1, le=10**9, description="Its number, from the agenda.")


class CancelReminder:
    """Cancels a reminder by its number."""

    name = "cancel_reminder"
    description = "Cancel a reminder."
    arguments = CancelArguments
    effects = _CHANGES

    async def run(self, arguments: CancelArguments, turn: ToolContext) -> str:
        """Cancel it and return what it was."""
        return await turn.agenda.cancel(arguments.number)


agenda = Plugin(settings=NoSettings, build=lambda _settings, _context: ReadAgenda())
remind = Plugin(settings=NoSettings, build=lambda _settings, _context: Remind())
cancel_reminder = Plugin(settings=NoSettings, build=lambda _settings, _context: CancelReminder())
