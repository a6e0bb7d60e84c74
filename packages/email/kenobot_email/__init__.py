"""The e-mail plugin: a mailbox of the bot's own, read by IMAP, and answers sent by SMTP."""

from kenobot.channels.people import check_people, check_set
from kenobot.ports.channel import Channel
from kenobot.ports.errors import ConfigError
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot_email.settings import EmailSettings


def build(settings: EmailSettings, surroundings: PluginContext) -> Channel:
    """Build the channel, not yet connected. Raises ConfigError for what only a person can decide."""
    check_set("email", address=settings.address, imap_server=settings.imap_server, smtp_server=settings.smtp_server)
    if not settings.verified_by:
        raise ConfigError("email.verified_by_missing")
    check_people(settings, "email", "ana@example.org")
    from kenobot_email.channel import EmailChannel

    return EmailChannel(settings, surroundings.clock, surroundings.bot_name)


plugin = Plugin(settings=EmailSettings, build=build)
