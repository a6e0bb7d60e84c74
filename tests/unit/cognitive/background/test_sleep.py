"""The bot sleeps by itself: when it is due, once, with a model within its tokens, and conversation goes on."""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from kenobot.cognitive.background.extraction import ExtractionWorker
from kenobot.cognitive.background.sleep import SleepContext, SleepWorker
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.policy.sleep import WEEKLY_LOGS, SleepPolicy
from kenobot.cognitive.recall.index.index import Indexer
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.due import next_sleep_time
from kenobot.cognitive.sleep.plan.changes import Change
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.core.bus import Bus
from kenobot.core.retry import CircuitBreaker
from kenobot.core.settings.home import AlreadyLocked
from kenobot.core.settings.schema import SleepSettings
from kenobot.core.worker import Scheduler
from kenobot.ledger.ledger import Ledger
from kenobot.ledger.limits import Limit
from kenobot.ledger.model_router import ModelRouter, ProviderRoute
from kenobot.ports.errors import PromptTooLong, RateLimited, TruncatedReply, Unavailable
from kenobot.ports.nights import PHASES
from kenobot.ports.provider import Provider, Reply, Usage
from kenobot.ports.signals import SLEEP_FINISHED, SLEEP_PHASE, SLEEP_STARTED, Envelope
from kenobot.storage.database import Database
from kenobot_testing.clock import START, EagerClock, ManualClock
from kenobot_testing.provider import ScriptedProvider
from tests.samples import rows, scalar
from tests.scene import Scene
from tests.unit.cognitive.sleep.small_night import FADE, JUDGE, PASSES, UTC, fill
from tests.waiting import until

ODD = json.dumps([6, 12])


class _Files(MemoryFiles):
    def __init__(self, done: list[str]) -> None:
        self._done = done

    async def sync_in(self, session: str | None = None) -> int:
        return 0

    def mark_dirty(self, record_ids: Iterable[int] = ()) -> None:
        self._done.append("marked")


class _Extraction(ExtractionWorker):
    def __init__(self, done: list[str]) -> None:
        self._done = done

    async def drain(self) -> None:
        self._done.append("drained")


class _Indexer(Indexer):
    def __init__(self, done: list[str]) -> None:
        self._done = done

    async def index_all(self) -> None:
        self._done.append("indexed")


class Bedroom:
    """A sleeper in a home with a database and a bus; `signals` is what was sent."""

    def __init__(self, database: Database, night: Sequence[Pass] = PASSES, clock: ManualClock | None = None) -> None:
        self.database = database
        self.clock = clock or EagerClock()
        self.bus = Bus(self.clock)
        self.signals: list[Envelope] = []
        self.done: list[str] = []
        self.night = night
        self.lock: Callable[[], AbstractContextManager[None]] = nullcontext
        for signal in (SLEEP_STARTED, SLEEP_PHASE, SLEEP_FINISHED):
            self.bus.wake_on(signal, self.signals.append)

    def sleeper(self, provider: Provider | None = None, tokens: int = 100_000, hour: int | None = None) -> SleepWorker:
        limits = (Limit("day", "tokens", tokens, "sleep"),)
        rooms = SleepContext(
            *(self.database, self.bus, self.clock, UTC, self.lock, Ledger(self.database, self.clock, UTC, jobs=limits)),
            files=_Files(self.done),
            extraction=_Extraction(self.done),
            indexer=_Indexer(self.done),
            passes=self.night,
        )
        routes = [ProviderRoute(provider, CircuitBreaker(self.clock, 5, 60))] if provider else []
        return SleepWorker(rooms, DEFAULT, ModelRouter(routes, 5, self.clock) if provider else None, hour=hour)


@pytest.fixture
async def bedroom(database: Database) -> Bedroom:
    await database.write(fill)
    return Bedroom(database)


async def _odd(bedroom: Bedroom) -> list[int]:
    found = await rows(bedroom.database, "SELECT id FROM record WHERE tags LIKE '%odd%' ORDER BY id")
    return [int(str(row[0])) for row in found]


# ── when ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_it_sleeps_once_and_again_a_day_later(bedroom: Bedroom) -> None:
    """Looks come each hour; what was missed is made up for once."""
    sleeper = bedroom.sleeper()
    nights = []
    for hours in (0, 1, 18, 2, 1, 400, 1):
        bedroom.clock.advance(hours * 3600)
        await sleeper.tick()
        await sleeper.wait_idle()
        nights.append(await scalar(bedroom.database, "SELECT count(*) FROM sleep_run WHERE state = 'finished'"))
    assert nights == [1, 1, 1, 2, 2, 3, 3]


async def test_the_first_look_comes_a_minute_after_the_start(database: Database) -> None:
    """Start-up comes first; then a night that was missed is made up for without waiting an hour."""
    clock = ManualClock()
    bedroom = Bedroom(database, clock=clock)
    sleeper = bedroom.sleeper()
    sleeper.begin()
    await sleeper.tick()
    await until(lambda: bool(clock.pending_sleeps))
    assert clock.pending_sleeps == [60.0]
    assert bedroom.signals == []
    clock.advance(60)
    await sleeper.wait_idle()
    assert [each.signal.name for each in bedroom.signals][-1] == "sleep:finished"


async def test_not_enabled_it_sleeps_only_when_told_to(bedroom: Bedroom) -> None:
    """No look is scheduled; the command line may still have it sleep."""
    sleeper = bedroom.sleeper()
    sleeper._enabled = False
    schedule = Scheduler()
    sleeper.start(schedule)
    sleeper.begin()
    await sleeper.tick()
    assert sleeper.idle and schedule._jobs == []
    assert (await sleeper.sleep("command")).decisions > 0


async def test_its_hour_is_asked_for_every_hour(bedroom: Bedroom) -> None:
    """It is set into the schedule once; at 14:30 it is not time for who sleeps from 15 on."""
    schedule, sleeper = Scheduler(), bedroom.sleeper(hour=15)
    sleeper.start(schedule)
    (job,) = schedule._jobs
    assert (job[0], job[1]) == ("sleep", 3600.0)
    for advance, nights in ((0, 0), (1800, 1)):
        bedroom.clock.advance(advance)
        await job[2]()
        await sleeper.wait_idle()
        assert await scalar(bedroom.database, "SELECT count(*) FROM sleep_run") == nights


async def test_it_does_not_sleep_twice_at_once(bedroom: Bedroom) -> None:
    """Not with another process, which holds the lock: the next look tries again."""

    def held() -> AbstractContextManager[None]:
        raise AlreadyLocked("somebody else sleeps")

    bedroom.lock = held
    sleeper = bedroom.sleeper()
    await sleeper.tick()
    await sleeper.wait_idle()
    assert await scalar(bedroom.database, "SELECT count(*) FROM sleep_run") == 0
    with pytest.raises(AlreadyLocked):
        await sleeper.sleep("command")


async def test_a_night_that_was_cut_short_is_gone_on_with_at_any_hour(bedroom: Bedroom) -> None:
    """It is the same night, with its own moment; what was said since is left to the next."""
    run = await bedroom.database.write(lambda c: run_rows.begin_or_resume(c, START, "hourly", PHASES))
    bedroom.clock.advance(7200)
    sleeper = bedroom.sleeper(hour=23)
    await sleeper.tick()
    await sleeper.wait_idle()
    assert "drained" not in bedroom.done
    assert bedroom.done[-2:] == ["marked", "indexed"]
    assert bedroom.signals[0].payload == {"run": run.id, "cause": "hourly", "resumed": True}
    assert await rows(bedroom.database, "SELECT state, at FROM sleep_run") == [
        ("finished", START.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00"))
    ]


async def test_it_stops_at_once_and_goes_on_later(database: Database) -> None:
    """In the middle of a plan: what was decided stays, the rest comes with the next look."""
    await database.write(fill)
    began = asyncio.Event()
    loop = asyncio.get_running_loop()
    asked = []

    def endless(view: NightView) -> Iterator[Change]:
        while True:
            asked.append(view.connection.execute("SELECT 1").fetchone())
            loop.call_soon_threadsafe(began.set)

    slow = Pass("slow", "errors", "never ends", endless)
    bedroom = Bedroom(database, (FADE, slow))
    sleeper = bedroom.sleeper()
    await sleeper.tick()
    await began.wait()
    async with asyncio.timeout(60):
        await sleeper.stop()
    assert [name for (name,) in await rows(database, "SELECT name FROM sleep_pass")] == ["fade"]
    assert await scalar(database, "SELECT state FROM sleep_run") == "running"
    await sleeper.tick()
    assert sleeper.idle, "stopped is stopped"
    bedroom.night = (FADE, replace(slow, plan=lambda _: ()))
    await bedroom.sleeper().sleep("hourly")
    assert await scalar(database, "SELECT count(*) FROM record WHERE status = 'expired'") == 4


# ── who is told ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_night_is_announced_and_prepared_and_settled(bedroom: Bedroom) -> None:
    """What was said is read first; files and index follow; signals tell how far it is and what it came to."""
    await bedroom.sleeper().sleep("hourly")
    assert bedroom.done[0] == "drained"
    assert bedroom.done[-2:] == ["marked", "indexed"]
    assert "indexed" in bedroom.done[:-2], "the next turn would have to take in what a transaction changed"
    told = [(each.signal.name, each.payload.get("phase")) for each in bedroom.signals]
    assert told == [
        ("sleep:started", None),
        *(("sleep:phase", phase) for phase in ("consolidate", "prune", "improve")),
        ("sleep:finished", None),
    ]
    assert bedroom.signals[-1].payload == {
        "run": 1,
        "cause": "hourly",
        "decisions": 10,
        "tokens": 0,
        "large": "gather 3/12, judge 4/13, fade 4/13",
    }


async def test_the_owner_is_told_when_much_changed_at_once(tmp_path: Path) -> None:
    """In their own chat and language, with the way back."""
    async with Scene(tmp_path, ["Vale."]) as scene:
        await scene.say("hola, ¿qué tal estás hoy?")
        await scene.app.database.write(fill)
        sleeper = scene.app.background.sleep_worker
        sleeper._p = replace(sleeper._p, passes=(FADE,))
        before = len(scene.texts)
        await sleeper.tick()
        await sleeper.wait_idle()
        await scene.app.wait_drained()
        (said,) = scene.texts[before:]
        assert said.startswith("Al ordenar mi memoria he cambiado mucho de una vez (fade 4/12).")
        assert "`kenobot sleep undo`" in said


async def test_a_quiet_night_tells_nobody(tmp_path: Path) -> None:
    """The whole of it, in a home with a conversation: nothing to say, and the next prompt is as it was."""
    async with Scene(tmp_path, ["All right.<memory>Ana takes the train to Lyon</memory>"]) as scene:
        await scene.say("hello there, how are you?")
        before = len(scene.texts)
        await scene.app.background.sleep_worker.tick()
        await scene.app.background.sleep_worker.wait_idle()
        await scene.app.wait_drained()
        assert await scene.rows("SELECT title FROM proposal") == []
        assert len(scene.texts) == before
        assert await scene.rows("SELECT state, cause FROM sleep_run") == [("finished", "hourly")]
        assert await scene.rows("SELECT name, trouble FROM sleep_pass WHERE trouble != ''") == []


async def test_what_a_person_wrote_into_a_file_is_part_of_the_night(tmp_path: Path) -> None:
    """Though nobody has said anything since: what stands out of it is promoted in the same night, word for word."""
    told = "Learned: n8n webhooks prefer query params for auth, headers always fail with 401"
    async with Scene(tmp_path, ["All right."]) as scene:
        await scene.say("hello there, how are you?")
        (scene.home.memory / "2026-02-14.md").write_text(f"## 09:00 — {told}\n", "utf-8")
        await scene.app.background.sleep_worker.sleep("hourly")
        await scene.app.wait_drained()
        assert f"- {told}\n" in scene.read("MEMORY.md")


# ── a model ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_model_is_asked_within_the_nights_tokens(bedroom: Bedroom) -> None:
    """What it used is on the day's account of sleep, beside that of reading conversations."""
    provider = ScriptedProvider([Reply(ODD, "end_turn", usage=Usage(100, 20))])
    await bedroom.sleeper(provider).sleep("hourly")
    assert await _odd(bedroom) == [6, 12]
    figures = "day, purpose, calls, unsettled, input_tokens, output_tokens"
    assert await rows(bedroom.database, f"SELECT {figures} FROM model_day") == [("2026-02-14", "sleep", 1, 0, 100, 20)]
    assert provider.requests[0].max_tokens == 1000


@pytest.mark.parametrize("tokens", [0, 500])
async def test_without_tokens_rules_decide(bedroom: Bedroom, tokens: int) -> None:
    """Nobody is asked for what the night cannot pay."""
    provider = ScriptedProvider([ODD])
    await bedroom.sleeper(provider, tokens=tokens).sleep("hourly")
    assert provider.requests == []
    assert await _odd(bedroom) == [3, 6]
    assert await rows(bedroom.database, "SELECT * FROM model_day") == []


async def test_a_model_out_of_reach_is_asked_twice_and_then_left_alone(database: Database) -> None:
    """For this night; no tokens are counted, and rules decide."""
    await database.write(fill)
    again = replace(JUDGE, name="again", plan=lambda _: ())
    bedroom = Bedroom(database, (again, JUDGE))
    provider = ScriptedProvider([RateLimited("slow down", 30), Unavailable("gone")])
    await bedroom.sleeper(provider).sleep("hourly")
    assert len(provider.requests) == 2
    assert await _odd(bedroom) == [3, 6]
    assert await scalar(database, "SELECT count(*) FROM model_call") == 0


@pytest.mark.parametrize(("error", "used"), [(PromptTooLong("too long"), False), (TruncatedReply("cut"), True)])
async def test_a_question_that_a_model_does_not_take_is_left_to_rules(
    bedroom: Bedroom, error: Exception, used: bool
) -> None:
    """Only that one; what may have been used counts as used."""
    provider = ScriptedProvider([error])
    await bedroom.sleeper(provider).sleep("hourly")
    assert await scalar(bedroom.database, "SELECT count(*) FROM sleep_pass WHERE trouble = ''") == 3
    assert (await scalar(bedroom.database, "SELECT count(*) FROM model_call") != 0) is used


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "new"])
async def test_half_a_verdict_is_none(bedroom: Bedroom, reason: str) -> None:
    """What the model would have said on is unknown; its tokens count."""
    await bedroom.sleeper(ScriptedProvider([Reply(ODD, reason, usage=Usage(100, 20))])).sleep("hourly")
    assert await _odd(bedroom) != [6, 12]
    assert await scalar(bedroom.database, "SELECT sum(input_tokens + output_tokens) FROM model_day") == 120


# ── settings ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_settings_become_thresholds() -> None:
    """The preset, what becomes of old files, and the tokens."""
    assert Policy.of(SleepSettings()).sleep == SleepPolicy()
    set_ = Policy.of(SleepSettings(daily_log="weekly", expired="delete")).sleep
    assert set_ == replace(WEEKLY_LOGS, expired="delete")
    assert WEEKLY_LOGS.daily_days < SleepPolicy().daily_days


async def test_settings_reach_sleep_and_the_files(tmp_path: Path) -> None:
    """Both go by the same dates and do the same with what is over."""
    environ = {"KENOBOT_SLEEP__DAILY_LOG": "weekly", "KENOBOT_SLEEP__EXPIRED": "delete"}
    async with Scene(tmp_path, environ=environ) as scene:
        wanted = replace(WEEKLY_LOGS, expired="delete")
        assert scene.app.background.sleep_worker._policy.sleep == wanted
        assert scene.memory_files.list_files._policy.sleep == wanted


def test_the_next_night_can_be_told() -> None:
    """It stands still until it is there; never, when it does not sleep by itself."""
    now = datetime(2026, 2, 14, 12, tzinfo=UTC)
    told = [
        next_sleep_time(SleepSettings(enabled=enabled, hour=hour), SleepPolicy(), last, now, "UTC")
        for enabled, hour, last in ((True, -1, now), (True, 3, now.replace(hour=3)), (True, -1, None), (False, -1, now))
    ]
    assert told == [now.replace(day=15, hour=8), now.replace(day=15, hour=3), now, None]
    for later in (now.replace(minute=16), now.replace(minute=21, second=7)):
        following = [next_sleep_time(SleepSettings(hour=hour), SleepPolicy(), now, later, "UTC") for hour in (-1, 9)]
        assert following == [now.replace(day=15, hour=8), now.replace(day=15, hour=9)]
