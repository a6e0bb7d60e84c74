"""`kenobot setup` in a real terminal, with Telegram's emulator and a model's stand-in: the dialogue, and repairs."""

import json
import sqlite3
import stat
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from kenobot.core.settings.load import load_settings
from tests.integration.setup.machine import BOT, Machine, Typist, machine
from tests.integration.stand_in import KEY, OWNER, TOKEN

pytestmark = pytest.mark.long

_ENGLISH = {
    "right": "Is that right?",
    "who": "Who writes the answers?",
    "key": "Anthropic API key",
    "no_key": "Anthropic refused the API key",
    "again": "Try again?",
    "model": "Which model?",
    "answers": "claude-sonnet-5-5 answers.",
    "telegram": "Talk over Telegram too?",
    "token": "Telegram bot token",
    "no_token": "Telegram does not know this token",
    "bot": f"It is the token of @{BOT}",
    "owner": "Whose bot is it?",
    "send": f"Send this message to @{BOT}",
    "found": "The owner is Laura",
    "done": "KenoBot is set up in",
    "yes": "y",
    "no": "That will not do:",
}
_SPANISH = {
    "right": "¿Está bien?",
    "who": "¿Quién escribe las respuestas?",
    "key": "Clave de la API de Anthropic",
    "no_key": "Anthropic ha rechazado la clave",
    "again": "¿Otra vez?",
    "model": "¿Qué modelo?",
    "answers": "claude-sonnet-5-5 responde.",
    "telegram": "¿Hablar también por Telegram?",
    "token": "Token del bot de Telegram",
    "no_token": "Telegram no conoce este token",
    "bot": f"Es el token de @{BOT}",
    "owner": "¿De quién es el bot?",
    "send": f"Manda este mensaje a @{BOT}",
    "found": "El dueño es Laura",
    "done": "KenoBot está configurado en",
    "yes": "s",
    "no": "Eso no vale:",
}
_OTHER = TOKEN.replace("A", "B")


@pytest.mark.parametrize(("locale", "says"), [("en_GB.UTF-8", _ENGLISH), ("es_ES.UTF-8", _SPANISH)])
async def test_a_fresh_machine_is_set_up_with_everything_tried_out(
    tmp_path: Path, locale: str, says: Mapping[str, str]
) -> None:
    """A wrong key and a wrong token are told at once; the owner is who sends the code; only they can read it."""
    async with machine(tmp_path, locale) as here, here.terminal("setup") as laura:
        await laura.answers(
            (says["right"], ""),
            (says["who"], "anthropic"),
            (says["key"], "sk-ant-wrong"),
            (says["again"], says["yes"]),
            (says["who"], ""),
            (says["key"], KEY),
            (says["model"], ""),
            (says["telegram"], ""),
            (says["token"], _OTHER),
            (says["again"], ""),
            (says["token"], TOKEN),
            (says["owner"], ""),
        )
        code = await laura.sees_code()
        await here.telegram.laura("ABCD-2345", "666")
        await here.telegram.laura(f"/start {code}")
        await laura.ends(0)
        for word in ("no_key", "answers", "no_token", "bot", "send", "found", "done"):
            assert says[word] in laura.screen, laura.screen
        assert "Europe/Madrid" in laura.screen
        assert KEY not in laura.screen and TOKEN not in laura.screen
        assert [sent.chat for sent in here.telegram.sent] == [OWNER]
        loaded = load_settings(here.home, here.environ)
        assert (loaded.settings.provider.name, loaded.settings.bot.timezone) == ("anthropic", "Europe/Madrid")
        assert loaded.settings.plugin_tables("kenobot.channels")["telegram"]["owners"] == [OWNER]
        assert {KEY, TOKEN} <= set(loaded.secrets())
        assert {stat.S_IMODE(path.stat().st_mode) for path in here.home.path.rglob("*") if path.is_file()} == {0o600}


async def _set_up(here: Machine, *flags: str) -> None:
    """Set a bot up without questions."""
    for name, text in (("key", KEY), ("token", TOKEN)):
        (here.folder / name).write_text(text)
    given = ("--anthropic-key-file", str(here.folder / "key"), "--telegram-token-file", str(here.folder / "token"))
    async with here.terminal("setup", "--yes", *given, *flags) as script:
        await script.ends(0)


async def test_the_bot_answers_what_others_wrote_meanwhile_and_not_the_code(tmp_path: Path) -> None:
    """Neither a message that waited before the setup nor one that came during it is lost; the code is spent."""
    async with machine(tmp_path) as here:
        (tmp_path / "key").write_text(KEY)
        (tmp_path / "token").write_text(TOKEN)
        await here.telegram.laura("first: is anybody there?")
        flags = ("--anthropic-key-file", str(tmp_path / "key"), "--telegram-token-file", str(tmp_path / "token"))
        async with here.terminal("setup", "--yes", *flags, "--find-owner") as script:
            code = await script.sees_code()
            await here.telegram.laura("second: hello?")
            await here.telegram.laura(code.lower().replace("-", ""))
            await script.ends(0)
        assert here.telegram.acknowledged == 0
        thanks = len(here.telegram.sent)
        async with here.terminal("run") as bot:
            await here.telegram.replies(thanks + 1, 60)
            asked = str(here.model.requests)
            assert "first: is anybody there?" in asked
            await here.telegram.laura("third: and now?")
            await here.telegram.replies(thanks + 2, 60)
            assert "second: hello?" in str(here.model.requests)
            assert code not in str(here.model.requests) and code.lower().replace("-", "") not in str(
                here.model.requests
            )
            await bot.terminal.interrupt()
            await bot.terminal.ends()
        assert len({sent.text for sent in here.telegram.sent}) >= 1


async def test_wrong_codes_are_bounded_and_the_person_may_begin_anew(tmp_path: Path) -> None:
    """After five wrong ones the code is void, even for who knows it; a new code works, and so does a number."""
    async with machine(tmp_path) as here, here.terminal("setup") as laura:
        await laura.answers(
            ("Is that right?", ""), ("Who writes", ""), ("Talk over", ""), ("bot token", TOKEN), ("Whose bot", "")
        )
        first = await laura.sees_code()
        for number in range(5):
            await here.telegram.laura(f"WRNG-{2345 + number}", "666")
        await laura.answers(("Whose bot", ""))
        assert "Too many wrong codes" in laura.screen
        second = await laura.sees_code([first])
        await here.telegram.laura(first)
        await here.telegram.laura(second)
        await laura.ends(0)


_WHOLE = (
    ("Is that right?", ""), ("Who writes", "anthropic"), ("Anthropic API key", KEY), ("Talk over", "y"),
    ("bot token", TOKEN), ("Whose bot", ""),
)  # fmt: skip


@pytest.mark.parametrize("answered", range(len(_WHOLE) + 1))
async def test_ctrl_c_leaves_nothing_half(tmp_path: Path, answered: int) -> None:
    """At any question, at any secret and while a code is waited for: nothing is on disk."""
    async with machine(tmp_path) as here, here.terminal("setup") as laura:
        await laura.answers(*_WHOLE[:answered])
        if answered == len(_WHOLE):
            await laura.sees_code()
        else:
            await laura.terminal.asks()
        await laura.terminal.interrupt()
        await laura.ends(130)
        assert "Nothing was changed." in laura.screen
        assert not here.home.path.exists()


async def test_run_again_it_asks_for_what_is_wrong_alone(tmp_path: Path) -> None:
    """The token was revoked: it is shown, asked for and replaced; a comment and a setting of the person's stay."""
    async with machine(tmp_path) as here:
        await _set_up(here, "--owner", OWNER)
        config = here.home.config_file
        config.write_text("# mine\n" + config.read_text().replace("[media]\n", "[media]\nkeep_days = 7 # a week\n"))
        here.telegram.token = _OTHER
        async with here.terminal("setup") as laura:
            await laura.answers(("Go through everything instead?", ""), ("bot token", _OTHER), ("Whose bot", ""))
            await laura.ends(0)
            assert "✓ claude-sonnet-5-5 answers." in laura.screen
            assert "✗ Telegram does not know this token" in laura.screen
        assert (here.home.credentials / "telegram_token").read_text().strip() == _OTHER
        assert config.read_text().startswith("# mine\n")
        assert "[media]\nkeep_days = 7 # a week\n" in config.read_text()
        async with here.terminal("setup") as laura:
            await laura.answers(("Change anything?", ""))
            await laura.ends(0)


async def test_run_again_it_repairs_what_cannot_be_read(tmp_path: Path) -> None:
    """A spoilt token and a mistake in kenobot.toml are told in the person's language, put aside and asked for anew."""
    async with machine(tmp_path, "es_ES.UTF-8") as here:
        await _set_up(here, "--owner", OWNER)
        config, token = here.home.config_file, here.home.credentials / "telegram_token"
        config.write_text("# mío\n[bot]\nnane = 1\n" + config.read_text().replace("[bot]\n", ""))
        token.write_text("esto no es un token\n")
        before = {path: path.read_bytes() for path in here.home.path.rglob("*") if path.is_file()}
        async with here.terminal("setup") as laura:
            await laura.answers(("¿Sigo así?", ""))
            await laura.terminal.asks()
            await laura.terminal.interrupt()
            await laura.ends(130)
        assert {path: path.read_bytes() for path in here.home.path.rglob("*") if path.is_file()} == before
        async with here.terminal("setup") as laura:
            await laura.answers(("¿Sigo así?", ""), ("¿Lo repasamos todo?", ""))
            await laura.answers(("Token del bot", TOKEN), ("¿De quién es el bot?", ""))
            await laura.ends(0)
            for words in ("3 (nane)", "telegram_token no sirve", "no tiene la forma correcta", "no tiene token"):
                assert words in " ".join(laura.screen.split()), laura.screen
        assert token.read_text().strip() == TOKEN
        assert "# mío" in config.read_text()


async def test_a_webhook_that_holds_the_bot_is_told_and_taken_away_when_agreed(tmp_path: Path) -> None:
    """It is somebody's: nothing happens to it unasked."""
    async with machine(tmp_path) as here, here.terminal("setup") as laura:
        await _hold(here)
        await laura.answers(("Is that right?", ""), ("Who writes", ""), ("Talk over", ""), ("bot token", TOKEN))
        await laura.answers(("Take that webhook away", "y"), ("Whose bot", OWNER))
        await laura.ends(0)
        assert "the webhook of shop.example" in laura.screen


async def _hold(here: Machine) -> None:
    """Another program has the bot's messages posted to it."""
    from telegram import Bot

    async with Bot(TOKEN, base_url=here.telegram.base_url) as bot:
        await bot.set_webhook("https://shop.example/hook")


@pytest.mark.parametrize(
    ("method", "refusal", "words"),
    [
        ("getMe", (404, "Not Found"), "Telegram does not know this token"),
        ("getMe", (502, "Bad Gateway"), "Telegram cannot be reached"),
        ("getUpdates", (409, "Conflict: terminated by other getUpdates request"), "Another program reads"),
    ],
)
async def test_what_is_wrong_with_the_bot_is_one_sentence_and_may_be_kept(
    tmp_path: Path, method: str, refusal: tuple[int, str], words: str
) -> None:
    async with machine(tmp_path) as here, here.terminal("setup") as laura:
        here.telegram.refusals[method] = refusal
        await laura.answers(("Is that right?", ""), ("Who writes", ""), ("Talk over", ""), ("bot token", TOKEN))
        await laura.answers(("Try again?", "n"), ("Whose bot", OWNER))
        await laura.ends(0)
        assert words in laura.screen
        assert (here.home.credentials / "telegram_token").exists()


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"status": 402, "error": "billing_error"}, "add credit"),
        (
            {"status": 400, "error": "invalid_request_error", "message": "Your credit balance is too low to access"},
            "add credit",
        ),
        ({"status": 404, "error": "not_found_error"}, "does not know the model claude-sonnet-5-5"),
        ({"status": 529, "error": "overloaded_error"}, "try again in a few minutes"),
    ],
)
async def test_what_is_wrong_with_the_model_is_one_sentence_and_may_be_kept(
    tmp_path: Path, reply: dict[str, object], words: str
) -> None:
    async with machine(tmp_path, replies=[reply] * 9) as here, here.terminal("setup") as laura:
        await laura.answers(("Is that right?", ""), ("Who writes", "anthropic"), ("Anthropic API key", KEY))
        await laura.answers(("Try again?", "n"), ("Talk over", "n"))
        await laura.ends(0)
        assert words in laura.screen
        assert load_settings(here.home, here.environ).settings.provider.name == "anthropic"


async def test_a_script_is_told_of_each_step_and_writes_nothing_that_is_refused(tmp_path: Path) -> None:
    """One object a line; the code is among them, so that a program can show it."""
    async with machine(tmp_path) as here:
        (tmp_path / "key").write_text("sk-ant-wrong")
        (tmp_path / "token").write_text(TOKEN)
        flags = ("--telegram-token-file", str(tmp_path / "token"), "--find-owner")
        async with here.terminal("setup", "--json", "--anthropic-key-file", str(tmp_path / "key"), *flags) as script:
            await script.ends(1)
        assert not here.home.path.exists()
        (tmp_path / "key").write_text(KEY)
        async with here.terminal("setup", "--json", "--anthropic-key-file", str(tmp_path / "key"), *flags) as script:
            await here.telegram.laura(await script.sees_code())
            await script.ends(0)
        rows = _rows(script)
        assert [(row["step"], row["state"]) for row in rows] == [
            ("model", "ok"), ("telegram", "ok"), ("owner", "waiting"), ("owner", "ok"), ("home", "ok")
        ]  # fmt: skip
        assert rows[3]["name"] == OWNER
        assert set(rows[4]["saved"]) == {"anthropic_api_key", "telegram_token"}


def _rows(script: Typist) -> list[dict[str, str]]:
    return [json.loads(line) for line in script.terminal.screen.lines if line.startswith("{")]


async def test_nobody_who_sends_the_code_is_an_owner_that_was_not_found(tmp_path: Path) -> None:
    """The deadline ends the wait; nothing is written."""
    async with machine(tmp_path) as here:
        (tmp_path / "token").write_text(TOKEN)
        flags = ("--telegram-token-file", str(tmp_path / "token"), "--find-owner", "--wait", "2")
        async with here.terminal("setup", "--yes", *flags) as script:
            await script.ends(1)
            assert "did not come in time" in script.screen
        assert not here.home.path.exists()


async def test_a_full_mailbox_is_said(tmp_path: Path) -> None:
    """Of a hundred messages that wait, Telegram shows no more: nobody can be found, a number still can."""
    async with machine(tmp_path) as here, here.terminal("setup") as laura:
        for number in range(100):
            await here.telegram.laura(f"hello {number}", "666")
        await laura.answers(
            ("Is that right?", ""), ("Who writes", ""), ("Talk over", ""), ("bot token", TOKEN), ("Whose bot", "")
        )
        await laura.answers(("Whose bot", OWNER))
        await laura.ends(0)
        assert "Too many messages of others wait for this bot" in laura.screen
        assert here.telegram.acknowledged == 0


async def test_a_script_takes_a_webhook_away_only_by_name(tmp_path: Path) -> None:
    async with machine(tmp_path) as here:
        (tmp_path / "token").write_text(TOKEN)
        await _hold(here)
        flags = ("setup", "--yes", "--telegram-token-file", str(tmp_path / "token"), "--owner", OWNER)
        async with here.terminal(*flags) as script:
            await script.ends(1)
            assert "the webhook of shop.example" in script.screen
        assert not here.home.path.exists()
        async with here.terminal(*flags, "--remove-webhook") as script:
            await script.ends(0)
            assert f"It is the token of @{BOT}" in script.screen


async def test_a_token_that_is_revoked_while_the_code_is_waited_for_ends_the_wait(tmp_path: Path) -> None:
    """A script is told so in its own form, and nothing is written."""
    async with machine(tmp_path) as here:
        (tmp_path / "token").write_text(TOKEN)
        flags = ("setup", "--json", "--telegram-token-file", str(tmp_path / "token"), "--find-owner")
        async with here.terminal(*flags) as script:
            await script.sees_code()
            here.telegram.refusals["getUpdates"] = (401, "Unauthorized")
            await script.ends(1)
            last = _rows(script)[-1]
        assert (last["step"], last["state"]) == ("owner", "refused")
        assert "does not know this token" in last["text"]
        assert not here.home.path.exists()


async def test_the_call_that_tries_the_model_out_is_counted(tmp_path: Path) -> None:
    """In a home that has its books, as any other call."""
    async with machine(tmp_path) as here:
        await _set_up(here, "--owner", OWNER)
        async with here.terminal("chat", "-m", "hello") as chat:
            await chat.ends(0)
        with closing(sqlite3.connect(here.home.database)) as books:
            before = books.execute("SELECT count(*) FROM model_call WHERE purpose = 'test'").fetchone()[0]
            await _set_up(here, "--model", "claude-sonnet-5-5")
            after = books.execute("SELECT count(*) FROM model_call WHERE purpose = 'test'").fetchone()[0]
        assert after == before + 1


_EVERY_CHANNEL = (  # the question's first words, and what a person answers; twice the same: the first will not do
    ("IRC:", "127.0.0.1"), ("IRC:", "ana"), ("IRC:", "account:ana"), ("again", ""),
    ("XMPP:", "keno"), ("XMPP:", "keno@localhost"), ("XMPP:", "a secret"), ("XMPP:", "ana@localhost"),
    ("Discord:", "a token"), ("Discord:", "Ana"), ("Discord:", "80351110224678912"),
    ("Slack:", "xoxb-1"), ("Slack:", "xapp-1"), ("Slack:", "@ana"), ("Slack:", "U012AB3CD"),
    ("Matrix:", "http://127.0.0.1:9"), ("Matrix:", "keno"), ("Matrix:", "@keno:localhost"), ("Matrix:", "a secret"),
    ("Matrix:", "@ana:localhost"), ("again", ""),
    ("E-mail:", "keno"), ("E-mail:", "keno@example.org"), ("E-mail:", "a secret"), ("E-mail:", "127.0.0.1"),
    ("E-mail:", "127.0.0.1"), ("E-mail:", "nobody"), ("E-mail:", "ana@example.org"), ("again", ""),
    ("WhatsApp:", "+34"), ("WhatsApp:", "123"), ("WhatsApp:", "a token"), ("WhatsApp:", "a secret"),
    ("WhatsApp:", "my own words"), ("WhatsApp:", "600"), ("WhatsApp:", "+34 600 123 456"), ("again", ""),
)  # fmt: skip


@pytest.mark.parametrize(("locale", "says"), [("en_GB.UTF-8", _ENGLISH), ("es_ES.UTF-8", _SPANISH)])
async def test_every_channel_is_set_up_by_its_name(tmp_path: Path, locale: str, says: Mapping[str, str]) -> None:
    """What has not the form of an id is told with one that has; a platform out of reach is told and may be kept."""
    names = ["irc", "xmpp", "discord", "slack", "matrix", "email", "whatsapp"]
    async with machine(tmp_path, locale) as here:
        here.environ = {**here.environ, "KENOBOT_CHANNELS__WHATSAPP__API": "http://127.0.0.1:9"}
        async with here.terminal("setup") as laura:
            await laura.answers((says["right"], ""), (says["who"], ""), (says["telegram"], ", ".join(names)))
            await laura.answers(*((says.get(words, words), answer) for words, answer in _EVERY_CHANNEL))
            await laura.ends(0)
            assert "a secret" not in laura.screen
            wrong = [line for line in laura.screen.splitlines() if line.startswith(says["no"])]
        loaded = load_settings(here.home, here.environ)
        assert sorted(loaded.settings.channels.enabled) == sorted([*names, "http"])
        assert len(wrong) == 8
        assert not [line for line in wrong if "pattern" in line], wrong
        if locale.startswith("es"):
            assert not [line for line in laura.screen.splitlines() if " is " in line or " be reached" in line]
