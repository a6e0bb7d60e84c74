"""What the offline provider quotes where memories are found by meaning: what answers, and what may have changed it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kenobot.ports.clock import SystemClock
from kenobot.ports.plugin import NoSettings, PluginContext
from kenobot_local import usem3
from kenobot_local.threaded import ThreadedEmbedder
from kenobot_testing.clock import EagerClock
from tests.integration.memory.test_offline_voice import offline
from tests.scene import Scene

pytestmark = pytest.mark.long

_DAY = 86_400.0


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> ThreadedEmbedder:
    """For all tests: it takes a second to load."""
    if why := usem3.unavailable_reason():
        pytest.skip(why)
    home = tmp_path_factory.mktemp("model")
    return usem3.plugin.build(NoSettings(), PluginContext(home=home, clock=SystemClock(), bot_name="Kenobot"))


def scene(home: Path, embedder: ThreadedEmbedder) -> Scene:
    clock = EagerClock()
    return Scene(home, provider=offline(home, clock), clock=clock, extraction=True, embedder=embedder)


@pytest.mark.parametrize(
    ("told", "later", "asked", "expected"),
    [
        (
            "I live in Lyon",
            "we have a new flat in Nantes since Monday",
            "where's my home?",
            ["“we have a new flat in Nantes since Monday” (today)", "“I live in Lyon” (2026-02-14)"],
        ),
        (
            "tengo 51 años",
            "ayer cumplí 52",
            "¿qué edad tengo?",
            ["«ayer cumplí 52» (hoy)", "«tengo 51 años» (2026-02-14)"],
        ),
        ("I'm 61", "I'm 62 today", "what's my age?", ["“I'm 62 today” (today)", "“I'm 61” (2026-02-14)"]),
        (
            "My gym costs 30 a month",
            "they put the gym up to 42",
            "what does the gym cost me?",
            ["“they put the gym up to 42” (today)", "“My gym costs 30 a month” (2026-02-14)"],
        ),
    ],
)
async def test_what_may_disagree_is_quoted_with_its_days_the_newest_first(
    tmp_path: Path, embedder: ThreadedEmbedder, told: str, later: str, asked: str, expected: Sequence[str]
) -> None:
    """Also where the newer has no word of the question, and no rule knows that it changes the older."""
    async with scene(tmp_path, embedder) as house:
        await house.say(told)
        house.clock.advance(_DAY)  # type: ignore[attr-defined]
        await house.say(later)
        house.clock.advance(60)  # type: ignore[attr-defined]
        assert (await house.say(asked)).splitlines()[1:] == [f"- {line}" for line in expected]


async def test_what_was_found_by_meaning_alone_is_quoted(tmp_path: Path, embedder: ThreadedEmbedder) -> None:
    """And nothing of what only comes near: a name is no trade, an age no occupation."""
    async with scene(tmp_path, embedder) as house:
        for told in ("My name is Sam", "I'm a beekeeper", "I'm 44", "My daughter Pia plays the oboe"):
            await house.say(told)
        said = await house.say("what's my occupation?")
        assert said.splitlines()[1:] == ["- “I'm a beekeeper”"]
        assert (await house.say("¿qué instrumento toca mi hija?")).splitlines()[1:] == [
            "- «My daughter Pia plays the oboe»"
        ]


async def test_a_no_parts_two_memories_again(tmp_path: Path, embedder: ThreadedEmbedder) -> None:
    """What does not take the other's place by its speaker's word is not quoted beside it for that alone."""
    async with scene(tmp_path, embedder) as house:
        await house.say("trabajo en una ferretería")
        assert "¿Sustituye" in await house.say("he dejado la ferretería, ahora soy repartidor")
        assert "repartidor" in await house.say("¿en qué trabajo?")
        await house.say("pago 30 al mes de gimnasio")
        assert "¿Sustituye" in await house.say("me han subido el gimnasio a 42")
        await house.say("no")
        rows = await house.rows("SELECT type FROM event WHERE type = 'both stand'")
        assert len(rows) == 1


async def test_it_is_never_said_that_nothing_was_told_where_something_near_was(
    tmp_path: Path, embedder: ThreadedEmbedder
) -> None:
    """What comes near is quoted as that; of what nobody told anything it says that it finds nothing."""
    async with scene(tmp_path, embedder) as house:
        await house.say("My daughter Pia plays the oboe")
        said = await house.say("does Pia play the drums?")
        assert "The closest I remember:\n- “My daughter Pia plays the oboe”" in said
        assert "find nothing about this" in await house.say("who's the mayor of Oslo?")


async def test_the_name_of_another_is_not_the_speakers(tmp_path: Path, embedder: ThreadedEmbedder) -> None:
    """However new it is."""
    async with scene(tmp_path, embedder) as house:
        for told in ("Me llamo Berta", "mi cuñado se llama Elías", "my horse is called Tizón"):
            await house.say(told)
        said = await house.say("what's my name?")
        assert "Berta" in said and "Elías" not in said and "Tizón" not in said


async def test_all_that_is_told_of_somebody_is_quoted_where_nothing_more_is_asked(
    tmp_path: Path, embedder: ThreadedEmbedder
) -> None:
    """However little it looks like an answer."""
    told = ("Fergus is a welder", "Fergus and Una split up", "Fergus adores figs", "I lent Fergus the long ladder")
    async with scene(tmp_path, embedder) as house:
        for each in told:
            await house.say(each)
        for asked in ("what do you know about Fergus?", "¿quién es Fergus?"):
            said = await house.say(asked)
            assert all(each in said for each in told)


async def test_what_is_gone_on_about_after_a_question_is_kept_with_what_it_is_about(
    tmp_path: Path, embedder: ThreadedEmbedder
) -> None:
    """Unless the question was about somebody else."""
    async with scene(tmp_path, embedder) as house:
        await house.say("We got a kitten")
        await house.say("what is the name of my kitten?")
        assert "“We got a kitten. her name is Kiki”" in await house.say("her name is Kiki")
        await house.say("My uncle Sven is a baker")
        await house.say("where does Olga live?")
        assert "Sven" not in await house.say("her name is Petra now")


async def test_what_is_told_of_a_relative_is_not_told_of_the_speaker(
    tmp_path: Path, embedder: ThreadedEmbedder
) -> None:
    """It is quoted as what comes near."""
    async with scene(tmp_path, embedder) as house:
        await house.say("my aunt turns 70 on Friday")
        assert "The closest I remember:\n- “my aunt turns 70 on Friday”" in await house.say("how old am I?")
