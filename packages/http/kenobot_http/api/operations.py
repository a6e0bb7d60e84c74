"""Routes of the bot's own state: health and figures, sleep, messages that came to no end, and what models cost."""

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from kenobot import __version__
from kenobot.agent.answer_stats import as_json, read_stats
from kenobot.app.bot_services import BotServices
from kenobot.cognitive.memory import Memory, Nights
from kenobot.core.health import State
from kenobot.core.percentiles import distribution
from kenobot.core.status_report import CauseRow, StatusReport
from kenobot.language.calendar import local_day
from kenobot.ledger.prices import PICODOLLARS
from kenobot.ports.sentences import Sentence
from kenobot.storage import dead_letters, message_status, model_calls, turn_stats
from kenobot.storage.connection import Connection
from kenobot.storage.dead_letters import DeadLetterId, LetterOutcome, LetterState
from kenobot.storage.model_calls import Spending
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.turn_stats import StatsGroup
from kenobot_http.api.auth import CostReader, HealthReader, MailKeeper, SleepKeeper
from kenobot_http.api.metrics import metrics_text
from kenobot_http.api.moments import Day
from kenobot_http.api.paging import LARGEST_ID
from kenobot_http.api.services import Caller

router = APIRouter(prefix="/v1", tags=["operations"])

LetterId = Annotated[str, Path(pattern=r"^(in|out)-[1-9][0-9]{0,17}$")]
_METRICS: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
_LATELY = timedelta(hours=1)  # whose answers' times are told
_REFUSALS: dict[LetterOutcome, tuple[int, str]] = {
    "missing": (404, "http.not_found"),
    "busy": (409, "api.letter_busy"),
    "unreadable": (409, "api.letter_unreadable"),
}


class Health(BaseModel):
    """The state of the bot. unfinished: messages accepted and not done. messages: of the last week, by state.

    causes: what is wrong. since: when the state began.
    """

    state: State
    since: str
    causes: tuple[CauseRow, ...]
    version: str
    started: str
    now: str
    channels: list[str]
    unfinished: int
    messages: dict[str, int]
    memories: dict[str, int]


class Times(BaseModel):
    """Percentiles of a time, in milliseconds. measured: how many times there are."""

    measured: int
    p50: int
    p95: int
    p99: int
    longest: int


class GroupOfAnswers(BaseModel):
    """The answers of a day, an hour, a channel or a model. times: of whole answers; phases: of what they went into."""

    name: str
    turns: int
    retries: int
    tokens_in: int
    tokens_out: int
    times: Times
    phases: dict[str, Times]


class MessagesByEnd(BaseModel):
    """Messages that came in. waiting: without an end yet. ends: by what became of them. days: of how many it counts."""

    received: int
    waiting: int
    ends: dict[str, int]
    failure_rate: float
    days: int


class ModelsInAll(BaseModel):
    calls: int
    tokens: int
    usd: float


class AnswerTimes(BaseModel):
    """Sum up the seconds that answers took. all: null without any answer."""

    days: int
    by: StatsGroup
    all: GroupOfAnswers | None
    groups: list[GroupOfAnswers]
    messages: MessagesByEnd
    models: ModelsInAll


class Letter(BaseModel):
    """A message that could not be answered or delivered, or is on its way: in-12 to the bot, out-7 from it."""

    id: str
    state: LetterState
    channel: str
    chat: str
    person: str
    readable: bool
    at: str
    attempts: int
    reason: str
    text: str


class LetterChanged(BaseModel):
    id: str
    done: Literal["retried", "dropped"]


class Cost(BaseModel):
    """Use of models. usd: at known prices; unpriced_tokens have none."""

    name: str
    calls: int
    tokens: int
    input_tokens: int
    output_tokens: int
    usd: float
    unpriced_tokens: int


class Budget(BaseModel):
    """Use of a limit, in its unit: tokens, or picodollars (unit "usd")."""

    period: str
    unit: str
    purpose: str
    used: int
    amount: int


class Costs(BaseModel):
    since: str
    until: str
    rows: list[Cost]
    budgets: list[Budget]


class SleepBegun(BaseModel):
    state: Literal["begun", "under way"]


# ── health ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@router.get("/health")
async def get_health(caller: HealthReader) -> Health:
    """Return what runs, how much waits, and how much is remembered."""
    services = caller.services

    def read(connection: Connection) -> tuple[dict[str, int], dict[str, int]]:
        counts = Memory.records.count_by_form(connection, ALL_SCOPES)
        return dict(message_status.state_counts(connection)), dict(counts)

    messages, memories = await services.database.read_long(read)
    report = await services.status()
    return Health(
        state=report.state,
        since=report.since,
        causes=report.causes,
        version=__version__,
        started=services.started.isoformat(),
        now=services.clock.now().isoformat(),
        channels=sorted(services.channels),
        unfinished=services.unfinished(),
        messages=messages,
        memories=memories,
    )


@router.get("/status")
async def get_status(caller: HealthReader) -> StatusReport:
    """Return what `kenobot status` shows: health, chats, queues, background work, and the time of the last answer."""
    return await caller.services.status()


@router.get("/stats")
async def get_stats(
    caller: HealthReader,
    days: Annotated[int, Query(ge=1, le=365, description="Of how many days")] = 7,
    by: Annotated[StatsGroup, Query(description="What to sum by")] = "day",
) -> AnswerTimes:
    """Return how long answers took, what the time went into, and what came of messages, as `kenobot stats --json`."""
    services, now = caller.services, caller.services.clock.now()
    found = await services.database.read_long(lambda connection: read_stats(connection, now, services.zone, days, by))
    return AnswerTimes.model_validate(as_json(found))


@router.get(
    "/metrics", response_model=None, responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
)
async def get_metrics(caller: HealthReader) -> PlainTextResponse:
    """Return the same and the cost of models as text for Prometheus."""
    services = caller.services
    health, report = await get_health(caller), await services.status()
    since = services.clock.now() - _LATELY
    total, turns = await services.database.read(
        lambda connection: (_sum_spent(connection), turn_stats.read_turns(connection, since))
    )
    times = distribution([turn.millis for turn in turns if turn.millis is not None])
    text = metrics_text(health.version, health.model_dump(), total, report, times)
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _sum_spent(connection: Connection) -> Spending:
    return model_calls.sum_spent_between(connection, "0000", "9999")


# ── sleep ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@router.get("/sleep")
async def get_sleep(
    caller: SleepKeeper,
    run: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="A night; else the last")] = None,
) -> dict[str, Any]:
    """Return the report of a night: each change of memory with its reason and the event that undoes it."""
    services = caller.services

    def read(connection: Connection) -> dict[str, Any] | None:
        found = Nights.find(connection, run)
        return None if found is None else Nights.as_json(Nights.report(connection, found, services.policy))

    report = await services.database.read_long(read)
    if report is None:
        raise HTTPException(404, Sentence("api.no_such_night" if run is not None else "api.no_night"))
    return report


@router.post("/sleep", status_code=202)
async def begin_sleep(caller: SleepKeeper) -> SleepBegun:
    """Begin a night now, or go on with one that was cut short; it runs beside the conversations."""
    return SleepBegun(state="begun" if caller.services.begin_sleep() else "under way")


# ── mail ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@router.get("/mail")
async def list_mail(
    caller: MailKeeper,
    state: LetterState | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> list[Letter]:
    """List the last messages that came to no good end, or wait, oldest first."""
    states = dead_letters.STATES if state is None else (state,)
    found = await caller.services.database.read_long(
        lambda connection: dead_letters.find(connection, states, None, limit)
    )
    return [Letter(**{name: value for name, value in asdict(each).items() if name != "trace"}) for each in found]


@router.post("/mail/{number}/retry")
async def retry_mail(caller: MailKeeper, number: LetterId) -> LetterChanged:
    """Answer a message, or send a part, once more."""
    await _change_letter(caller.services, number, "retry")
    await caller.services.sweep()
    return LetterChanged(id=number, done="retried")


@router.delete("/mail/{number}")
async def drop_mail(caller: MailKeeper, number: LetterId) -> LetterChanged:
    """Delete a message that came to no good end."""
    await _change_letter(caller.services, number, "drop")
    return LetterChanged(id=number, done="dropped")


async def _change_letter(services: BotServices, number: str, change: Literal["retry", "drop"]) -> None:
    letter, at = DeadLetterId.parse(number), services.clock.now()
    act = dead_letters.retry if change == "retry" else dead_letters.drop
    outcome = await services.database.write(lambda connection: act(connection, letter, at))
    if outcome != "done":
        status, key = _REFUSALS[outcome]
        raise HTTPException(status, Sentence(key))


# ── cost ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@router.get("/cost")
async def get_cost(
    caller: CostReader,
    by: Annotated[model_calls.Grouping, Query(description="What to sum by")] = "model",
    since: Annotated[Day | None, Query(description="The first day; without, that of this month")] = None,
    until: Annotated[Day | None, Query(description="The last day; without, today")] = None,
) -> Costs:
    """Return what models used and cost, and how much of each budget is used."""
    today = local_day(caller.services.clock.now(), caller.services.zone)
    first = since.isoformat() if since is not None else f"{today[:7]}-01"
    last = until.isoformat() if until is not None else today

    def read(connection: Connection) -> Costs:
        return Costs(
            since=first,
            until=last,
            rows=[_cost(name, spent) for name, spent in model_calls.spending_by(connection, by, first, last)],
            budgets=_budgets(connection, caller, today),
        )

    return await caller.services.database.read_long(read)


def _cost(name: str, spent: Spending) -> Cost:
    return Cost(
        name=name,
        calls=spent.calls,
        tokens=spent.tokens,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        usd=spent.cost / PICODOLLARS,
        unpriced_tokens=spent.unpriced_tokens,
    )


def _budgets(connection: Connection, caller: Caller, today: str) -> list[Budget]:
    return [
        Budget(
            period=limit.name(today),
            unit=limit.unit,
            purpose=limit.purpose,
            used=limit.sum_spent(connection, today),
            amount=limit.amount,
        )
        for limit in caller.services.budgets
    ]
