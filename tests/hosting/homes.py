"""Homes that move in and out of a cell, and the commands that move them."""

from collections.abc import Callable
from pathlib import Path

from kenobot.core.settings.home import Home
from tests.hosting.cell import read_truth
from tests.scene import Scene

Run = Callable[..., tuple[int, str, str]]
"""Runs a command in a cell; gives its exit code, and what it printed."""

_LOCAL_KEYS = ("mirror:event", "cards:event", "mirror:patterns", "session-note")  # which files were written


async def make_home(folder: Path) -> Home:
    """A home in which somebody talked and slept, with settings, a secret, an attachment, and a memory file edited."""
    replies = ["Hello.<memory>Lives in Ibiza</memory>", "Noted.<memory>Allergic to walnuts</memory>", "Sure."]
    async with Scene(folder, replies) as scene:
        for words in ("I live in Ibiza.", "I am allergic to walnuts.", "Thanks."):
            await scene.say(words)
        await scene.app.background.sleep_worker.sleep("command")
    home = scene.home
    home.config_file.write_text("[bot]\nname = 'Kai'\n")
    (home.credentials / "telegram_token").write_text(f"123456789:{'A' * 35}")
    home.media.mkdir(exist_ok=True)
    (home.media / ("ab" * 32)).write_bytes(b"\x00picture")
    (home.plugins / "mine").mkdir(parents=True)
    (home.plugins / "mine" / "__init__.py").write_text("x = 1\n")
    return home


def compare_homes(one: Home, two: Home) -> None:
    """Check that two homes hold the same, but for which files were written."""
    truths = [read_truth(home.database) for home in (one, two)]
    for rows, _ in truths:
        rows["key_value"] = [row for row in rows["key_value"] if row[0] not in _LOCAL_KEYS]
    assert truths[0] == truths[1]
    for path in ("kenobot.toml", "credentials/telegram_token", f"media/{'ab' * 32}", "plugins/mine/__init__.py"):
        assert (one.path / path).read_bytes() == (two.path / path).read_bytes()
        assert (one.path / path).stat().st_mode & 0o777 == (two.path / path).stat().st_mode & 0o777
    for file in one.identity.iterdir():
        assert file.read_bytes() == (two.identity / file.name).read_bytes()
