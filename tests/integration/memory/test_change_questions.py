"""Without a model, a message that probably changes a memory in words that no rule knows leads to one question."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kenobot.agent.turn import change_question
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.language.changes.change_signs import is_plain_telling
from kenobot.language.changes.likely_change import StandingStatement
from kenobot.ports.channel import Capabilities
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import Provider
from kenobot.providers.offline import plugin
from kenobot_testing.clock import EagerClock
from tests.scene import Scene

LIVE = "SELECT text FROM record WHERE status = 'active' AND form IN ('note', 'episode') ORDER BY id"


def offline(home: Path, clock: Clock) -> Provider:
    return plugin.build(plugin.settings(), PluginContext(home, clock, "KenoBot"))


def scene(home: Path, **environ: str) -> Scene:
    clock = EagerClock()
    found = Scene(home, provider=offline(home, clock), clock=clock, extraction=True, environ=environ)
    found.channel.capabilities = Capabilities(buttons=True, edits=True)
    return found


@pytest.fixture
def first_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each message probably changes the oldest memory: what is chosen is not what these tests are about."""

    def first(message: str, _: object, standing: Sequence[StandingStatement], *__: object) -> int | None:
        return 0 if standing and is_plain_telling(message) else None

    monkeypatch.setattr(change_question, "find_changed", first)


async def live(house: Scene) -> list[object]:
    return [text for (text,) in await house.rows(LIVE)]


async def test_a_change_that_no_rule_knows_is_asked_about(tmp_path: Path) -> None:
    """The reply ends with the question, in the language of the message; a yes ends the older memory."""
    async with scene(tmp_path) as house:
        await house.say("apunta que entro a trabajar a las 7 y media")
        reply = await house.say("me cambian el turno del trabajo, desde mañana entro a las 13")
        assert "¿Sustituye esto a «entro a trabajar a las 7 y media»" in reply
        assert "ya no vale" in await house.say("sí")
        assert await live(house) == ["me cambian el turno del trabajo, desde mañana entro a las 13"]


@pytest.mark.usefixtures("first_is_meant")
async def test_a_yes_by_a_button_ends_the_older_one_and_undo_brings_it_back(tmp_path: Path) -> None:
    """The newer one takes its place, which its history tells; undo takes back that alone."""
    async with scene(tmp_path) as house:
        await house.say("Note that the gate code is 1234")
        assert "Does this take the place of “the gate code is 1234”" in await house.say(
            "Remember we use 9876 at the gate"
        )
        assert list(house.buttons) == ["Yes, it does", "No, both hold"]
        assert "is over" in await house.press("Yes, it does")
        assert await live(house) == ["we use 9876 at the gate"]
        assert await house.rows("SELECT status FROM record WHERE text LIKE '%1234'") == [("superseded",)]
        await house.press("Undo")
        assert await live(house) == ["the gate code is 1234", "we use 9876 at the gate"]


@pytest.mark.usefixtures("first_is_meant")
async def test_a_message_of_which_nothing_was_noted_is_noted_when_it_is_asked_about(tmp_path: Path) -> None:
    """Without an answer both stay, as the question says; a yes ends the older one, and undo brings it back."""
    async with scene(tmp_path) as house:
        await house.say("Note that the heating oil comes on Friday")
        assert "take the place" in await house.say("Grand so.")
        assert await live(house) == ["the heating oil comes on Friday", "Grand so."]
        await house.say("yes")
        assert await live(house) == ["Grand so."]
        await house.press("Undo")
        assert await live(house) == ["the heating oil comes on Friday", "Grand so."]


async def test_a_yes_ends_the_clause_that_is_meant_and_one_undo_restores_it(tmp_path: Path) -> None:
    """The question names that clause alone; what else the memory tells stays word for word."""
    whole = "Trabajo en una imprenta en Vitoria, entro a las 7 y media"
    async with scene(tmp_path) as house:
        await house.say(whole)
        assert "¿Sustituye esto a «entro a las 7 y media»" in await house.say("desde el lunes entro a las 9")
        await house.say("sí")
        assert await live(house) == ["Trabajo en una imprenta en Vitoria", "desde el lunes entro a las 9"]
        await house.press("Deshacer")
        assert await live(house) == [whole, "desde el lunes entro a las 9"]


@pytest.mark.parametrize(
    ("told", "correction"),
    [
        ("My favourite colour is red", "no wait, it's blue"),
        ("My rent is 850 euros", "Actually it's 900"),
        ("mi color favorito es el rojo", "perdón, es el azul"),
        ("tomo 20 mg de ramipril", "no, son 10 mg"),
    ],
)
@pytest.mark.parametrize("answer", ["yes", "no", "sí"])
async def test_a_correction_of_few_words_is_kept_behind_what_it_puts_right(
    tmp_path: Path, told: str, correction: str, answer: str
) -> None:
    """It is asked about, and whatever the answer, its words and those that say of what it is stay."""
    async with scene(tmp_path) as house:
        await house.say(told)
        reply = await house.say(correction)
        assert f"{told}. {correction}" in reply
        assert "Does this take the place of" in reply or "¿Sustituye esto a" in reply
        await house.say(answer)
        left = [] if answer != "no" else [told]
        assert await live(house) == [*left, f"{told}. {correction}"]


async def test_a_correction_of_what_was_told_long_ago_is_no_question(tmp_path: Path) -> None:
    """After ten minutes few words may be about anything."""
    async with scene(tmp_path) as house:
        await house.say("My rent is 850 euros")
        house.clock.advance(3600)  # type: ignore[attr-defined]
        await house.say("Actually it's 900")
        assert await live(house) == ["My rent is 850 euros"]


@pytest.mark.parametrize("answer", ["sí", "no", "hola"])
async def test_a_liking_that_turned_is_kept_whatever_the_answer(tmp_path: Path, answer: str) -> None:
    """It is noted by itself, asked about beside its opposite, and never lost."""
    async with scene(tmp_path) as house:
        await house.say("no me gusta el pescado")
        assert "¿Sustituye esto a «no me gusta el pescado»" in await house.say("ahora sí me gusta el pescado")
        await house.say(answer)
        assert "ahora sí me gusta el pescado" in await live(house)
        assert ("no me gusta el pescado" in await live(house)) == (answer != "sí")


@pytest.mark.usefixtures("first_is_meant")
async def test_the_same_sentence_ends_in_a_longer_memory_too(tmp_path: Path) -> None:
    """Of two memories of one message the longer keeps its other words, and one undo brings both back."""
    async with scene(tmp_path) as house:
        await house.say("Note that my mother comes on the 17th")
        [(number,)] = await house.rows("SELECT max(id) FROM inbox")
        assert isinstance(number, int)
        longer = Candidate(
            "note", OWNER_SCOPE, "my mother comes on the 17th. Two nights by the sea with Rex", evidence=(number,)
        )
        occasion = AdmitContext(house.clock.now(), house.clock.now().date().isoformat(), "owner")
        await house.app.database.write(lambda connection: admit(connection, longer, occasion))
        assert len(await live(house)) == 2
        await house.say("Remember she comes a week later")
        await house.press("Yes, it does")
        assert await live(house) == ["Two nights by the sea with Rex", "she comes a week later"]
        await house.press("Undo")
        assert len(await live(house)) == 3


@pytest.mark.usefixtures("first_is_meant")
async def test_a_no_keeps_both_and_the_same_words_ask_no_more(tmp_path: Path) -> None:
    """Not on that day, and not by another message with the same words."""
    async with scene(tmp_path) as house:
        await house.say("apunta que el código de la verja es 1234")
        assert "¿Sustituye" in await house.say("apunta que en la verja usamos 9876")
        assert await house.say("no") == "Bien, se quedan los dos."
        assert "¿Sustituye" not in await house.say("apunta que en la verja usamos 9876")
        assert len(await live(house)) == 2


@pytest.mark.usefixtures("first_is_meant")
async def test_any_other_message_leaves_the_question_unanswered(tmp_path: Path) -> None:
    """A later yes means something else; its button still works."""
    async with scene(tmp_path, KENOBOT_MEMORY__ASK_CHANGES="1") as house:
        await house.say("Note that the gate code is 1234")
        await house.say("Remember we use 9876 at the gate")
        pressed = house.buttons["Yes, it does"]
        await house.say("Hello there")
        assert "is over" not in await house.say("yes")
        assert len(await live(house)) == 2
        assert "is over" in await house.say("", kind="action", target="1", value=pressed)
        assert await live(house) == ["we use 9876 at the gate"]


@pytest.mark.usefixtures("first_is_meant")
async def test_only_the_person_asked_may_press_and_only_once(tmp_path: Path) -> None:
    """A press of another account is not let in, nor a second one."""
    async with scene(tmp_path) as house:
        await house.say("Note that the gate code is 1234")
        await house.say("Remember we use 9876 at the gate")
        value = house.buttons["Yes, it does"]
        assert not await house.put("", kind="action", target="1", value=value, user="2")
        assert len(await live(house)) == 2
        for _ in range(2):
            await house.put("", kind="action", target="1", value=value)
        await house.app.wait_drained()
        assert not await house.put("", kind="action", target="1", value=value)
        assert await house.rows("SELECT count(*) FROM event WHERE type = 'superseded'") == [(1,)]


@pytest.mark.usefixtures("first_is_meant")
async def test_the_question_outlives_a_restart_and_is_not_put_again(tmp_path: Path) -> None:
    """It is a row of the database, stored with the reply that holds it."""
    async with scene(tmp_path) as house:
        await house.say("Note that the gate code is 1234")
        await house.say("Remember we use 9876 at the gate")
        number = house.channel.number
    async with scene(tmp_path) as house:
        house.channel.number = number + 10
        assert "is over" in await house.say("yes")
        assert await house.rows("SELECT count(*) FROM approval") == [(1,)]
        assert await house.rows("SELECT count(*) FROM event WHERE type = 'asked'") == [(1,)]


@pytest.mark.usefixtures("first_is_meant")
async def test_a_reply_that_could_not_be_stored_asks_once_when_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The question is opened in the transaction of its reply, and goes with it."""
    opened = change_question.ChangeAsker.open
    failures = [StoreError("the disk is full")]

    def fail_once(self: change_question.ChangeAsker, *given: Any) -> Any:
        found = opened(self, *given)
        if failures:
            raise failures.pop()
        return found

    monkeypatch.setattr(change_question.ChangeAsker, "open", fail_once)
    async with scene(tmp_path) as house:
        await house.say("Note that the gate code is 1234")
        sent = len(house.channel.sent)
        assert "take the place" in await house.say("Remember we use 9876 at the gate")
        assert not failures
        assert len(house.channel.sent) == sent + 1
        assert await house.rows("SELECT count(*) FROM approval") == [(1,)]
        assert await house.rows("SELECT count(*) FROM event WHERE type = 'asked'") == [(1,)]
        assert await house.rows("SELECT count(*) FROM keyboard") == [(1,)]


@pytest.mark.usefixtures("first_is_meant")
@pytest.mark.parametrize(
    ("said", "more"),
    [
        ("Remember we use 9876 at the gate", {"user": "2"}),
        ("Remember we use 9876 at the gate", {"chat": "-7", "private": False}),
        ("Remember we use 9876 at the gate", {"forwarded": True}),
        ("Do we use 9876 at the gate?", {}),
    ],
)
async def test_others_groups_and_questions_are_asked_nothing(tmp_path: Path, said: str, more: dict[str, Any]) -> None:
    """A guest, a group, words of others, and a message that asks itself."""
    async with scene(tmp_path) as house:
        await house.say("Note that the gate code is 1234")
        if "user" in more:
            await house.say("Note that the gate code is 1234", **more)
        assert "take the place" not in await house.say(said, **more)


@pytest.mark.usefixtures("first_is_meant")
async def test_what_was_told_in_confidence_is_not_asked_about(tmp_path: Path) -> None:
    """It would be quoted in a chat that others may look into."""
    async with scene(tmp_path) as house:
        await house.say("Between us: the gate code is 1234")
        assert "take the place" not in await house.say("Remember we use 9876 at the gate")


@pytest.mark.usefixtures("first_is_meant")
async def test_a_day_has_so_many_questions_as_the_setting_says(tmp_path: Path) -> None:
    """With one, the second waits for tomorrow, and both are shown together; with none there is no question at all."""
    async with scene(tmp_path / "one", KENOBOT_MEMORY__ASK_CHANGES="1") as house:
        await house.say("Note that the gate code is 1234")
        assert "take the place" in await house.say("Remember we use 9876 at the gate")
        assert "take the place" not in await house.say("Remember we use 5555 at the gate")
        assert (await house.say("what is the gate code?")).count("\n- ") == 3
        house.clock.advance(30 * 3600)  # type: ignore[attr-defined]
        assert "take the place" in await house.say("Remember we use 7777 at the gate")
    async with scene(tmp_path / "none", KENOBOT_MEMORY__ASK_CHANGES="0") as house:
        await house.say("Note that the gate code is 1234")
        assert "take the place" not in await house.say("Remember we use 9876 at the gate")


@pytest.mark.usefixtures("first_is_meant")
async def test_what_words_ended_surely_is_not_asked_about(tmp_path: Path) -> None:
    """The rules have found what the message changes."""
    async with scene(tmp_path) as house:
        await house.say("I live in Paris")
        await house.say("My rent is 850 euros")
        assert "Does this take the place" not in await house.say("My rent is 900 euros now")


@pytest.mark.usefixtures("first_is_meant")
@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("I was born in 1984", "what year was I born"),
        ("my locker is 14", "remind me what my locker is"),
        ("tomo la pastilla a las 9", "a q hora tomo la pastilla"),
        ("la cita es el jueves a las 5", "cuando es la cita"),
    ],
)
async def test_a_question_without_a_mark_is_answered_and_changes_nothing(tmp_path: Path, told: str, asked: str) -> None:
    """It is not noted, and not taken for a change."""
    async with scene(tmp_path) as house:
        await house.say(told)
        reply = await house.say(asked)
        assert told in reply
        assert reply.startswith(("This is what I remember", "Esto es lo que recuerdo"))
        assert list(house.buttons) == []
        assert await live(house) == [told]


async def test_a_part_of_a_memory_that_is_said_again_is_not_asked_about(tmp_path: Path) -> None:
    """It changes nothing."""
    async with scene(tmp_path) as house:
        await house.say("el autobús 25 para en el hospital, y el curso cuesta 879 €")
        assert "Sustituye" not in await house.say("sí, el curso cuesta 879 €")


@pytest.mark.parametrize("told", ["when I was 12 I broke my arm", "cuando era pequeña viví en Soria"])
async def test_what_happened_at_some_time_is_told(tmp_path: Path, told: str) -> None:
    """It begins like a question and is none."""
    async with scene(tmp_path) as house:
        await house.say(told)
        assert await live(house) == [told]


@pytest.mark.parametrize(
    ("told", "said", "left"),
    [
        (
            "The band rehearses at Joe's garage on Wednesdays",
            "we rehearse Mondays now",
            "The band rehearses at Joe's garage",
        ),
        ("My appointment is on 12 May at the Mercy", "My appointment is on 26 May now", "My appointment at the Mercy"),
        ("mi marido Walter trabaja en el puerto", "Walter se jubiló el viernes", "mi marido Walter"),
        ("el desayuno va de 6 a 9 y cuesta 12 soles", "el desayuno lo subí a 15 soles", "el desayuno va de 6 a 9"),
    ],
)
async def test_a_yes_ends_the_value_that_is_meant(
    first_is_meant: None, tmp_path: Path, told: str, said: str, left: str
) -> None:
    """All other words of the memory go on holding, and one undo restores it."""
    async with scene(tmp_path) as house:
        await house.say(told)
        await house.say(said)
        await house.say("yes")
        assert left in await live(house)
        assert told not in await live(house)
        await house.say("/undo")
        assert told in await live(house)


@pytest.mark.parametrize(
    ("answer", "stays"), [("only a part", True), ("no", True), ("all of it", False), ("yes", False)]
)
async def test_all_of_a_memory_that_says_more_ends_by_a_second_yes_alone(
    first_is_meant: None, tmp_path: Path, answer: str, stays: bool
) -> None:
    """The first one is as likely about a part of it: where that is goes on."""
    told = "Dr Lahoz looks after my back, near Delicias station"
    async with scene(tmp_path) as house:
        await house.say(told)
        await house.say("since October Dr Sanz looks after it")
        assert "Is all of it over?" in await house.say("yes")
        assert told in await live(house)
        await house.say(answer)
        assert (told in await live(house)) is stays
        if stays:
            await house.say("Dr Lahoz works near Delicias station")
            assert "Dr Lahoz works near Delicias station" in await live(house)
            assert told not in await live(house)


@pytest.mark.parametrize(
    ("told", "part"),
    [
        ("I am allergic to nuts and cats", "I am no longer allergic to cats"),
        ("I play tennis on Mondays and Thursdays", "I no longer play tennis on Mondays"),
    ],
)
async def test_one_of_two_things_in_a_memory_is_asked_about_as_a_part(tmp_path: Path, told: str, part: str) -> None:
    """A yes ends neither: whether all of it is over is asked, and then how it should read."""
    async with scene(tmp_path) as house:
        await house.say(told)
        assert "only of a part of it" in await house.say(part)
        assert "Is all of it over?" in await house.say("yes")
        assert "How should" in await house.say("only a part")
        assert told in await live(house)


@pytest.mark.parametrize(
    ("told", "message", "answers", "left"),
    [
        (
            "vivo en Maipú con mi primo Ezequiel",
            "Ezequiel se volvió a San Juan y yo sigo en la casa, solo",
            ("solo una parte", "vivo en Maipú"),
            "vivo en Maipú",
        ),
        (
            "I've got two jobs: Costa in the morning and a call centre at night",
            "packed in the call centre, couldn't hack it",
            ("only a part", "Costa in the morning"),
            "I've got two jobs: Costa in the morning",
        ),
    ],
)
@pytest.mark.usefixtures("first_is_meant")
async def test_after_a_part_the_rest_stays_in_its_own_words(
    tmp_path: Path, told: str, message: str, answers: Sequence[str], left: str
) -> None:
    """Nothing is kept of a memory but words of it that the person says go on holding, each once."""
    async with scene(tmp_path) as house:
        await house.say(told)
        await house.say(message)
        for answer in answers:
            await house.say(answer)
        stays = await live(house)
        assert left in stays
        assert {told, "mi primo Ezequiel"}.isdisjoint(stays)
