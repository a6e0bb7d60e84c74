"""The door to the distribution `kenobot-deploy`: a service, and updates, for commands that go on without it."""

from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Literal, Protocol

from kenobot.cli.context import CommandContext
from kenobot.cli.language import speak_for
from kenobot.core.settings.home import Home
from kenobot.ports.errors import ConfigError

if TYPE_CHECKING:
    from kenobot.cli.doctor.findings import Finding

EXTRA = "deploy"
_GROUP, _PACKAGE = "kenobot.deployment", f"kenobot_{EXTRA}"

ServiceOffer = Literal["no", "root", "install", "restart"]


class Deployment(Protocol):
    """Runs the bot as a service, and updates it."""

    def require_manager(self) -> None:
        """Raise ConfigError where no service can be installed for the person at this terminal."""
        ...

    def offer_service(self, home: Home) -> ServiceOffer:
        """Return what may be offered to the person at this terminal: to install a service, or to start theirs anew.

        "no" as well where the service is of another home, or the machine's; "root" for root, as whom no bot is to run.
        """
        ...

    def install_service(self, home: Home) -> int:
        """Install and start the service of the person at this terminal, or start it anew. Returns the exit code."""
        ...

    def check_service(self, context: CommandContext) -> Iterator["Finding"]:
        """Yield what `kenobot doctor` finds of the installed services of this home."""
        ...

    def finish_update(self, context: CommandContext) -> None:
        """Take an update of this home back that was cut off, before a start."""
        ...


def find_deployment() -> Deployment | None:
    """Load what the distribution offers; None where it is not installed."""
    for entry in entry_points(group=_GROUP):
        if entry.module.partition(".")[0] == _PACKAGE:
            speak_for(_PACKAGE)
            found: Deployment = entry.load()
            return found
    return None


def require_deployment() -> Deployment:
    """Load what the distribution offers. Raises ConfigError, which names the extra, where it is not installed."""
    found = find_deployment()
    if found is None:
        raise ConfigError("commands.not_installed", name="service", extra=EXTRA)
    return found
