"""The text of kenobot.toml that `kenobot setup` and `kenobot config set` edit."""

from importlib import resources

from kenobot.core.settings.home import Home


def current_text(home: Home) -> str:
    """Read kenobot.toml, or the shipped one, in which every key is a comment. The mark of some editors is left out."""
    if home.config_file.exists():
        return home.config_file.read_bytes().decode("utf-8-sig")
    return resources.files("kenobot").joinpath("config", "kenobot.toml").read_text("utf-8")
