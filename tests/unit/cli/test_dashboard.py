"""`kenobot dashboard`: a link where the bot serves it, and what to do where it does not."""

import json
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from kenobot.core.settings.home import Home
from kenobot.storage import browser_sessions
from kenobot.storage.connection import connect
from kenobot_testing.clock import ManualClock
from tests.unit.cli.conftest import Cli


@pytest.fixture
def port(made: Home) -> Iterator[int]:
    """A port that something listens on, as a running bot's, which holds the home."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener, made.lock():
        port: int = listener.getsockname()[1]
        configure(made, f"port = {port}")
        yield port


def configure(home: Home, *lines: str) -> None:
    """Switch the channel on, with these settings."""
    settings = "\n".join(lines)
    home.config_file.write_text(f'[channels]\nenabled = ["http"]\n\n[channels.http]\n{settings}\n', encoding="utf-8")


def test_a_link_opens_one_session(made: Home, port: int, cli: Cli) -> None:
    """It names the address that the bot listens on; beside it stands the line for another machine."""
    code, out, _ = cli("dashboard", "--json")
    told = json.loads(out)
    assert (code, told["minutes"]) == (0, browser_sessions.LINK_MINUTES)
    address, _, secret = told["url"].partition("/dashboard/login?link=")
    assert address == f"http://127.0.0.1:{port}"
    assert f"-L {port}:127.0.0.1:{port} " in told["ssh"]
    now = ManualClock().now()
    with closing(connect(made.database)) as connection:
        assert browser_sessions.open_session(connection, secret, now)
        assert not browser_sessions.open_session(connection, secret, now)
    code, out, _ = cli("dashboard", "--print")
    assert code == 0
    assert f"{address}/dashboard/login?link=" in out
    assert "ssh -L" in out


@pytest.mark.usefixtures("port")
def test_the_names_of_a_proxy_are_told(made: Home, port: int, cli: Cli) -> None:
    """With TLS, which the cookie of such a name needs."""
    configure(made, f"port = {port}", 'server_names = ["bot.example.org"]')
    assert json.loads(cli("dashboard", "--json")[1])["proxied"][0].startswith(
        "https://bot.example.org/dashboard/login?"
    )


def test_without_the_channel_it_says_how_to_switch_it_on(made: Home, cli: Cli) -> None:
    """And makes nothing."""
    code, out, told = cli("dashboard")
    assert (code, out) == (1, "")
    assert "kenobot setup --yes --enable http" in told
    configure(made, "port = 0")
    assert cli("dashboard")[0] == 1


def test_where_it_is_switched_off_it_says_how_to_switch_it_on(made: Home, port: int, cli: Cli) -> None:
    """And makes no link."""
    configure(made, f"port = {port}", "dashboard = false")
    code, out, told = cli("dashboard")
    assert (code, out) == (1, "")
    assert "kenobot config set channels.http.dashboard true" in told


def test_the_older_name_of_the_names_of_a_proxy_still_works(
    made: Home, port: int, cli: Cli, caplog: pytest.LogCaptureFixture
) -> None:
    """And its new one is told."""
    configure(made, f"port = {port}", 'mcp_hosts = ["bot.example.org"]')
    code, out, _ = cli("dashboard", "--json")
    assert code == 0
    assert json.loads(out)["proxied"]
    assert "channels.http.mcp_hosts is called channels.http.server_names now" in caplog.text


def test_without_a_running_bot_it_says_how_to_start_it(made: Home, cli: Cli) -> None:
    """Also where one runs that has not the channel yet."""
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        free = taken.getsockname()[1]
    configure(made, f"port = {free}")
    code, out, told = cli("dashboard")
    assert (code, out) == (3, "")
    assert "kenobot run" in told
    with made.lock():
        code, out, told = cli("dashboard")
    assert (code, out) == (3, "")
    assert "start the bot anew" in told


def test_it_opens_by_a_file_of_the_owner_alone(
    made: Home, port: int, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No argument of a program, which others of the machine can read, holds the secret."""
    opened: list[str] = []

    def note(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr("webbrowser.open", note)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    code, out, _ = cli("dashboard")
    page = made.cache / "dashboard.html"
    assert (code, opened) == (0, [page.as_uri()])
    assert "opened in your browser" in out
    assert page.stat().st_mode & 0o077 == 0
    assert f"http://127.0.0.1:{port}/dashboard/login?link=" in page.read_text("utf-8")
