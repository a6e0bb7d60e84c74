"""A bot on trial takes messages in and answers none; afterwards its owner hears how the update ended."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kenobot.app.trial import ReturnPending, run_trial, tell_of_update
from kenobot.core.settings.home import Home
from kenobot.ports.sentences import Sentence
from kenobot.storage.updates import Environments, Side, Update, Verdict
from tests.scene import Scene
from tests.waiting import until


def _update(home: Home, phase: str, *channels: str, reason: str = "") -> Update:
    old, new = (Side(version=name, environment=home.versions / name) for name in ("0.1.0", "0.2.0"))
    update = Update.model_validate(
        {
            "trial": "ab",
            "phase": phase,
            "old": old,
            "new": new,
            "schema_version": 1,
            "began": datetime.now(UTC),
            "channels": channels,
            "reason": reason,
        }
    )
    environments = Environments(home)
    environments.switch(new.environment)
    environments.write(update)
    return update


@pytest.mark.parametrize(
    ("phase", "told"),
    [("taken", "Ahora soy la versión 0.2.0 (antes: 0.1.0)"), ("returned", "no ha funcionado (terminó enseguida)")],
)
async def test_the_owner_is_told_once_in_their_language(tmp_path: Path, phase: str, told: str) -> None:
    async with Scene(tmp_path, ["De nada."]) as scene:
        await scene.say("Hola, muchas gracias por la ayuda de ayer")
        _update(scene.home, phase, reason=Sentence("update.ended_at_once") if phase == "returned" else "")
        for _ in range(2):
            await tell_of_update(scene.app)
            await scene.app.wait_drained()
        assert [told in sent.part.text for sent in scene.channel.sent] == [False, True]


@pytest.mark.parametrize(("serving", "problem"), [(["telegram"], ""), ([], "the channel telegram does not run")])
async def test_a_verdict_says_whether_the_channels_run(tmp_path: Path, serving: list[str], problem: str) -> None:
    """It is on trial until the command has decided, or has died: then what runs goes on."""
    async with Scene(tmp_path, ["Hello."]) as scene:
        _update(scene.home, "trial", "telegram")
        environments, stop = Environments(scene.home), asyncio.Event()

        def begin() -> "asyncio.Task[None]":
            return asyncio.create_task(asyncio.Event().wait(), name="channels")  # type: ignore[arg-type]

        with scene.home.update_lock():
            trial = asyncio.create_task(run_trial(scene.app, lambda: serving, begin, stop))
            await until(lambda: environments.read_verdict() is not None)
            assert environments.read_verdict() == Verdict(trial="ab", problem=problem)
            assert not trial.done()
        running = await trial
        assert running is not None
        running.cancel()
        after = environments.read()
        assert after is not None
        assert after.phase == "taken"


async def test_a_version_whose_return_is_left_to_itself_ends(tmp_path: Path) -> None:
    """So that it is started again, and the start finishes the return."""
    async with Scene(tmp_path, ["Hello."]) as scene:
        update = _update(scene.home, "trial")
        environments = Environments(scene.home)

        def begin() -> "asyncio.Task[None]":
            return asyncio.create_task(asyncio.Event().wait(), name="channels")  # type: ignore[arg-type]

        with scene.home.update_lock():
            trial = asyncio.create_task(run_trial(scene.app, list, begin, asyncio.Event()))
            await until(lambda: environments.read_verdict() is not None)
            environments.write(update.model_copy(update={"phase": "returning", "reason": "it ended at once"}))
        with pytest.raises(
            ReturnPending, match=r"0\.2\.0 did not get well \(it ended at once\).*puts version 0\.1\.0 back"
        ):
            await trial
        assert environments.read() == update.model_copy(update={"phase": "returning", "reason": "it ended at once"})


@pytest.mark.parametrize("phase", ["trial", "returning"])
async def test_an_update_that_was_left_to_itself_is_taken(tmp_path: Path, phase: str) -> None:
    """From then on messages are answered, which a return would lose."""
    async with Scene(tmp_path, ["Hello."]) as scene:
        _update(scene.home, phase)
        assert await run_trial(scene.app, list, pytest.fail, asyncio.Event()) is None
        after = Environments(scene.home).read()
        assert after is not None
        assert after.phase == "taken"
        assert await scene.say("Hi") == "Hello."
