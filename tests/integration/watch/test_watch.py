"""Each thing that can be wrong is broken for real: the owner is told once, and again when it is over."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.app.running_channels import ChannelState
from kenobot.app.watch.machine_room import disk_room, memory_limit, resident_bytes
from kenobot.app.watch.watch import Watch
from kenobot.app.watch.wiring import build_watch
from kenobot.ports.errors import StoreFull, Unavailable
from kenobot.ports.messages import MessagePart
from kenobot.ports.provider import Delta, Reply, Request, ToolCall
from kenobot.ports.signals import CHANNEL_DOWN, HEALTH_DEGRADED
from kenobot.ports.tool import ToolArguments, ToolContext, ToolEffects
from kenobot.storage import diagnosis, outbox
from kenobot.storage.outbox import Destination
from kenobot_testing.clock import EagerClock
from kenobot_testing.scripted import ScriptedProvider
from tests.scene import Scene

ROOM = {"KENOBOT_WATCH__DISK_MB": "0"}  # of the machine that the tests run on
LATE = {"KENOBOT_BACKUP__EVERY_HOURS": "24", "probes.FIRST_CHECK": timedelta(days=10_000)}
MINUTE = 60


class Service:
    """A provider that can be out of reach."""

    name = "service"
    rule_based = False

    def __init__(self) -> None:
        self.down = False
        self.says = "Fine."

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        if self.down:
            raise Unavailable("down")
        yield Delta(self.says, "end_turn")


class Fetching:
    """A tool that reads pages: once it has brought one, it may not run again without its owner's word."""

    name = "fetch"
    description = "Fetch a page."
    arguments = ToolArguments
    effects = ToolEffects(reads_private=False, brings_untrusted=True, way_out=True, changes_outside=False)

    def __init__(self) -> None:
        self.ran = 0

    async def run(self, arguments: ToolArguments, turn: ToolContext) -> str:
        self.ran += 1
        return "A page."


class Bot:
    """A scene with its watch. states: of the channels."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.states: Sequence[ChannelState] = (ChannelState("telegram", "serving"),)
        self.watch: Watch = build_watch(scene.app, lambda: self.states)

    @property
    def state(self) -> str:
        return self.watch.state

    async def look(self, times: int = 1) -> list[str]:
        """Look so often, a minute apart; returns what the owner was told."""
        before = len(self.scene.texts)
        for _ in range(times):
            self.scene.clock.advance(MINUTE)  # type: ignore[attr-defined]
            await self.scene.app.bus.drain()
            await self.watch.look()
            await self.scene.app.sweep()
            await self.scene.app.delivery.queue.wait_idle()
        return self.scene.texts[before:]

    async def let_pass(self, hours: int) -> list[str]:
        """Look twice an hour; returns what the owner was told."""
        told = []
        for _ in range(hours):
            self.scene.clock.advance(58 * MINUTE)  # type: ignore[attr-defined]
            told += await self.look(2)
        return told

    async def leave_behind(self) -> None:
        """Remember something and have a backup: from now on both can be late."""
        await self.scene.say("/remember likes tea")
        backups = self.scene.home.path / "backups"
        backups.mkdir(exist_ok=True)
        backups.joinpath(f"kenobot-{self.scene.clock.now():%Y%m%dT%H%M%SZ}.tar.gz").touch()


@asynccontextmanager
async def bot(folder: Path, environ: Mapping[str, object] | None = None, **more: object) -> AsyncIterator[Bot]:
    """A bot whose owner has written in private."""
    async with Scene(folder, ["Hm."], environ={**ROOM, **(environ or {})}, **more) as scene:  # type: ignore[arg-type]
        await scene.say("hello there, how are you?")
        found = Bot(scene)
        await found.watch.start(scene.app.scheduler)
        try:
            yield found
        finally:
            await found.watch.stop()


async def test_nothing_is_told_while_all_is_well(tmp_path: Path) -> None:
    """However often it looks."""
    async with bot(tmp_path) as it:
        assert await it.look(20) == []
        assert it.state == "healthy"


async def test_a_provider_that_is_down_is_told_once_and_again_when_it_is_back(tmp_path: Path) -> None:
    """In the owner's language, with what to do; messages that wait for it meanwhile are told on their own."""
    service = Service()
    async with bot(tmp_path, provider=service) as it:
        service.down = True
        await it.scene.put("¿Qué tal estás hoy? Quiero saberlo, por favor")
        while it.scene.app.circuits()[0][1].state == "CLOSED":
            await asyncio.sleep(0)
        told = await it.look(2)
        (alert,) = [text for text in told if "service" in text]
        assert alert.startswith("🔴 No puedo hacer mi trabajo como debería:\n- El modelo de service no ha respondido ")
        assert alert.endswith(" veces seguidas. `kenobot models test` dice por qué.")
        assert it.state == "unhealthy"
        assert not [text for text in await it.look(5) if "service" in text]
        service.down = False
        await it.scene.say("¿Y ahora?")
        told = []
        for _ in range(60):  # how many depends on when the next try falls
            told += await it.look()
            if it.state == "healthy":
                break
        assert any("El modelo de service vuelve a responder." in text for text in told)
        assert "Ahora todo va bien." in "\n".join(told)
        assert it.state == "healthy"


async def test_a_platform_that_falls_silent_is_told_by_another_channel(tmp_path: Path) -> None:
    """Where there is none, it waits for the silent one to be back, with the word that it is."""
    async with bot(tmp_path) as it:
        channel, clock = it.scene.channel, it.scene.clock
        channel.last_answer_at, channel.stall_seconds = clock.monotonic(), 30.0  # type: ignore[attr-defined]
        assert await it.look(5) == []
        told = await it.look(3)
        assert len(told) == 1
        assert "Nothing has been heard from telegram for" in told[0]
        channel.last_answer_at = clock.monotonic() + 10 * MINUTE  # type: ignore[attr-defined]
        assert await it.look(3) == ["✅ Well again:\n- telegram answers again.\n\nAll is well now."]


async def test_a_platform_that_only_refuses_is_told(tmp_path: Path) -> None:
    """As one that is silent, though each refusal is a sign of life."""
    async with bot(tmp_path) as it:
        channel, clock = it.scene.channel, it.scene.clock
        channel.last_answer_at, channel.stall_seconds = clock.monotonic() + 3600, 30.0  # type: ignore[attr-defined]
        channel.failing_since = clock.monotonic()  # type: ignore[attr-defined]
        assert await it.look(5) == []
        assert "Nothing has been heard from telegram for" in (await it.look(3))[0]
        channel.failing_since = None  # type: ignore[attr-defined]
        assert "telegram answers again." in (await it.look(3))[0]


async def test_a_channel_that_keeps_failing_is_told_once_by_whoever_tells_it_first(tmp_path: Path) -> None:
    """The supervisor's own alert says what to do; the watch says when it is over."""
    async with bot(tmp_path) as it:
        bus = it.scene.app.bus
        before = len(it.scene.texts)
        for _ in range(5):
            await bus.emit(CHANNEL_DOWN, "supervise", "", channel="telegram", error="refused")
        cause = {"channel": "telegram", "cause": "channel:telegram"}
        await bus.emit(HEALTH_DEGRADED, "supervise", "", reason="channel telegram keeps failing", **cause)
        await it.scene.app.wait_drained()
        await it.look(2)
        told = it.scene.texts[before:]
        assert [text.partition(":")[0] for text in told] == ["Please have a look"]
        assert it.state == "unhealthy"
        told = await it.look(8)
        assert told == ["✅ Well again:\n- The channel telegram works again.\n\nAll is well now."]


async def test_messages_without_an_answer_and_answers_without_a_way_out(tmp_path: Path) -> None:
    """What waits for too long is told by its age."""
    async with bot(tmp_path) as it:
        at, database = it.scene.clock.now(), it.scene.app.database
        row = "(channel, external_id, chat, session, sender, text, sent_at, received_at, trace)"
        values = ("telegram", "x", "9", "telegram-9", "9", "hi", at.isoformat(), at.isoformat(), "t")
        holders = ", ".join("?" * len(values))
        await database.write(lambda c: c.execute(f"INSERT INTO inbox {row} VALUES ({holders})", values))
        it.scene.app.loop.sweep = lambda: asyncio.sleep(0)  # type: ignore[method-assign]
        assert await it.look(9) == []
        told = await it.look(3)
        assert "The oldest of 1 messages has waited 11 min" in told[0]
        assert it.state == "degraded"
        await it.look(55)
        assert it.state == "unhealthy"
        await database.write(lambda c: c.execute("UPDATE inbox SET state = 'dropped' WHERE external_id = 'x'"))
        assert "Messages are answered in time again." in (await it.look(3))[-1]

        it.scene.app.delivery.sweep = lambda: asyncio.sleep(0)  # type: ignore[method-assign]
        now = it.scene.clock.now()
        to = Destination("telegram", "9")
        await database.write(lambda c: outbox.enqueue(c, to, [MessagePart("hi")], now))
        told = await it.look(17)
        assert "Answers on telegram have waited 16 min for being delivered: 1." in told[0]


async def test_a_full_disk(tmp_path: Path) -> None:
    """By what the home's disk really has left; hardly any room counts at the first look."""
    free = disk_room(tmp_path).free / 1_000_000
    if 20 * free > 10_000_000:
        pytest.skip("this machine has more room on its disk than the setting can ask for")
    async with bot(tmp_path / "a", {"KENOBOT_WATCH__DISK_MB": str(2 * free)}) as it:
        assert "MB left" in (await it.look(2))[0]
        assert it.state == "degraded"
    async with bot(tmp_path / "b", {"KENOBOT_WATCH__DISK_MB": str(20 * free)}) as it:
        assert len(await it.look(1)) == 1
        assert it.state == "unhealthy"


def test_a_small_disk_is_measured_as_it_is(tmp_path: Path) -> None:
    """Its free bytes, and whether it takes any; on a real file system that is nearly full."""
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(tmp_path)], capture_output=True, check=False
    )
    if mount.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        (tmp_path / "file").write_bytes(b"x" * 700_000)
        assert 200_000 < disk_room(tmp_path).free < 400_000
        subprocess.run(["mount", "-o", "remount,ro", str(tmp_path)], check=True)
        assert disk_room(tmp_path).read_only
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


async def test_memory_beyond_its_limit_and_memory_that_grows(tmp_path: Path) -> None:
    """By what the process really takes."""
    taken = resident_bytes()
    assert taken is not None
    async with bot(tmp_path / "a", {"probes.memory_limit": lambda: taken}) as it:
        assert "MB of memory, of" in (await it.look(2))[0]
    async with bot(tmp_path / "b", {"probes.GROWTH_MB": 60}) as it:
        assert await it.look(61) == []
        held = bytearray(120_000_000)
        held[::4096] = b"x" * len(held[::4096])
        assert "MB of memory, of" in (await it.look(2))[0]
        del held


def test_the_limit_of_a_service_is_found(tmp_path: Path) -> None:
    """The least of the groups that the process is in, as systemd and containers set it."""
    group = tmp_path / "system.slice" / "kenobot.service"
    group.mkdir(parents=True)
    (group / "memory.max").write_text("max\n")
    (group.parent / "memory.max").write_text("512000000\n")
    (tmp_path / "own").write_text("0::/system.slice/kenobot.service\n")
    assert memory_limit(tmp_path, tmp_path / "own") == 512_000_000
    assert memory_limit(tmp_path, tmp_path / "none") is None


async def test_a_damaged_database_is_found_by_the_daily_check(tmp_path: Path) -> None:
    """Also a row that its table does not allow; the bot is unhealthy until the next check passes."""
    async with bot(tmp_path, {"probes.CHECK_HOURS": 1}) as it:

        def spoil(state: str) -> None:
            with closing(sqlite3.connect(it.scene.home.database)) as elsewhere, elsewhere:
                elsewhere.execute("PRAGMA ignore_check_constraints = ON")
                elsewhere.execute("UPDATE inbox SET state = ?", (state,))

        async def look_until_checked() -> list[str]:
            told = await it.look(61)
            checking = it.watch._probes._checking
            assert checking is not None
            await checking
            return told + await it.look(3)

        assert await look_until_checked() == []
        spoil("moon")
        told = "\n".join(await look_until_checked())
        assert "The database does not work as it should: CHECK constraint failed in inbox. Run" in told
        assert it.state == "unhealthy"
        spoil("answered")
        assert "The database works again." in "\n".join(await look_until_checked())


def test_pages_that_hold_something_else_are_damage(tmp_path: Path) -> None:
    """Which a whole database passes."""
    path = tmp_path / "pages.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE word (text)")
        connection.executemany("INSERT INTO word VALUES (?)", [("x" * 1000,)] * 100)
    assert diagnosis.first_problem(path) == ""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2 // 4096 * 4096)
        file.write(b"\xff" * 4096)
    assert diagnosis.first_problem(path)


async def test_sleep_and_backups_that_are_late(tmp_path: Path) -> None:
    """By the last night and the newest backup there are."""
    async with bot(tmp_path, LATE) as it:
        await it.scene.say("/remember likes tea")
        told = "\n".join(await it.let_pass(hours=48))
        assert "The last backup is 3" in told
        assert "tidied" not in told
        assert "I have not tidied my memory for 3 days" in "\n".join(await it.let_pass(hours=48))


async def test_a_backup_made_by_hand_is_known_where_none_is_scheduled(tmp_path: Path) -> None:
    """So that `kenobot status` tells of it; nothing is late then."""
    async with bot(tmp_path) as it:
        await it.look()
        assert it.watch.newest_backup is None
        await it.leave_behind()
        made = it.scene.clock.now()
        assert await it.let_pass(hours=24) == []
        assert it.watch.newest_backup == made.replace(microsecond=0)


async def test_a_bot_that_was_off_has_time_to_make_up_for_it(tmp_path: Path) -> None:
    """Then it is late by its own fault."""
    async with bot(tmp_path, LATE) as it:
        await it.leave_behind()
        later = it.scene.clock.now() + timedelta(days=5)
    async with bot(tmp_path, LATE, clock=EagerClock(later)) as it:
        assert await it.look(100) == []
        (told,) = await it.look(40)
        assert "The last backup is" in told
        assert "I have not tidied my memory for 5 days" in told


async def test_a_machine_that_wakes_up_has_that_time_as_well(tmp_path: Path) -> None:
    """It was suspended with the bot in it."""
    async with bot(tmp_path, LATE) as it:
        await it.leave_behind()
        assert await it.let_pass(hours=3) == []
        it.scene.clock.advance(days=5)  # type: ignore[attr-defined]
        assert await it.look(100) == []
        assert len(await it.look(40)) == 1


async def test_a_bot_that_nobody_uses_stays_well(tmp_path: Path) -> None:
    """It sleeps every night though nothing was said since the last one."""
    async with bot(tmp_path, {"probes.FIRST_CHECK": timedelta(days=10_000)}) as it:
        worker = it.scene.app.background.sleep_worker
        for _ in range(5 * 24):
            await worker.tick()
            await worker.wait_idle()
            await it.let_pass(hours=1)
            assert not it.watch.causes
        nights = await it.scene.rows("SELECT id FROM sleep_run WHERE state = 'finished'")
        assert len(nights) >= 5


async def test_a_question_whether_a_tool_may_run_is_no_waiting_message(tmp_path: Path) -> None:
    """The turn that asks is answered: its owner may take as long as they like."""
    tool = Fetching()
    call = Reply("", "tool_use", calls=(ToolCall("c", "fetch", {}),))
    script: list[str | Reply] = ["Hm.", call, "Read.", call, "It links to another page."]
    async with bot(
        tmp_path, {"probes.FIRST_CHECK": timedelta(days=10_000)}, provider=ScriptedProvider([*script]), tools=[tool]
    ) as it:
        await it.scene.say("read the page")
        assert "May I run this?" in await it.scene.say("and what it links to")
        assert await it.look(90) == []
        assert it.state == "healthy"
        assert tool.ran == 1


async def test_quiet_hours_hold_back_what_can_wait(tmp_path: Path) -> None:
    """What came and went in the night is not told at all; what is unhealthy is told at once."""
    clock = EagerClock()
    begin, end = clock.now() + timedelta(minutes=5), clock.now() + timedelta(hours=8)
    quiet = {"KENOBOT_MESSAGES__QUIET_HOURS": f"{begin:%H:%M}-{end:%H:%M}"}
    async with bot(tmp_path, quiet, clock=clock) as it:
        await it.look(6)
        it.states = (ChannelState("telegram", "serving"), ChannelState("irc", "failed", "no such server"))
        assert await it.look(5) == []
        assert it.state == "degraded"
        it.states = (ChannelState("telegram", "serving"),)
        assert await it.look(5) == []
        it.states = (ChannelState("irc", "failed", "no such server"),)
        assert "no such server" in (await it.look(2))[0]
        it.states = (ChannelState("telegram", "serving"),)
        assert await it.look(5) == []
        clock.advance(8 * 3600)
        assert "The channel irc works again." in (await it.look(1))[0]


async def test_what_is_over_in_quiet_hours_stays_over(tmp_path: Path) -> None:
    """Though the owner is told so only in the morning: a program that asks must not restart a bot that is well."""
    clock = EagerClock()
    begin, end = clock.now() - timedelta(minutes=5), clock.now() + timedelta(hours=8)
    async with bot(tmp_path, {"KENOBOT_MESSAGES__QUIET_HOURS": f"{begin:%H:%M}-{end:%H:%M}"}, clock=clock) as it:
        it.states = (ChannelState("irc", "failed", "no such server"),)
        assert len(await it.look(2)) == 1
        it.states = (ChannelState("telegram", "serving"),)
        await it.look(3)
        seen = []
        for _ in range(6):
            assert await it.look() == []
            seen.append(it.state)
        assert seen == ["healthy"] * 6


async def test_a_restart_tells_nothing_twice(tmp_path: Path) -> None:
    """What still holds is known; what ended meanwhile is told by the next run."""
    sick = (ChannelState("telegram", "serving"), ChannelState("irc", "failed", "no such server"))
    async with bot(tmp_path) as it:
        it.states = sick
        assert len(await it.look(3)) == 1
    async with bot(tmp_path) as it:
        it.states = sick
        assert await it.look(5) == []
        assert it.state == "degraded"
    async with bot(tmp_path) as it:
        assert "The channel irc works again." in (await it.look(3))[0]
    async with bot(tmp_path) as it:
        assert await it.look(5) == []


async def test_what_went_around_the_outbox_is_told_once(tmp_path: Path) -> None:
    """While nothing can be written the owner is told directly, if it is urgent; later that it is over."""
    async with bot(tmp_path) as it:
        database, write = it.scene.app.database, it.scene.app.database.write
        it.states = (ChannelState("irc", "failed", "no such server"),)

        async def full(*_: object, **__: object) -> None:
            raise StoreFull("disk full")

        database.write = full  # type: ignore[method-assign, assignment]
        assert len(await it.look(5)) == 1
        database.write = write  # type: ignore[method-assign]
        assert await it.look(2) == []
        it.states = (ChannelState("telegram", "serving"),)
        assert "works again" in (await it.look(3))[0]


async def test_without_notices_nobody_is_told(tmp_path: Path) -> None:
    """The state is there all the same."""
    async with bot(tmp_path, {"KENOBOT_WATCH__NOTIFY": "false"}) as it:
        it.states = (ChannelState("irc", "failed", "no such server"),)
        assert await it.look(3) == []
        assert it.state == "unhealthy"


def test_the_watch_is_not_loaded_by_a_turn() -> None:
    """Its modules come with the work behind the turns."""
    asked = (
        "import sys, kenobot.app.serve; print([name for name in sys.modules if name.startswith('kenobot.app.watch')])"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_rules_that_take_over_from_a_model_are_told_once(tmp_path: Path) -> None:
    """Their notes are marked, and the owner is told when the model reads for memory again."""
    service = Service()
    async with bot(tmp_path, provider=service, extraction=True) as it:
        for number in range(1, 5):
            await it.scene.say(f"Remember that my locker number {number} is at the pool")
            await it.scene.app.background.extraction.drain()
        told = await it.let_pass(2)
        assert len([text for text in told if "until it does, simple rules note what is said" in text]) == 1
        (marked,) = await it.scene.rows(
            "SELECT count(*) FROM record WHERE tags LIKE '%\"rules\"%' AND status = 'active'"
        )
        assert marked > (0,)
        service.says = '{"facts": []}'
        for _ in range(3):
            await it.scene.say("my other locker is at the gym")
            await it.scene.app.background.extraction.drain()
            told = await it.let_pass(2)
            if any("reads what is said for memory again" in text for text in told):
                break
        else:
            pytest.fail("the owner was not told that the model reads for memory again")
