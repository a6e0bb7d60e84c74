"""A conversation that remembers, asks why, forgets and undoes; and what is forgotten is nowhere any more."""

import asyncio
from pathlib import Path

import pytest

from kenobot.cli import main
from kenobot.cli.memory import purge
from kenobot.gateway.access import Roster
from kenobot.storage.connection import Connection
from tests.scene import Scene

SALARY = "Got it. <memory>Adrian's salary is 90k euros</memory>"


def files(scene: Scene) -> str:
    """Every file of the live tree: what was forgotten is kept in the archive alone, until it is purged."""
    root = scene.home.memory
    paths = (path for path in sorted(root.rglob("*.md")) if root / "archive" not in path.parents)
    return "\n".join(path.read_text("utf-8") for path in paths)


async def number_of(scene: Scene, text: str) -> int:
    [(number,)] = await scene.rows(f"SELECT id FROM record WHERE text = '{text.replace(chr(39), chr(39) * 2)}'")
    assert isinstance(number, int)
    return number


async def test_remembered_explained_forgotten_undone(tmp_path: Path) -> None:
    """The forgotten fact is in no later prompt and in no file; undo brings it back to both."""
    replies = [SALARY, "You earn 90k euros a year as salary.", "Noted.", "Sure.", "Sure."]
    async with Scene(tmp_path, replies) as scene:
        await scene.say("My salary is 90k euros, by the way")
        assert "90k" in await scene.say("How much is my salary?")
        why = await scene.say("/why")
        assert "Adrian's salary is 90k euros" in why
        assert "you wrote “My salary is 90k euros, by the way”" in why
        assert "90k" in files(scene)

        answer = await scene.say("/forget salary 90k")
        assert answer.startswith("Forgotten:\n- #1 “Adrian's salary is 90k euros”")
        assert "90k" not in files(scene)
        await scene.say("And now something else")
        assert "90k" not in scene.requests[-1]
        assert "salary" not in scene.requests[-1]

        assert "I remember #1" in await scene.say("/undo")
        assert "90k" in files(scene)
        await scene.say("One more thing")
        assert "90k" in scene.requests[-1]


async def test_what_became_known_in_the_talk_stands_behind_later_answers(tmp_path: Path) -> None:
    """It came with a note beside a message: each answer had it from then on, and its number is kept."""
    replies = ["Noted. <memory>Ana's coat is green</memory>", "It is green.", "Green, as I said.", "Hm."]
    async with Scene(tmp_path, replies) as scene:
        await scene.say("Hello, Ana has a green coat")
        for _ in range(2):
            await scene.say("Which colour has Ana's coat?")
            assert "#1 “Ana's coat is green”" in await scene.say("/why")
        [(told,)] = await scene.rows("SELECT json_extract(data, '$.noted') FROM event WHERE data LIKE '%noted%'")
        assert told == "[1]"
        assert await scene.rows("SELECT use_count FROM record WHERE id = 1") == [(0,)]


async def test_orders_stay_out_of_the_talk(tmp_path: Path) -> None:
    """Neither an order nor its answer is shown to the model, and none costs a call."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        assert "I will remember: likes tea" in await scene.say("/remember likes tea")
        assert "I knew that already" in await scene.say("/remember Likes tea.")
        assert "1 note" in await scene.say("/memory")
        assert "1 note" in await scene.say("What do you know about me?")
        assert "not answered anything" in await scene.say("/why")
        assert scene.requests == []
        await scene.say("Hello")
        assert "likes tea" in scene.requests[0]
        assert "/remember" not in scene.requests[0]


async def test_what_was_said_in_a_chat_is_no_memory_of_a_person(tmp_path: Path) -> None:
    """The summary of a conversation holds the bot's own words: it is neither counted nor listed."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await scene.say("/remember likes tea")
        await scene.say("/remember likes coffee")

        def summarise(connection: Connection) -> None:
            connection.execute(
                "UPDATE record SET form = 'summary', key = 'slot:session', text = '(answered) Hello, I am KenoBot!' "
                "WHERE id = 1"
            )

        await scene.app.database.write(summarise)
        told = await scene.say("What do you know about me?")
        assert "1 note" in told
        assert "likes coffee" in told
        assert "summar" not in told
        assert "I am KenoBot!" not in told
        await scene.say("Hello, are you KenoBot, or likes KenoBot coffee?")
        why = await scene.say("/why")
        assert "likes coffee" in why
        assert "I am KenoBot!" not in why


async def test_in_spanish(tmp_path: Path) -> None:
    """The Spanish names, and plain words, get Spanish answers."""
    async with Scene(tmp_path, ["Vale."]) as scene:
        assert "He aprendido que: vivo en Madrid" in await scene.say("/recuerda vivo en Madrid")
        assert "1 nota" in await scene.say("¿Qué sabes de mí?")
        assert "1 nota" in await scene.say("/memoria")
        question = await scene.say("Olvida que vivo en Madrid")
        assert "¿Olvido esto?" in question
        assert "«vivo en Madrid»" in question
        assert "Olvidado" in await scene.say("sí")
        assert "Todavía no recuerdo nada" in await scene.say("/memoria")
        assert "vuelvo a recordar" in await scene.say("/deshacer")
        assert "Todavía no he respondido" in await scene.say("/porque")


async def test_nothing_is_guessed(tmp_path: Path) -> None:
    """Of several that may be meant none is forgotten before the person has said which; other numbers do not count."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        texts = ("the red car needs oil", "the blue car needs tyres", "likes tea")
        for text in texts:
            await scene.say(f"/remember {text}")
        question = await scene.say("/forget car")
        assert "Which of these" in question
        assert "tea" not in question
        red, blue, tea = [await number_of(scene, text) for text in texts]
        assert "Which of these" in await scene.say(str(tea))
        assert "Which of these" in await scene.say("yes")
        assert "blue car" in await scene.say(str(blue))
        assert await scene.say(str(red)) == "Hm.", "the question is over"
        assert [
            text for (text,) in await scene.rows("SELECT text FROM record WHERE status = 'active' AND form = 'note'")
        ] == [
            "the red car needs oil",
            "likes tea",
        ]
        assert "nothing like that" in await scene.say("/forget bicycle")
        assert "nothing with the number 99" in await scene.say("/forget 99")
        assert "Forgotten" in await scene.say(f"/forget #{tea}")


@pytest.mark.parametrize("said", ["yes", "ok", "1"])
async def test_a_yes_to_something_else_forgets_nothing(tmp_path: Path, said: str) -> None:
    """Once the conversation has gone on, the question is no longer open."""
    async with Scene(tmp_path, ["Shall I book it?"]) as scene:
        await scene.say("/remember my car is red")
        assert "Shall I forget this?" in await scene.say("forget that my car is red")
        await scene.say("Find me a table for two")
        assert await scene.say(said) == "Shall I book it?"
        assert await scene.rows("SELECT status FROM record WHERE form != 'box'") == [("active",)]


async def test_a_question_waits_an_hour(tmp_path: Path) -> None:
    """And not longer; it outlives a restart."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await scene.say("/remember my car is red")
        await scene.say("forget that my car is red")
        await scene.app.clock.sleep(3601)
        assert await scene.say("yes") == "Hm."
        await scene.say("forget that my car is red")
    async with Scene(tmp_path, ["Hm."]) as scene:
        scene.channel.number = 100
        assert "Forgotten" in await scene.say("yes")


async def test_no_keeps_it(tmp_path: Path) -> None:
    """Then the question is closed."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await scene.say("/remember my car is red")
        await scene.say("forget that my car is red")
        assert await scene.say("no") == "Good, I keep it."
        assert await scene.say("yes") == "Hm."


async def test_everybody_has_hands_on_their_own_only(tmp_path: Path) -> None:
    """A guest neither sees nor forgets nor undoes what is the owner's, and nobody does in a group."""
    roster = Roster.of(["1"], ["2"], ["-100"])
    async with Scene(tmp_path, ["Hm."], roster=roster) as scene:
        await scene.say("/remember the vault is behind the Goya")
        where: tuple[dict[str, object], ...] = (
            {"chat": "2", "user": "2"},
            {"chat": "-100", "user": "1", "private": False},
        )
        for place in where:
            for order in (
                "/memory",
                "/forget vault",
                "/forget 1",
                "/undo",
                "/undo 1",
                "/why",
                "what do you know about me?",
            ):
                answer = await scene.say(order, **place)  # type: ignore[arg-type]
                assert "Goya" not in answer
                assert "Forgotten" not in answer
                assert "Undone" not in answer
        assert await scene.rows("SELECT status FROM record WHERE form != 'box'") == [("active",)]
        await scene.say("/remember I am Ana", chat="2", user="2")
        await scene.say("/remember the fair is in May", chat="-100", user="2", private=False)
        assert await scene.rows("SELECT scope FROM record WHERE form != 'box' ORDER BY id") == [
            ("owner",),
            ("user:telegram-2",),
            ("chat:telegram--100",),
        ]
        assert "Forgotten" in await scene.say("/forget I am Ana", chat="2", user="2")
        assert "Undone" in await scene.say("/undo", chat="2", user="2")


async def test_a_forwarded_order_orders_nothing(tmp_path: Path) -> None:
    """Neither with a slash nor in plain words, nor as an answer."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await scene.say("/remember my car is red")
        await scene.say("forget that my car is red")
        for text in ("/forget 1", "forget that my car is red", "yes"):
            assert await scene.say(text, forwarded=True) == "Hm."
        assert await scene.rows("SELECT status FROM record WHERE form != 'box'") == [("active",)]


async def test_only_who_was_asked_answers(tmp_path: Path) -> None:
    """In a group a question is one person's."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        group: dict[str, object] = {"chat": "-100", "private": False}
        await scene.say("/remember the fair is in May", user="2", **group)  # type: ignore[arg-type]
        assert "Shall I" in await scene.say("forget that our fair is in May", user="2", **group)  # type: ignore[arg-type]
        assert await scene.say("yes", user="3", **group) == "Hm."  # type: ignore[arg-type]
        assert await scene.rows("SELECT status FROM record WHERE form != 'box'") == [("active",)]


async def test_a_password_is_not_kept(tmp_path: Path) -> None:
    """It is said that it is not."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        assert "looks like a password" in await scene.say("/remember my password is hunter22xyz")
        assert await scene.rows("SELECT * FROM record") == []


async def test_a_forgotten_preference_leaves_its_file(tmp_path: Path) -> None:
    """preferences.md is the owner's, but a line that the bot wrote into it goes with what it says, and comes back."""
    replies = ["OK. <user-update>prefers short answers</user-update>", "Sure."]
    async with Scene(tmp_path, replies, files={"identity/preferences.md": "# Mine\n\n- be kind\n"}) as scene:
        await scene.say("Short answers, please")
        assert "learned: prefers short answers" in scene.read("identity/preferences.md")
        assert "Forgotten" in await scene.say("/forget short answers")
        await scene.say("Go on")
        assert "prefers short answers" not in scene.read("identity/preferences.md")
        assert "- be kind" in scene.read("identity/preferences.md")
        assert "short answers" not in scene.requests[-1]
        await scene.say("/undo")
        assert "learned: prefers short answers" in scene.read("identity/preferences.md")


async def test_preferences_follow_what_is_corrected_and_purged(tmp_path: Path) -> None:
    """The line of a corrected preference is rewritten, a purged one is gone, and a person's own line stays."""
    replies = [
        "OK. <user-update>prefers green tea</user-update>",
        "OK. <user-update>prefers jazz</user-update>",
        "Sure.",
    ]
    async with Scene(tmp_path, replies, files={"identity/preferences.md": "# Mine\n\n- be kind\n"}) as scene:
        await scene.app.check_external_changes()
        await scene.say("I like green tea")
        await scene.say("And jazz")
        tea, jazz = [await number_of(scene, text) for text in ("prefers green tea", "prefers jazz")]
        orders = [["correct", str(tea), "prefers", "black", "tea"], ["purge", str(jazz), "--yes"]]
        with scene.home.lock():
            for order in orders:
                assert await asyncio.to_thread(main, ["memory", *order, "--home", str(scene.home.path)]) == 0
        await scene.app.check_external_changes()
        await scene.say("/new")
        await scene.say("Go on")
        text = scene.read("identity/preferences.md")
        assert text.splitlines() == ["# Mine", "", "- be kind", "- learned: prefers black tea"]
        assert "green tea" not in scene.requests[-1].partition("## Conversation")[0]
        assert "prefers jazz" not in scene.requests[-1]


async def test_the_command_line_beside_a_running_bot(tmp_path: Path) -> None:
    """What is forgotten there is in no later prompt and no file of the bot's, and what is remembered there is."""
    async with Scene(tmp_path, [SALARY, "Sure."]) as scene:
        await scene.app.check_external_changes()
        await scene.say("My salary is 90k euros, by the way")
        with scene.home.lock():
            for order in (["forget", "1"], ["remember", "likes", "lapsang"]):
                assert await asyncio.to_thread(main, ["memory", *order, "--home", str(scene.home.path)]) == 0
        assert "90k" in files(scene)
        await scene.app.check_external_changes()
        await scene.say("And now something else")
        assert "90k" not in scene.requests[-1]
        assert "likes lapsang" in scene.requests[-1]
        assert "90k" not in files(scene)
        assert "likes lapsang" in files(scene)


def _bytes_of(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}


async def test_a_purge_beside_a_running_bot_is_finished_by_the_bot(tmp_path: Path) -> None:
    """The command line erases the rows; the bot writes the files, the index and then the database anew: no byte left.

    Nothing more is written anew once that is done.
    """
    secret = "<memory>Adrian's boat is called Zanzibar</memory>"
    async with Scene(tmp_path, [f"Got it. {secret}", "Sure."]) as scene:
        await scene.app.check_external_changes()
        for number in range(20):
            await scene.say(f"/remember the plant number {number} wants water")
        await scene.say("My boat is called Zanzibar")
        boat = await number_of(scene, "Adrian's boat is called Zanzibar")
        with scene.home.lock():
            order = ["memory", "purge", str(boat), "--yes", "--home", str(scene.home.path)]
            assert await asyncio.to_thread(main, order) == 0
        await scene.app.check_external_changes()
        await scene.app.wait_drained()
        assert await scene.rows("SELECT value FROM key_value WHERE key = 'purge:unfinished'") != []
        await scene.app.background.purge_finisher.tick()
        held = {path for path, content in _bytes_of(scene.home.path).items() if b"Zanzibar" in content}
        assert held == set()
        assert await scene.rows("SELECT value FROM key_value WHERE key = 'purge:unfinished'") == []
        before = scene.home.database.stat().st_mtime_ns
        await scene.app.background.purge_finisher.tick()
        assert scene.home.database.stat().st_mtime_ns == before
        await scene.say("How are you?")
        assert "Zanzibar" not in scene.requests[-1]


async def test_a_purge_erases_what_prompts_quoted_of_the_turns_that_told_it(tmp_path: Path) -> None:
    """An excerpt has the words of a forwarded message, not those of the memory that was made of it."""
    replies = ["Noted. <memory>Tom's locker opens with 9912</memory>", "Hm."]
    async with Scene(tmp_path, replies) as scene:
        await scene.app.check_external_changes()
        await scene.say("9912 zanzibar does it for the locker of Tom", forwarded=True)
        for text in ("Nice weather", "/new", "Which locker has Tom?"):
            await scene.say(text)
        recalled = "SELECT recalled FROM message WHERE recalled != ''"
        assert "9912 zanzibar" in str(await scene.rows(recalled))
        locker = await number_of(scene, "Tom's locker opens with 9912")
        with scene.home.lock():
            order = ["memory", "purge", str(locker), "--yes", "--home", str(scene.home.path)]
            assert await asyncio.to_thread(main, order) == 0
        await scene.app.check_external_changes()
        await scene.app.background.purge_finisher.tick()
        assert await scene.rows(recalled) == []
        held = {path for path, content in _bytes_of(scene.home.path).items() if b"zanzibar" in content}
        assert held == set()


async def test_a_purge_erases_a_note_of_a_prompt_that_was_escaped(tmp_path: Path) -> None:
    """It is found by the memory's number: the prompt has other brackets than the memory."""
    async with Scene(tmp_path, ["Noted. <memory>The code is <|zanzibar|></memory>", "Hm."]) as scene:
        await scene.app.check_external_changes()
        for text in ("I wrote it down", "Nice weather"):
            await scene.say(text)
        notes = "SELECT context FROM message WHERE context != ''"
        assert "[|zanzibar" in str(await scene.rows(notes))
        with scene.home.lock():
            order = ["memory", "purge", "1", "--yes", "--home", str(scene.home.path)]
            assert await asyncio.to_thread(main, order) == 0
        assert await scene.rows(notes) == []


async def test_a_purge_that_was_killed_is_finished_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies right after the rows are erased: the next run of the bot does the rest."""
    async with Scene(tmp_path, ["Got it. <memory>Adrian's boat is called Zanzibar</memory>"]) as scene:
        for number in range(20):
            await scene.say(f"/remember the plant number {number} wants water")
        await scene.say("My boat is called Zanzibar")
        boat = await number_of(scene, "Adrian's boat is called Zanzibar")

    def killed(*_: object) -> list[str]:
        raise KeyboardInterrupt

    home = scene.home
    with monkeypatch.context() as patch:
        patch.setattr(purge, "purge_files", killed)
        order = ["memory", "purge", str(boat), "--yes", "--home", str(home.path)]
        assert await asyncio.to_thread(main, order) == 130
    assert any(b"Zanzibar" in content for content in _bytes_of(home.path).values())
    async with Scene(tmp_path, ["Sure."]) as scene:
        await scene.app.background.purge_finisher.tick()
        assert not [path for path, content in _bytes_of(home.path).items() if b"Zanzibar" in content]


async def test_a_purge_that_was_killed_is_finished_by_the_next_purge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no bot runs, the command finishes what is left before anything else, even if it finds nothing to erase."""
    async with Scene(tmp_path, ["Got it. <memory>Adrian's boat is called Zanzibar</memory>"]) as scene:
        await scene.say("My boat is called Zanzibar")
        boat = await number_of(scene, "Adrian's boat is called Zanzibar")
    order = ["memory", "purge", str(boat), "--yes", "--home", str(scene.home.path)]
    with monkeypatch.context() as patch:
        patch.setattr(purge, "purge_files", lambda *_: [])
        assert await asyncio.to_thread(main, order) == 0
    assert any(b"Zanzibar" in content for content in _bytes_of(scene.home.path).values())
    assert await asyncio.to_thread(main, order) == 2, "it is gone already"
    assert not [path for path, content in _bytes_of(scene.home.path).items() if b"Zanzibar" in content]


async def test_the_commands_are_listed_to_whoever_may_give_them(tmp_path: Path) -> None:
    """Asked in either language; a guest is shown no command of the owner's."""
    async with Scene(tmp_path, []) as scene:
        told = await scene.say("/help")
        assert "- `/remember`: remember at once the text that follows" in told
        assert "- `/approve`: accept" in told
        assert "- `/recuerda`: recordar" in await scene.say("/ayuda")
        guest = await scene.say("/help", chat="2", user="2")
        assert "`/forget`" in guest
        assert "`/approve`" not in guest
        assert scene.requests == []


async def test_a_command_that_there_is_not_costs_no_call(tmp_path: Path) -> None:
    """The nearest one is named; in a group it may be another bot's, and a path is no command."""
    async with Scene(tmp_path, ["A path.", "For another bot."]) as scene:
        assert "Did you mean `/memory`?" in await scene.say("/memry")
        assert "`/help` lists them" in await scene.say("/weather Rome")
        assert scene.requests == []
        assert await scene.say("/etc/hosts is full") == "A path."
        assert await scene.say("/roll 6", chat="-100", user="1", private=False) == "For another bot."


async def test_memory_is_searched_and_leafed_through(tmp_path: Path) -> None:
    """Eight a page, newest first; words and a number find what is meant."""
    async with Scene(tmp_path, []) as scene:
        things = "tea coffee water milk juice beer wine cider mate".split()
        for thing in things:
            await scene.say(f"/remember {thing} stands in cupboard {thing[::-1]}")
        first = await scene.say("/memory")
        assert "I remember 9 notes" in first
        assert "mate stands" in first
        assert "tea stands" not in first
        assert "/memory page 2" in first
        second = await scene.say("/memory page 2")
        assert second == "- #1 “tea stands in cupboard aet”"
        assert "That page does not exist" in await scene.say("/memory page 3")
        assert "#7 “beer stands" in await scene.say("/memory beer cupboard")
        assert "#5 “milk stands" in await scene.say("/memory 5")
        assert "nothing about “submarine”" in await scene.say("/memory submarine")


async def test_a_command_is_answered_in_the_language_that_the_person_speaks(tmp_path: Path) -> None:
    """What follows it decides, then what was said in the chat, and only then how it is spelt."""
    async with Scene(tmp_path, ["Vale."]) as scene:
        assert "He aprendido que: me llamo Adrián y vivo en Lugo" in await scene.say(
            "/remember me llamo Adrián y vivo en Lugo"
        )
        await scene.say("¿Qué tiempo hace en la ciudad?")
        assert "Recuerdo" in (await scene.say("/memory")).replace("recuerdo", "Recuerdo")
        assert "I remember nothing about" in await scene.say("/memory the name of the dog that is with us")


async def test_a_single_word_after_a_command_tells_no_language(tmp_path: Path) -> None:
    """A code or a name may look like a word of either."""
    async with Scene(tmp_path, ["Fine."]) as scene:
        await scene.say("/remember the fair is in May")
        await scene.say("What is the weather like in the city?")
        assert "I remember nothing about “una”" in await scene.say("/memory una")


async def test_forget_the_key_is_a_wish_where_memory_has_a_key(tmp_path: Path) -> None:
    """It is asked about, in both languages; where memory has no such thing the model hears it."""
    async with Scene(tmp_path, ["Noted. <memory>the spare key is with Ana</memory>", "Sushi, then."]) as scene:
        await scene.say("Ana keeps the spare key")
        assert await scene.say("forget the pizza") == "Sushi, then."
        assert (await scene.say("forget the spare key")).startswith("Shall I forget this?\n- #1 “the spare key is with")
        assert (await scene.say("yes")).startswith("Forgotten:")
        assert await scene.say("olvida la pizza") == "Sushi, then."


async def test_a_command_sees_what_was_edited_in_a_file(tmp_path: Path) -> None:
    """`/memory` right after the edit shows the file's words, as an answer would."""
    async with Scene(tmp_path, ["Noted. <memory>the boat is red</memory>"]) as scene:
        await scene.say("My boat is red")
        await scene.app.memory_files.wait_caught_up()
        [file] = [path for path in scene.home.memory.glob("*.md") if "boat is red" in path.read_text("utf-8")]
        file.write_text(file.read_text("utf-8").replace("red", "turquoise"), "utf-8")
        assert "the boat is turquoise" in await scene.say("/memory boat")


async def test_a_yes_that_quotes_answers_what_it_quotes(tmp_path: Path) -> None:
    """The older of two questions; a reply to anything else is said to the model, and changes nothing."""
    async with Scene(tmp_path, ["Hm."]) as scene:
        await scene.say("/remember likes tea")
        other = scene.channel.sent[-1]
        await scene.say("/remember plays chess")
        assert "likes tea" in await scene.say("Forget that I like tea")
        about_tea = scene.channel.sent[-1]
        assert "plays chess" in await scene.say("Forget that I play chess")
        assert await scene.say("yes", reply_to=str(other.id)) == "Hm."
        assert await scene.say("yes", reply_to="no message of the bot's") == "Hm."
        assert "likes tea" in await scene.say("yes", reply_to=str(about_tea.id))
        rows = await scene.rows("SELECT text FROM record WHERE status = 'active' AND form IN ('note', 'episode')")
        assert rows == [("plays chess",)]
        assert await scene.say("yes", reply_to=str(about_tea.id)) == "Hm."


async def test_what_takes_the_place_of_a_memory_is_told(tmp_path: Path) -> None:
    """A command that says what is so now says whose place that takes, and undo brings the old one back."""
    async with Scene(tmp_path, []) as scene:
        await scene.say("/remember My dentist is Luis")
        answer = await scene.say("/remember My dentist is Ana now")
        assert answer.endswith("I will remember: My dentist is Ana now\nIt takes the place of: My dentist is Luis.")
        assert "My dentist is Luis" in await scene.say("/undo")
        assert "My dentist is Luis" in files(scene)
