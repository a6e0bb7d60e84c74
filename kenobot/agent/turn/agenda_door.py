"""Read and change the speaker's agenda for the tools of a turn, by the rules of the orders in plain words."""

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from kenobot.language.dates import DateRange
from kenobot.ports.clock import Clock
from kenobot.ports.errors import ToolFailed
from kenobot.ports.frozen import dataclass
from kenobot.storage import claims
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

if TYPE_CHECKING:
    from kenobot.agent.turn.turn_data import TurnData
    from kenobot.language.when import Moment, Recurrence

_AHEAD = timedelta(days=366)
_NOTHING = "Nothing is noted for then."
_UNCLEAR = (
    'When is not clear: give one moment, such as "2026-12-01T09:00" or "tomorrow at 9:00", or a recurrence such as '
    '"every Monday at 9:00". If the person left it open, ask them.'
)


@dataclass(frozen=True, slots=True)
class TurnAgenda:
    """The agenda of the speaker of a turn. zone: of the settings."""

    database: Database
    clock: Clock
    zone: ZoneInfo
    data: "TurnData"

    async def show(self, first: date | None, last: date | None) -> str:
        """Tell what is planned on these days, or was done on them; all that is open without a day."""
        return await self.database.read(lambda connection: self._show(connection, first, last)) or _NOTHING

    def _show(self, connection: Connection, first: date | None, last: date | None) -> str:
        from kenobot.agenda import answers  # noqa: PLC0415 - not needed to start
        from kenobot.agenda.past_question import PastQuestion  # noqa: PLC0415
        from kenobot.language.question.agenda import AgendaQuestion  # noqa: PLC0415

        pending, now = self.data.pending, self.clock.now()
        account = "" if pending.inbound.private else pending.inbound.user
        zone = self._zone(connection)
        asker = answers.Asker(self.data.principal.read_scopes, pending.session, account, now, zone)
        today = asker.today
        begin = first or today
        end = max(begin, last or (begin if first else today + _AHEAD))
        asked: list[AgendaQuestion | PastQuestion] = []
        if begin <= today and first is not None:
            asked.append(PastQuestion("done", DateRange(begin, min(end, today))))
        if end >= today:
            asked.append(AgendaQuestion(DateRange(max(begin, today), end), undated=first is None))
        found = [answers.answer_question(connection, each, asker) for each in asked]
        told = (answers.render_answer(each, self.data.language, today, numbered=True) for each in found if each.entries)
        return "\n".join(told)

    async def remind(self, text: str, when: str) -> str:
        """Set a reminder in this chat, and tell when it comes."""
        return await self.database.write(lambda connection: self._remind(connection, text, when))

    def _remind(self, connection: Connection, text: str, when: str) -> str:
        from kenobot.agenda import jobs  # noqa: PLC0415
        from kenobot.agenda.job import JobError, NewJob, place_in  # noqa: PLC0415

        data, at, zone = self.data, self.clock.now(), self._zone(connection)
        claims.require_claim(connection, data.pending.id, data.attempt)
        meaning = _read(when, at.astimezone(zone).replace(tzinfo=None))
        place = place_in(data.pending.inbound, data.principal, data.language)
        new = NewJob(text, place, meaning, trust=data.principal.trust, origin=data.pending.id)
        try:
            job = jobs.add_job(connection, new, zone, at)
        except JobError as error:
            raise ToolFailed(error.words("en")) from error
        assert job.next_due is not None
        again = f", then by the rule {job.rule}" if job.rule else ""
        return f"Reminder {job.id} is set: {job.next_due.astimezone(zone):%A %Y-%m-%d %H:%M}{again}."

    async def cancel(self, number: int) -> str:
        """Cancel a reminder by its number."""
        return await self.database.write(lambda connection: self._cancel(connection, number))

    def _cancel(self, connection: Connection, number: int) -> str:
        from kenobot.agenda import jobs  # noqa: PLC0415
        from kenobot.agenda.job import JobError  # noqa: PLC0415

        job = jobs.load_job(connection, number, self.data.principal.read_scopes)
        if job is None or job.kind != "reminder":
            raise ToolFailed(f"There is no reminder {number}: the tool `agenda` tells their numbers.")
        try:
            jobs.cancel_job(connection, job, self.clock.now())
        except JobError as error:
            raise ToolFailed(error.words("en")) from error
        return f"Reminder {number} is cancelled: {job.text}"

    def _zone(self, connection: Connection) -> ZoneInfo:
        from kenobot.agenda.zones import zone_in_force  # noqa: PLC0415

        return zone_in_force(connection, self.zone, self.clock.now(), self.data.principal.role)


def _read(when: str, now: datetime) -> "Moment | Recurrence":
    """Read a moment or a recurrence as a model writes it. Raises ToolFailed."""
    from kenobot.language.when import Choice, Moment  # noqa: PLC0415
    from kenobot.language.when.read import read_when  # noqa: PLC0415

    try:
        moment = datetime.fromisoformat(when.strip())
    except ValueError:
        found = read_when(when, now)
        meaning = found.meaning if found is not None else None
        if meaning is None or isinstance(meaning, Choice):
            raise ToolFailed(_UNCLEAR) from None
        return meaning
    if moment.tzinfo is not None:
        raise ToolFailed("Give the time where the person is, without an offset.")
    return Moment(moment, has_time=len(when.strip()) > len("2026-12-01"))
