"""Settings come in layers, and whatever is wrong with them is an error with a name: never a silent default."""

import errno
import json
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import BaseModel, SecretStr

from kenobot.agent.prompt.prompt_context import PromptLimits
from kenobot.app.wiring import BREAKER_FAILURES, BREAKER_SECONDS
from kenobot.core import plugins
from kenobot.core.settings import explain
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings, Settings, load_settings
from kenobot.core.settings.older import RENAMED_KEYS, RETIRED, KeyPath
from kenobot.core.settings.schema import DAILY_TOKENS, Purpose, PurposeBudget
from kenobot.core.settings.sources import PLUGIN_SECTIONS
from kenobot.ledger.limits import budget_limits, job_limits
from kenobot.ports.errors import ConfigError
from kenobot.ports.plugin import Plugin
from kenobot.providers.openai_compatible import PRESETS
from tests.recorded import CONFORMANCE

CASES = CONFORMANCE / "kenobot.jsonl"
TOKEN = "123456789:" + "A" * 35


class Strange(BaseModel):
    """A plugin's settings by somebody who did not forbid extra keys."""

    needed: str
    door_password: SecretStr = SecretStr("")
    ports: list[int] = []


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def strange(monkeypatch: pytest.MonkeyPatch) -> None:
    """A channel called "my-door" is installed beside the others."""
    real_names, real_load = plugins.names, plugins.load
    door = Plugin(settings=Strange, build=lambda settings, surroundings: object())
    monkeypatch.setattr(
        plugins, "names", lambda group: (*real_names(group), *(("my-door",) if "channels" in group else ()))
    )
    monkeypatch.setattr(plugins, "load", lambda group, name: door if name == "my-door" else real_load(group, name))


def refused(home: Home, text: str = "", environ: Mapping[str, str] | None = None) -> list[str]:
    """The lines of the ConfigError that this configuration is met with."""
    home.config_file.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        load_settings(home, environ or {})
    return str(caught.value).splitlines()


def accepted(home: Home, text: str = "", environ: Mapping[str, str] | None = None) -> ResolvedSettings:
    home.config_file.write_text(text, "utf-8")
    return load_settings(home, environ or {})


def credential(home: Home, name: str, value: str, mode: int = 0o600) -> Path:
    home.credentials.mkdir(exist_ok=True)
    (home.credentials / name).write_text(value)
    (home.credentials / name).chmod(mode)
    return home.credentials / name


# ── layers ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_a_file_everything_is_default(tmp_path: Path) -> None:
    """A home that does not exist has the defaults, and still does not exist."""
    loaded = load_settings(Home(tmp_path / "none"), {})
    assert loaded.settings.model_dump() == Settings().model_dump()
    assert loaded.origin("bot.name") == "default"
    assert not list(loaded.secrets())
    assert not (tmp_path / "none").exists()


def test_file_beats_default_and_environment_beats_file(home: Home) -> None:
    """Each key is taken from the strongest layer that has it, and remembers which one."""
    text = '[bot]\nname = "Ana"\ntimezone = "Europe/Madrid"\n[media]\nkeep_days = 7\n'
    loaded = accepted(home, text, {"KENOBOT_BOT__NAME": "Eva", "KENOBOT_BACKUP__KEEP": "8"})
    assert (loaded.settings.bot.name, loaded.settings.bot.timezone) == ("Eva", "Europe/Madrid")
    assert (loaded.settings.media.keep_days, loaded.settings.backup.keep) == (7, 8)
    assert loaded.origins == {
        "bot.name": "environment KENOBOT_BOT__NAME",
        "bot.timezone": f"file {home.config_file}",
        "media.keep_days": f"file {home.config_file}",
        "backup.keep": "environment KENOBOT_BACKUP__KEEP",
    }


def test_credential_files_beat_everything(home: Home, tmp_path: Path) -> None:
    """A key in credentials/ beats the environment, and one from systemd beats both."""
    environ = {"ANTHROPIC_API_KEY": "from-environment"}
    path = credential(home, "anthropic_api_key", "from-file\n")
    loaded = accepted(home, '[providers.anthropic]\napi_key = "from-toml"', environ)
    assert loaded.settings.providers["anthropic"]["api_key"].get_secret_value() == "from-file"
    assert loaded.origin("providers.anthropic.api_key") == f"credential {path}"
    systemd = tmp_path / "systemd"
    systemd.mkdir()
    (systemd / "anthropic_api_key").write_text("from-systemd")
    (systemd / "of_somebody_else").write_text("x")
    loaded = accepted(home, "", {**environ, "CREDENTIALS_DIRECTORY": str(systemd)})
    assert set(loaded.secrets()) == {"from-systemd"}


def test_short_names_and_lists_in_the_environment(home: Home) -> None:
    """The well-known variables work, a list is written with commas, and an empty variable is not set."""
    from kenobot.channels.telegram.settings import TelegramSettings

    environ = {
        "TELEGRAM_BOT_TOKEN": TOKEN,
        "TELEGRAM_ALLOWED_USERS": " 1 , 2,",
        "KENOBOT_CHANNELS__ENABLED": "telegram, console",
        "ANTHROPIC_API_KEY": "",
        "KENOBOT_BOT__NAME": "",
    }
    loaded = accepted(home, "", environ)
    telegram = loaded.plugin_settings("kenobot.channels", "telegram", TelegramSettings)
    assert telegram.token.get_secret_value() == TOKEN
    assert telegram.allowed_users == ["1", "2"]
    assert loaded.settings.channels.enabled == ("telegram", "console")
    assert loaded.settings.bot.name == "KenoBot"
    assert not loaded.settings.providers


def test_a_plugin_with_a_dash_is_reached_from_the_environment(home: Home, strange: None) -> None:
    """Variables cannot have a dash, so an underscore stands for it."""
    loaded = accepted(home, "", {"KENOBOT_CHANNELS__MY_DOOR__NEEDED": "x", "KENOBOT_CHANNELS__MY_DOOR__PORTS": "1,2"})
    assert loaded.plugin_settings("kenobot.channels", "my-door", Strange).ports == [1, 2]


def test_case_does_not_matter_where_it_says_nothing(home: Home) -> None:
    """`level = "DEBUG"` is a level."""
    assert accepted(home, '[log]\nlevel = "DEBUG"\nformat = "JSON"').settings.log.level == "debug"


def test_a_byte_order_mark_is_tolerated(home: Home) -> None:
    """What Windows editors put first does not matter, in the file and in a credential."""
    credential(home, "anthropic_api_key", "\ufeffsecret-value\r\n")
    loaded = accepted(home, '\ufeff[bot]\r\nname = "Ana"\r\n')
    assert loaded.settings.bot.name == "Ana"
    assert list(loaded.secrets()) == ["secret-value"]


# ── mistakes ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[backup]\nkeeep = 3", 'unknown key "backup.keeep"; did you mean "backup.keep"?'),
        ('[bott]\nname = "x"', 'unknown section [bott]; did you mean "bot"?'),
        ("[zzz]\nx = 1", "unknown section [zzz]."),
        ('[channels]\nenabeld = ["telegram"]', 'unknown key "channels.enabeld"; did you mean "channels.enabled"?'),
        ("[channels.telegrm]\nx = 1", 'unknown section [channels.telegrm]; did you mean "channels.telegram"?'),
        (
            "[channels.telegram]\nowner = [1]",
            'unknown key "channels.telegram.owner"; did you mean "channels.telegram.owners"?',
        ),
        ('[media]\nkeep_days = "7days"', 'media.keep_days = "7days" must be a whole number from 0 to 3650.'),
        ("[media]\nkeep_days = 3651", "media.keep_days = 3651 must be a whole number from 0 to 3650."),
        ("[media]\nkeep_days = 3.5", "media.keep_days = 3.5 must be a whole number from 0 to 3650."),
        ("[media]\nkeep_days = true", "media.keep_days = true must be a whole number from 0 to 3650."),
        ('[sleep]\nexpired = "partly"', 'sleep.expired = "partly" must be one of archive, delete.'),
        ("[watch]\ndisk_mb = nan", "watch.disk_mb = NaN must be a number from 0 to 10000000."),
        ("[bot]\nname = 5", "bot.name = 5 must be a text."),
        ('[bot]\nname = ""', 'bot.name = "": should have at least 1 character.'),
        (
            '[bot]\ntimezone = "Europe/Madird"',
            'bot.timezone = "Europe/Madird": not the name of a time zone; did you mean Europe/Madrid?',
        ),
        (
            '[bot]\ntimezone = "here"',
            'bot.timezone = "here": not the name of a time zone, which looks like Europe/Madrid or UTC.',
        ),
        ('[bot]\ntimezone = "Europe"', 'bot.timezone = "Europe": not the name of a time zone'),
        ("[bott]", "unknown section [bott]"),
        ('[channels]\nenabled = "telegram"', 'channels.enabled = "telegram" must be a list of texts.'),
        ('[channels]\nenabled = ["console", "console"]', '"console" stands there twice.'),
        ('[channels]\nenabled = ["telegrm"]', 'There is no channel called "telegrm"; did you mean "telegram"?'),
        ('[provider]\nname = "antropic"', 'There is no provider called "antropic"; did you mean "anthropic"?'),
        ("bot = 3", "bot is a section, not a value."),
        ("[context]\nmemory_tokens = 30000", "memory_tokens (30000) must not be more than budget_tokens (24000)."),
        (
            "[channels.telegram]\nfragment_seconds = 99",
            "channels.telegram.fragment_seconds = 99 must be a number from 0 to 4.",
        ),
    ],
)
def test_a_mistake_in_the_file_is_one_plain_line(home: Home, text: str, line: str) -> None:
    """The file, the key, the value and what it may be are named; nothing else is said."""
    (only,) = refused(home, text)
    assert only.startswith(f"{home.config_file}: ")
    assert line in only


def test_an_older_key_still_works_and_says_its_new_name(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    """Also in the environment, and with the older word for a value; an empty section is no key."""
    text = '[memory]\nrerank_tokens = 7\n[mail]\n[loop]\n[sleep]\nretention = "Joya"\n'
    loaded = accepted(home, text, {"KENOBOT_EXTRACTION__MODEL": "offline"})
    settings = loaded.settings
    assert (settings.budget.purposes["rerank"].daily_tokens, settings.sleep.daily_log) == (7, "weekly")
    assert settings.models.cheap == "offline"
    assert caplog.messages == [
        f"{home.config_file}: memory.rerank_tokens is called budget.purposes.rerank.daily_tokens now",
        f"{home.config_file}: sleep.retention is called sleep.daily_log now",
        "KENOBOT_EXTRACTION__MODEL: extraction.model is called models.cheap now",
    ]


@pytest.mark.parametrize("job", ["extraction", "compaction", "sleep"])
def test_the_tokens_of_a_job_are_a_budget_now(home: Home, job: str) -> None:
    """None at all stay none, as 0 is no limit of a budget; the new name wins, wherever it stands in the file."""
    new = f"[budget.purposes.{job}]\ndaily_tokens = 9\n"
    for text, tokens in (
        (f"[{job}]\ndaily_tokens = 5\n", 5),
        (f"[{job}]\ndaily_tokens = 0\n", 1),
        (f"[{job}]\ndaily_tokens = 5\n{new}", 9),
        (f"{new}[{job}]\ndaily_tokens = 5\n", 9),
    ):
        budget = accepted(home, text).settings.budget
        assert budget.purposes[cast("Purpose", job)].daily_tokens == tokens
        assert [limit.amount for limit in budget_limits(budget)] == [tokens]
        assert job not in {limit.purpose for limit in job_limits(budget)}


def test_a_job_that_no_budget_names_has_tokens_of_its_own(home: Home) -> None:
    """Also where the budget limits its dollars."""
    budget = accepted(home, "[budget.purposes.sleep]\nmonthly_usd = 2\n").settings.budget
    assert {limit.purpose: limit.amount for limit in job_limits(budget)} == DAILY_TOKENS


def test_a_key_that_is_no_setting_any_more_is_left_out_and_said(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    """In the file, in the environment and in the table of a plugin; the bot starts all the same."""
    text = "[context]\nhistory_min = 3\n[signals]\n[tools.web_fetch]\nmost_mb = 5\n"
    loaded = accepted(home, text, {"KENOBOT_LOOP__ATTEMPTS": "2"})
    assert loaded.settings.context.memory_tokens == 6000
    assert caplog.messages == [
        f"{home.config_file}: context.history_min is no setting any more; what holds now: 20",
        f"{home.config_file}: tools.web_fetch.most_mb is no setting any more; what holds now: 10",
        "KENOBOT_LOOP__ATTEMPTS: loop.attempts is no setting any more; what holds now: 5",
    ]


def test_many_older_keys_are_said_in_one_line(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    """`kenobot config` lists them."""
    loaded = accepted(home, "[log]\nkeep_days = 9\n[loop]\nattempts = 2\nbacklog = 7\n[sleep]\ndaily_tokens = 4\n")
    (line,) = caplog.messages
    assert line.startswith("4 settings have names of older releases: 1 still work, 3 are no settings any more")
    assert [(each.key, each.now) for each in loaded.older if each.retired] == [
        ("log.keep_days", "30"),
        ("loop.attempts", "5"),
        ("loop.backlog", "1000"),
    ]


def test_a_home_with_every_key_of_an_older_release_starts(home: Home) -> None:
    """With whatever values: none of them stops it, or changes what is not a setting any more."""
    tables: dict[str, list[str]] = {}
    for key in RETIRED:
        tables.setdefault(".".join(key[:-1]), []).append(f'{key[-1]} = "changed"\n')
    text = "".join(f"[{section}]\n{''.join(lines)}" for section, lines in tables.items() if section)
    loaded = accepted(home, text)
    assert loaded.settings.model_dump() == Settings().model_dump()
    assert {each.key for each in loaded.older} == {".".join(key) for key in RETIRED if len(key) > 1}


@pytest.mark.parametrize("gone", sorted(RETIRED))
def test_no_key_is_both_a_setting_and_none(gone: KeyPath) -> None:
    """What was taken away is known to no table, those of plugins too."""
    assert ".".join(gone) not in set(explain.list_dotted_keys(Settings))
    group = PLUGIN_SECTIONS.get(gone[0])
    if group is not None and len(gone) == 3:
        assert gone[2] not in plugins.load(group, gone[1]).settings.model_fields


@pytest.mark.parametrize("old", RENAMED_KEYS)
def test_every_older_key_leads_to_one_that_is(old: KeyPath) -> None:
    """And is none itself any more."""
    known = set(explain.list_dotted_keys(Settings)) | {
        f"budget.purposes.{purpose}.{key}" for purpose in DAILY_TOKENS for key in PurposeBudget.model_fields
    }
    group = PLUGIN_SECTIONS.get(old[0])
    if group is not None and len(old) == 3:
        known = {".".join((*old[:2], key)) for key in plugins.load(group, old[1]).settings.model_fields}
    assert ".".join(RENAMED_KEYS[old]) in known
    assert ".".join(old) not in known


def test_all_mistakes_are_listed_at_once(home: Home) -> None:
    """Nobody has to mend five mistakes in five starts."""
    text = "[backup]\nkeeep = 3\nkeep = 0\n[media]\nkeep_days = -1\n[channels.telegram]\nfragment_seconds = 9\n"
    lines = refused(home, text, {"KENOBOT_LOG__LEVEL": "loud"})
    assert len(lines) == 5
    assert any(line.startswith('KENOBOT_LOG__LEVEL: log.level = "loud" must be one of') for line in lines)


@pytest.mark.parametrize("variable", ["KENOBOT_LOOP__ATTEMPS", "KENOBOT_BOT", "KENOBOT_NAME", "KENOBOT_CHANNELS__X__Y"])
def test_an_unknown_variable_is_an_error(home: Home, variable: str) -> None:
    """A typo in the environment is no more silent than one in the file."""
    (line,) = refused(home, "", {variable: "1", "KENOBOT_HOME": "/elsewhere"})
    assert line.startswith(f"{variable}: ")


@pytest.mark.parametrize(
    ("text", "place"),
    [("[bot]\nname = \n", "line 2"), ("[bot\nname", "line 1"), ('[bot]\nname = """x\n\n', "line 3")],
)
def test_a_syntax_error_names_the_line(home: Home, text: str, place: str) -> None:
    """Broken TOML is one line with the file and the line number."""
    (line,) = refused(home, text)
    assert line.startswith(f"{home.config_file}, {place}: not valid TOML")


def test_text_in_another_encoding_is_named(home: Home) -> None:
    """Latin-1 is refused in words."""
    home.config_file.write_bytes(b'[bot]\nname = "\xd1"')
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_settings(home, {})


def test_a_secret_is_never_in_a_complaint(home: Home, strange: None) -> None:
    """A value that must not be shown is not shown when it is wrong, wherever it stands."""
    text = '[channels.my-door]\ndoor_password = "tell-nobody"\nneeded = ["tell-nobody"]\nx_token = "tell-nobody"'
    assert "tell-nobody" not in "".join(refused(home, text))
    text = "[channels.telegram]\ntoken = [123456]"
    assert "123456" not in "".join(refused(home, text))
    assert TOKEN not in repr(accepted(home, f'[channels.telegram]\ntoken = "{TOKEN}"'))


def test_what_a_plugin_needs_is_asked_for_once_it_is_on(home: Home, strange: None) -> None:
    """A table of a plugin that is off may be incomplete; of one that is on it may not."""
    accepted(home, "[channels.my-door]\nports = [1]")
    (line,) = refused(home, '[channels]\nenabled = ["my-door"]')
    assert line == (
        "channels.my-door.needed is not set: put it in kenobot.toml or in KENOBOT_CHANNELS__MY_DOOR__NEEDED."
    )


def test_settings_of_a_channel_that_is_not_installed_wait_until_it_is_wanted(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its table is no mistake; once it is switched on, the message names what installs it."""
    real = plugins.names
    monkeypatch.setattr(plugins, "names", lambda group: tuple(name for name in real(group) if name != "irc"))
    table = '[channels.irc]\nserver = "irc.example.org"\n'
    assert accepted(home, table).settings.channels.enabled == ()
    (line,) = refused(home, f'[channels]\nenabled = ["irc"]\n{table}')
    assert line.endswith("The channel \"irc\" is not installed: run pip install 'kenobot[irc]'")


def test_a_plugin_cannot_let_unknown_keys_pass(home: Home, strange: None) -> None:
    """Unknown keys are errors even where the plugin's own model would ignore them."""
    (line,) = refused(home, '[channels.my-door]\nneeded = "x"\nport = [1]')
    assert 'unknown key "channels.my-door.port"; did you mean "channels.my-door.ports"?' in line


def test_secrets_of_plugins_are_known(home: Home, strange: None) -> None:
    """Whatever the plugin's model calls a secret is blotted out too."""
    loaded = accepted(home, '[channels.my-door]\nneeded = "x"\ndoor_password = "tell-nobody"')
    assert set(loaded.secrets()) == {"tell-nobody"}


def test_a_credential_that_others_can_read_is_refused(home: Home) -> None:
    """The line says how to mend it."""
    path = credential(home, "telegram_token", TOKEN, 0o644)
    assert refused(home) == [f"{path} can be read by other people; run: chmod 600 {path}"]


@pytest.mark.parametrize(
    ("name", "value"), [("telegram_tokn", TOKEN), ("telegram_token", " \n"), ("telegram_token", "a\nb")]
)
def test_a_credential_must_be_one_known_secret(home: Home, name: str, value: str) -> None:
    """An unknown name, an empty file and two lines are errors that name the file and not what is in it."""
    path = credential(home, name, value)
    (line,) = refused(home)
    assert line.startswith(str(path))
    assert TOKEN not in line


def test_a_credential_that_leads_nowhere_is_refused_by_name(home: Home) -> None:
    """A link to a file that is gone is an error of one line, not a traceback."""
    path = credential(home, "telegram_token", TOKEN)
    path.unlink()
    path.symlink_to("gone")
    assert refused(home) == [f"{path} cannot be read: no such file or directory."]


def test_a_folder_of_credentials_that_cannot_be_read_is_refused_by_name(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its mode or its disk keeps us out: an error of one line, not a traceback."""
    folder = credential(home, "telegram_token", TOKEN).parent
    real = Path.iterdir

    def closed(path: Path) -> Iterator[Path]:
        if path == folder:
            raise PermissionError(errno.EACCES, "Permission denied")
        return iter(real(path))

    monkeypatch.setattr(Path, "iterdir", closed)
    assert refused(home) == [f"{folder} cannot be read: permission denied."]


def test_what_is_about_to_be_written_can_be_tried_out(home: Home) -> None:
    """Text and secrets handed in stand for the files that they would become."""
    credential(home, "anthropic_api_key", "old", 0o644)
    loaded = load_settings(home, {}, text='[bot]\nname = "Ana"', new_credentials={"anthropic_api_key": "new"})
    assert loaded.settings.bot.name == "Ana"
    assert list(loaded.secrets()) == ["new"]
    assert not home.config_file.exists()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('command = "x"\nurl = "http://y"', "mcp.hub: a server has either a command or a url."),
        ("seconds = 3", "mcp.hub: a server has either a command or a url."),
        ('url = "http://y"\n[mcp.hub.env]\nA = "b"', "args and env are for a command, headers for a url"),
        ('command = "x"\n[mcp.hub.env]\nA = "${key}"', 'the secret "key" is not there'),
        ('command = "x"\n[mcp.hub.secrets]\nkey = "sesame"', '"key" belongs into a file of its own'),
        ('command = "x"\neffects = ["all"]', "mcp.hub.effects"),
    ],
)
def test_mistakes_in_an_mcp_server_are_explained(home: Home, written: str, said: str) -> None:
    """That one is left out. Each mistake is one line, and none shows a secret."""
    loaded = accepted(home, f'[mcp.hub]\n{written}\n[mcp.other]\ncommand = "y"\n', {})
    (line,) = loaded.left_out["mcp.hub"].splitlines()
    assert said in line
    assert "sesame" not in line
    assert list(loaded.settings.mcp) == ["other"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[mcp.hub]\ncomand = "x"', 'unknown key "mcp.hub.comand"; did you mean "mcp.hub.command"?'),
        ("[mcp]\nhub = 3", "mcp.hub is a section, not a value."),
        ("mcp = 3", "mcp is a section, not a value."),
        ('[mcp.My_Hub]\ncommand = "x"', "the name of a server"),
        ("[tools.shell]\nnetwrk = 3", 'unknown key "tools.shell.netwrk"; did you mean "tools.shell.network"?'),
        ('[tools]\nenabled = ["http_request"]\n[tools.http_request]\nhost = "a.b"', 'unknown key "host"'),
        ('[tools.http_request.hosts."a.b"]\nmethod = ["GET"]', "unknown key"),
        ("[tools.web_serach]\nresults = 3", "tools.web_search"),
        ('[tools]\nenabled = ["shel"]', 'no tool called "shel"'),
        ('[tools]\nrules = [{ tool = "shell", decision = "no" }]', "allow"),
    ],
)
def test_a_wrong_key_of_a_tool_stops_the_start(home: Home, text: str, said: str) -> None:
    """What is meant by it is not known, so it may be a limit."""
    (line,) = refused(home, f"{text}\n")
    assert said in line


@pytest.mark.parametrize(
    ("section", "table"),
    [
        ("tools.web_search", 'engine = "gogle"'),
        ("tools.web_search", 'url = "no address"'),
        ("tools.web_fetch", "through_proxy = 3"),
        ("tools.web_fetch", 'own_hosts = ["https://a.b"]'),
        ("tools.shell", 'memory_mb = "much"'),
        ("tools.git", 'author = "me"'),
        ("tools.http_request", 'hosts = { "a.b" = { methods = ["LOOK"] } }'),
    ],
)
def test_a_wrong_value_of_a_tool_leaves_it_out(home: Home, section: str, table: str) -> None:
    """The bot starts without it, whether it is on or not."""
    name = section.removeprefix("tools.")
    loaded = accepted(home, f'[tools]\nenabled = ["default", "{name}"]\n[{section}]\n{table}\n', {})
    assert section in loaded.left_out[section]
    assert section in accepted(home, f"[tools]\nenabled = []\n[{section}]\n{table}\n", {}).left_out


def test_secrets_of_mcp_servers_are_known_to_be_secret(home: Home) -> None:
    """They come from files or the environment, by names of the owner's own, and are redacted everywhere."""
    credential(home, "mcp.hub.key", "sesame-one")
    text = '[mcp.hub]\ncommand = "x"\n[mcp.hub.env]\nmy_token = "a ${key} ${other}"\n'
    loaded = accepted(home, text, {"KENOBOT_MCP__HUB__SECRETS__OTHER": "sesame-two"})
    assert loaded.settings.mcp["hub"].filled_env == {"my_token": "a sesame-one sesame-two"}
    assert {*loaded.secrets()} == {"sesame-one", "sesame-two"}
    assert "sesame" not in str(loaded.settings)


# ── the shipped file ─────────────────────────────────────────────────────────────────────────────────────────────


def shipped() -> str:
    return resources.files("kenobot").joinpath("config", "kenobot.toml").read_text("utf-8")


def test_the_shipped_file_changes_nothing(home: Home) -> None:
    """As it ships, every key is a comment."""
    assert accepted(home, shipped()).origins == {}


_EMPTY = {
    *("providers.openai.extra", "providers.claude-cli.environment", "budget.purposes", "budget.prices"),
    "tools.http_request.hosts",
    "tools.workspaces",
}
_TABLES: Mapping[str, Any] = {
    **dict.fromkeys(("providers", "channels", "observers", "embedders", "transcribers"), True),
    "tools": set(plugins.names("kenobot.tools")),
}
"""The tables of plugins among the settings."""


def test_the_shipped_file_says_every_key_with_its_default(home: Home) -> None:
    """With the comment signs taken away it sets every key there is, plugins' included, to its default.

    Services that speak one API have one table for all, and so do the command-line programs.
    """
    loaded = accepted(home, re.sub(r"(?m)^# ([a-z_]+ = .+)$", r"\1", shipped()))
    assert loaded.settings.model_dump(exclude=_TABLES) == Settings().model_dump(exclude=_TABLES)
    expected = {f"{name}.{key}" for name, table in Settings().model_dump().items() for key in table}
    for section, group in PLUGIN_SECTIONS.items():
        for name in plugins.names(group):
            model = plugins.load(group, name).settings
            assert loaded.plugin_settings(group, name, model) == model()
            if group == "kenobot.providers" and name in {*PRESETS, "gemini-cli", "codex-cli"} - {"openai"}:
                continue
            expected |= {f"{section}.{name}.{key}" for key in model.model_fields}
    assert set(loaded.origins) == expected - _EMPTY, "an empty table has no origin"


# ── what the first KenoBot did ───────────────────────────────────────────────────────────────────────────────────

OURS = {
    "LOG_LEVEL": ("KENOBOT_LOG__LEVEL", "log.level"),
    "TELEGRAM_ALLOWED_USERS": ("TELEGRAM_ALLOWED_USERS", "channels.telegram.allowed_users"),
}


def cases(area: str) -> list[dict[str, Any]]:
    if not CASES.exists():
        pytest.skip("the conformance cases are kept in a folder beside the repository, which is not here")
    found = [json.loads(line) for line in CASES.read_text("utf-8").splitlines() if f'"{area}"' in line]
    return [case for case in found if case["area"] == area]


def test_what_was_a_silent_default_is_an_error(home: Home) -> None:
    """config.parse: where the original logged an error or guessed and went on, we stop; good values mean the same."""
    from kenobot.channels.telegram.settings import TelegramSettings

    tried = 0
    for case in cases("config.parse"):
        ((variable, value),) = case["input"].items()
        if variable not in OURS:
            continue
        tried += 1
        ours, key = OURS[variable]
        expected = case["expected"]
        if variable == "TELEGRAM_ALLOWED_USERS":
            telegram = accepted(home, "", {ours: value}).plugin_settings(
                "kenobot.channels", "telegram", TelegramSettings
            )
            assert telegram.allowed_users == [item for item in expected["value"] if item]
        else:
            (line,) = refused(home, "", {ours: value})
            assert line.startswith(f"{ours}: {key}")
    assert tried >= 3


def test_defaults_that_we_share_are_the_same() -> None:
    """config.defaults: the keys that exist in both have the same default."""
    (case,) = cases("config.defaults")
    original, ours = case["expected"], Settings()
    assert original["logLevel"] == ours.log.level
    assert original["sessionHistoryLimit"] == PromptLimits().history_min
    assert original["circuitBreaker"]["threshold"] == BREAKER_FAILURES
    assert original["circuitBreaker"]["cooldown"] == BREAKER_SECONDS * 1000
    assert original["telegram"]["allowedUsers"] == []


def test_bot_tokens_are_told_from_other_texts() -> None:
    """config.telegram_token_valid: the same texts are tokens."""
    from kenobot.channels.telegram.settings import is_token

    for case in cases("config.telegram_token_valid"):
        assert is_token(case["input"]) is case["expected"], case["input"]
