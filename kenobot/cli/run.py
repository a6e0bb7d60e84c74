"""`kenobot run`."""

from kenobot.cli.options import Commands
from kenobot.cli.start import serve_channels


def add(commands: Commands) -> None:
    commands.add(
        "run",
        serve_channels,
        "",
        "Serve all enabled channels until stopped. Ctrl-C or SIGTERM ends intake, lets the running turns finish and "
        "leaves the rest on disk for the next start.",
        json=False,
    )
