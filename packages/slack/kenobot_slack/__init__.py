"""The Slack plugin: direct messages, and channels whose members mention the bot."""

from kenobot.channels.people import check_packages, check_people, check_set
from kenobot.ports.channel import Channel
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot_slack.settings import SlackSettings


def build(settings: SlackSettings, surroundings: PluginContext) -> Channel:
    """Build the channel, not yet connected. Raises ConfigError for what only a person can decide."""
    check_set("slack", token=settings.token.get_secret_value(), app_token=settings.app_token.get_secret_value())
    check_people(settings, "slack", "U012AB3CD")
    check_packages(SlackSettings)
    from kenobot_slack.channel import SlackChannel

    return SlackChannel(settings, surroundings.clock, surroundings.home)


plugin = Plugin(settings=SlackSettings, build=build)
