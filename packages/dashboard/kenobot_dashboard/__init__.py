"""The dashboard: pages of the HTTP channel in which the owner sees and changes what the bot knows and does."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from kenobot.app.bot_services import BotServices
    from kenobot_http.channel import HttpChannel


def build(channel: "HttpChannel", services: "BotServices") -> "ASGIApp":
    """Build the dashboard of a bot, which the HTTP server mounts at /dashboard."""
    from kenobot_dashboard.application import build_dashboard

    return build_dashboard(channel, services)
