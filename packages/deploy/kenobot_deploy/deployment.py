"""Answer the commands of the core; see `kenobot.cli.deployment`."""

from collections.abc import Iterator

from kenobot.cli.context import CommandContext
from kenobot.cli.deployment import Deployment, ServiceOffer
from kenobot.cli.doctor.findings import Finding
from kenobot.core.settings.home import Home
from kenobot_deploy import service, unit_checks


class SystemdDeployment:
    """A service of systemd, and environments that `kenobot update` made."""

    def require_manager(self) -> None:
        service.require_manager()

    def offer_service(self, home: Home) -> ServiceOffer:
        return service.offer(home)

    def install_service(self, home: Home) -> int:
        return service.install_for_user(home)

    def check_service(self, context: CommandContext) -> Iterator[Finding]:
        return unit_checks.check_service(context)

    def finish_update(self, context: CommandContext) -> None:
        from kenobot_deploy.update.unfinished import finish_return

        finish_return(context)


deployment: Deployment = SystemdDeployment()
