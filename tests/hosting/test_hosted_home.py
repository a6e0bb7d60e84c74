"""A whole bot over a working copy: what it commits is in PostgreSQL, and the next worker goes on from there."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kenobot.cognitive.memory import Transfers
from kenobot.core.settings.home import Home
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import StoreError
from kenobot.ports.messages import Outbound
from kenobot.storage.backup.archive import new_key
from kenobot.storage.connection import connect
from kenobot.storage.keeper import use_keepers
from kenobot.storage.migrate import migrate
from kenobot.storage.shared_threads import SharedThreads
from kenobot_host.activation import open_engine
from kenobot_host.bot_tokens import BotTokens
from kenobot_host.home_store import HomeLost
from kenobot_host.intake import pool_of
from kenobot_host.sealing import Sealer
from kenobot_host.warm_home import HostServices, WarmHomes
from kenobot_host.working_copies import WorkingCopies
from tests.hosting.cell import Cell, Held, read_truth
from tests.scene import Chatter, Scene
from tests.waiting import until

_TALK = [
    "I am Ana and I live in Ibiza.",
    "My sister is called Marta, she is a nurse in Palma.",
    "I am allergic to walnuts.",
    "Remind me tomorrow at 9 to call the dentist.",
    "I moved to Mahón last week.",
    "What am I allergic to?",
]
_REPLIES = [
    "Hello Ana.<memory>Lives in Ibiza</memory>",
    "Noted.<memory>Sister Marta is a nurse in Palma</memory>",
    "I see.<memory>Allergic to walnuts</memory>",
    "Yes.",
    "Nice.<memory>Lives in Mahón</memory>",
    "Walnuts.",
]


@pytest.fixture
def sealer(tmp_path: Path) -> Sealer:
    new_key(tmp_path / "key")
    return Sealer(tmp_path / "key")


def _add_home(cell: Cell, folder: Path, name: str = "ana") -> int:
    path = folder / f"{name}.db"
    migrate(path, folder / "backups")
    return cell.store.add(name, path)


def _keepers(copies: WorkingCopies, held: Held, home: Home) -> Callable[[Path], object]:
    return lambda path: copies.build_keeper(held) if path == home.database else None


async def _talk(scene: Scene, words: list[str]) -> None:
    for each in words:
        await scene.say(each)
    await scene.app.memory_files.wait_caught_up()


@pytest.fixture
def threads() -> Iterator[SharedThreads]:
    """Threads that homes share."""
    made = SharedThreads()
    yield made
    made.close()


def _read_local(path: Path, table: str) -> list[tuple[object, ...]]:
    with closing(connect(path, readonly=True)) as connection:
        return connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()


async def test_the_next_worker_has_what_was_said_and_slept_on(
    cell: Cell, tmp_path: Path, sealer: Sealer, threads: SharedThreads
) -> None:
    """Turns, memories, a reminder and a night: copies made of PostgreSQL equal the working copy, table by table.

    Memory has no files there: none is written, and none is looked for.
    """
    home, copies = _add_home(cell, tmp_path), WorkingCopies(cell.store, sealer)
    scene = Scene(tmp_path / "one", _REPLIES, extraction=True, shared=threads)
    held = cell.take(home)
    copies.bring_up(held, scene.home)
    with use_keepers(_keepers(copies, held, scene.home)):  # type: ignore[arg-type]
        async with scene:
            await _talk(scene, _TALK)
            await scene.app.background.sleep_worker.sleep("command")
        copies.put_away(held, scene.home)
    truth = read_truth(scene.home.database)
    assert len(truth[0]["record"]) >= 4
    assert truth[0]["sleep_run"]
    cell.store.load(home, tmp_path / "again.db")
    assert read_truth(tmp_path / "again.db") == truth

    other = Scene(tmp_path / "two", ["You are allergic to walnuts."], shared=threads)
    taken = cell.hand_on(held)
    elsewhere = WorkingCopies(cell.store, sealer)
    elsewhere.bring_up(taken, other.home)
    assert _read_local(other.home.database, "term_index") == _read_local(scene.home.database, "term_index")
    with use_keepers(_keepers(elsewhere, taken, other.home)):  # type: ignore[arg-type]
        async with other:
            await _talk(other, ["What am I allergic to?"])
            assert "Allergic to walnuts" in other.requests[-1]
        elsewhere.put_away(taken, other.home)
    for each in (scene.home, other.home):
        assert {path.name for path in each.memory.iterdir()} == {"identity"}
    cell.store.load(home, tmp_path / "third.db")
    assert read_truth(tmp_path / "third.db") == read_truth(other.home.database)


async def test_a_fenced_worker_tells_nobody(cell: Cell, tmp_path: Path, sealer: Sealer) -> None:
    """Its turn fails before anything of it is sent, and nothing of it is in PostgreSQL."""
    home, copies = _add_home(cell, tmp_path), WorkingCopies(cell.store, sealer)
    scene = Scene(tmp_path / "one", ["first", "second"])
    held = cell.take(home)
    copies.bring_up(held, scene.home)
    with use_keepers(_keepers(copies, held, scene.home)):  # type: ignore[arg-type]
        async with scene:
            assert await scene.say("hello") == "first"
            cell.hand_on(held)
            before = cell.execute("SELECT count(*) FROM kenobot_home.message")
            with pytest.raises(StoreError):
                await scene.put("are you there?")
            assert scene.texts == ["first"]
    assert cell.execute("SELECT count(*) FROM kenobot_home.message") == before
    (scene.home.identity / "preferences.md").write_text("- Nobody")
    with pytest.raises(HomeLost):
        copies.put_away(held, scene.home)


class _LateChannel(Chatter):
    """A channel in whose sending the home moves on, so that the copy of the bot is behind when it hears of it."""

    def __init__(self, name: str, cell: Cell) -> None:
        super().__init__(name)
        self._cell = cell

    async def send(self, outbound: Outbound) -> str:
        self._cell.execute("UPDATE kenobot.home SET version = version + 1")
        return await super().send(outbound)


async def test_a_part_whose_record_a_copy_could_not_take_is_not_sent_again(
    cell: Cell, tmp_path: Path, sealer: Sealer
) -> None:
    """The worker knows that it was sent, and records that in a copy made anew, before the home is opened again."""
    home, copies = _add_home(cell, tmp_path), WorkingCopies(cell.store, sealer)
    scene, held = Scene(tmp_path / "one", ["first"]), cell.take(home)
    scene.channel = _LateChannel("telegram", cell)
    copies.bring_up(held, scene.home)
    with use_keepers(_keepers(copies, held, scene.home)):  # type: ignore[arg-type]
        async with scene:
            await scene.put("hello")
            await until(lambda: bool(scene.app.delivery.list_unrecorded()))
        assert scene.texts == ["first"]
        (sent,) = scene.app.delivery.list_unrecorded()
        copies.record_sent(held, scene.home, [sent], scene.clock.now())
        again = Scene(tmp_path / "one", ["second"])
        again.channel.number = 1
        async with again:
            assert await again.say("and now?") == "second"
            assert again.texts == ["second"]
        copies.put_away(held, scene.home)
    assert cell.execute("SELECT DISTINCT state FROM kenobot_home.outbox") == [("sent",)]


async def test_a_copy_of_the_same_version_is_used_as_it_is(cell: Cell, tmp_path: Path, sealer: Sealer) -> None:
    """One that is older, or whose last commit is not in PostgreSQL, is made anew."""
    home, copies = _add_home(cell, tmp_path), WorkingCopies(cell.store, sealer)
    place, held = Home(tmp_path / "copy"), cell.take(home)
    copies.bring_up(held, place)
    place.index.write_text("made of the database")
    copies.bring_up(held, place)
    assert place.index.exists()
    elsewhere, taken = WorkingCopies(cell.store, sealer), cell.hand_on(held)
    other = Home(tmp_path / "other")
    elsewhere.bring_up(taken, other)
    with use_keepers(_keepers(elsewhere, taken, other)), closing(connect(other.database)) as connection:  # type: ignore[arg-type]
        connection.execute("BEGIN")
        connection.execute("INSERT INTO author VALUES (1, 'x')")
        connection.commit()
    back = cell.hand_on(taken)
    copies.bring_up(back, place)
    assert not place.index.exists()
    assert _read_local(place.database, "author") == [(1, "x")]


async def test_a_copy_whose_making_was_broken_off_is_made_anew(
    cell: Cell, tmp_path: Path, sealer: Sealer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the home's version, and lacks the words of memories, by which new ones find those that they go with."""
    home, copies = _add_home(cell, tmp_path), WorkingCopies(cell.store, sealer)
    scene, held = Scene(tmp_path / "one", _REPLIES), cell.take(home)
    copies.bring_up(held, scene.home)
    with use_keepers(_keepers(copies, held, scene.home)):  # type: ignore[arg-type]
        async with scene:
            await _talk(scene, _TALK)
        copies.put_away(held, scene.home)
    words = _read_local(scene.home.database, "term_index")
    assert words
    other = Home(tmp_path / "two")
    with monkeypatch.context() as patch:
        patch.setattr(Transfers, "complete_copy", lambda connection: _break_off())
        with pytest.raises(KeyboardInterrupt):
            copies.bring_up(held, other)
    copies.bring_up(held, other)
    assert {path.name for path in other.path.glob("kenobot.db*")} == {"kenobot.db"}
    assert _read_local(other.database, "term_index") == words


def _break_off() -> None:
    raise KeyboardInterrupt


async def test_copies_that_are_of_no_use_are_removed(
    cell: Cell, tmp_path: Path, sealer: Sealer, database_url: str
) -> None:
    """One that another worker has committed to since, whose home is gone, or whose making was broken off.

    It may hold what was erased.
    """
    engine = open_engine(database_url, 2)
    threads = SharedThreads()
    async with engine.open_async():
        copies, folder = WorkingCopies(cell.store, sealer), tmp_path / "copies"
        services = HostServices(*(pool_of(engine), copies, BotTokens(None), folder, SystemClock(), {}, 1.0, threads))
        homes = {name: _add_home(cell, tmp_path, name) for name in ("ana", "eva", "leo")}
        for home in homes.values():
            copies.bring_up(cell.take(home), Home(folder / str(home)))
        cell.execute("UPDATE kenobot.home SET version = version + 1 WHERE name = 'eva'")
        cell.store.remove(homes["leo"])
        for home in (_add_home(cell, tmp_path, "ida"), 1_000_000):
            (folder / str(home)).mkdir()
            (folder / str(home) / "kenobot.db.new").write_bytes(b"half of it")
        await WarmHomes(services).remove_stale_copies()
    threads.close()
    assert [path.name for path in folder.iterdir()] == [str(homes["ana"])]


async def test_files_go_with_the_commit_that_may_speak_of_them(cell: Cell, tmp_path: Path, sealer: Sealer) -> None:
    """Identity, settings, attachments and secrets, sealed: changed, new and removed ones, and no memory file."""
    home, copies = _add_home(cell, tmp_path), WorkingCopies(cell.store, sealer)
    place, held = Home(tmp_path / "copy"), cell.take(home)
    copies.bring_up(held, place)
    place.seed_identity()
    (place.memory / "MEMORY.md").write_text("made anew")
    place.config_file.write_text("[bot]\nname = 'Kai'\n")
    (place.credentials / "telegram_token").write_text("123:secret")
    place.media.mkdir()
    (place.media / ("ab" * 32)).write_bytes(b"\x00picture")
    (place.identity / "BOOTSTRAP.md").unlink()
    copies.put_away(held, place)
    assert copies._files == {}
    copies.bring_up(held, place)
    assert cell.execute("SELECT count(*) FROM kenobot.file WHERE content LIKE %s", b"%123:secret%") == [(0,)]
    rows = cell.execute("SELECT path, sealed FROM kenobot.file ORDER BY path")
    assert [path for path, sealed in rows if sealed] == ["credentials/telegram_token", "kenobot.toml"]
    plain = [path for path, sealed in rows if not sealed]
    assert plain[0] == f"media/{'ab' * 32}"
    assert set(plain[1:]) == {f"memory/identity/{path.name}" for path in place.identity.iterdir()}
    (place.identity / "preferences.md").write_text("- Ana")
    (place.media / ("ab" * 32)).unlink()
    with use_keepers(_keepers(copies, held, place)), closing(connect(place.database)) as connection:  # type: ignore[arg-type]
        connection.execute("BEGIN")
        connection.execute("INSERT INTO author VALUES (1, 'x')")
        connection.commit()

    other, taken = Home(tmp_path / "other"), cell.hand_on(held)
    WorkingCopies(cell.store, sealer).bring_up(taken, other)
    assert (other.identity / "preferences.md").read_text() == "- Ana"
    assert (other.credentials / "telegram_token").read_text() == "123:secret"
    assert other.config_file.read_text() == "[bot]\nname = 'Kai'\n"
    assert other.config_file.stat().st_mode & 0o777 == 0o600
    assert list(other.media.glob("*")) == []
    assert not (other.identity / "BOOTSTRAP.md").exists()
