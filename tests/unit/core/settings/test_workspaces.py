"""The folders that the settings name for tools: none gives a way to the bot itself."""

import sys
from pathlib import Path

import pytest

from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.core.settings.workspaces import resolve_workspaces


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home in a folder of its owner's, with a folder for work beside it."""
    (tmp_path / "ana" / "home" / "credentials").mkdir(parents=True)
    (tmp_path / "ana" / "work" / "inner").mkdir(parents=True)
    return Home(tmp_path / "ana" / "home")


def _refused(home: Home, text: str, environ: dict[str, str] | None = None) -> str:
    """Return why a workspace is left out; no tool works in it."""
    loaded = load_settings(home, environ or {}, text=text.replace("{ana}", str(home.path.parent)))
    assert not loaded.settings.tools.workspaces
    return "\n".join(loaded.left_out.values())


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("{ana}/home", "the bot's own files are in {ana}/home: no workspace may hold them, or be among them."),
        ("{ana}/home/", "the bot's own files are in"),
        ("{ana}/home/credentials", "the bot's own files are in"),
        ("{ana}/home/not-there-yet", "the bot's own files are in"),
        ("{ana}", "the bot's own files are in"),
        ("{ana}/work/../home", "the bot's own files are in"),
        ("{ana}/link", "the bot's own files are in"),
        ("{ana}/link/credentials", "the bot's own files are in"),
        ("/", "the bot's own files are in"),
        ("/proc/self/root{ana}/home", "the bot's own files are in"),
        ("/proc", "a folder of the system's"),
        ("/proc/self/fd", "a folder of the system's"),
        ("/dev/shm", "a folder of the system's"),
        ("/etc/ssl", "a folder of the system's"),
        ("{ana}/file", "not a folder."),
        ("work", "write the whole path"),
        ("./work", "write the whole path"),
        (sys.prefix, "the bot's own program is there"),
        (str(Path(__file__).parents[4]), "the bot's own program is there"),
        (str(Path(__file__).parents[4] / "kenobot" / "tools"), "the bot's own program is there"),
    ],
)
def test_a_folder_that_is_no_workspace_is_left_out(home: Home, path: str, told: str) -> None:
    """With one line that says which it is, and why."""
    (home.path.parent / "link").symlink_to(home.path)
    (home.path.parent / "file").write_text("")
    said = _refused(home, f'[tools.workspaces]\nwork = "{path}"')
    assert said.startswith(f"{home.config_file}: tools.workspaces.work = ")
    assert told.replace("{ana}", str(home.path.parent)) in said
    assert said.count("\n") == 0


def test_secrets_that_the_system_hands_over_are_no_workspace(home: Home) -> None:
    """Credentials of systemd are outside of the home."""
    given = {"CREDENTIALS_DIRECTORY": str(home.path.parent / "work" / "inner")}
    assert "the bot's own files are in" in _refused(home, '[tools.workspaces]\nwork = "{ana}/work"', given)


@pytest.mark.parametrize("name", ["Work", "a b", "../x", "ñ"])
def test_a_workspace_has_a_plain_name(home: Home, name: str) -> None:
    """A model has to write it."""
    assert "is called by a-z" in _refused(home, f'[tools.workspaces]\n"{name}" = "{{ana}}/work"')


def test_workspaces_are_not_in_each_other(home: Home) -> None:
    """What one forbids the other would allow, so that neither is used."""
    text = '[tools.workspaces]\nwork = { path = "{ana}/work", read_only = true }\ninner = "{ana}/work/inner"'
    assert "inner = " in _refused(home, text)
    assert "it is in the workspace work" in _refused(home, text)
    assert "the workspace inner is in it" in _refused(home, text)


def test_a_workspace_may_be_a_folder_that_comes_later(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a disk that is not there yet; `~` is the home folder of whoever runs the bot, and links are read once."""
    monkeypatch.setenv("HOME", str(home.path.parent))
    (home.path.parent / "link").symlink_to(home.path.parent / "work")
    text = '[tools.workspaces]\nlater = "/srv/not-there"\nbooks = { path = "~/link", read_only = true }'
    loaded = load_settings(home, {}, text=text)
    found = {each.name: each for each in resolve_workspaces(loaded.settings.tools.workspaces)}
    assert found["later"].path == Path("/srv/not-there")
    assert found["books"].path == home.path.parent / "work"
    assert found["books"].read_only


def test_the_program_may_be_read_where_nothing_is_changed(home: Home) -> None:
    """Its code is no secret."""
    code = Path(__file__).parents[4] / "kenobot"
    load_settings(home, {}, text=f'[tools.workspaces]\ncode = {{ path = "{code}", read_only = true }}')
