"""The WhatsApp plugin: chats by Meta's Cloud API, which posts to the channel http."""

from kenobot.channels.people import check_people, check_set
from kenobot.core.network import building_client
from kenobot.ports.channel import Channel
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot_whatsapp.settings import WhatsAppSettings


def build(settings: WhatsAppSettings, surroundings: PluginContext) -> Channel:
    """Build the channel, not yet connected. Raises ConfigError for what only a person can decide."""
    check_set(
        "whatsapp",
        phone_number_id=settings.phone_number_id,
        token=settings.token.get_secret_value(),
        app_secret=settings.app_secret.get_secret_value(),
        verify_token=settings.verify_token.get_secret_value(),
    )
    check_people(settings, "whatsapp", "34600123456")
    from kenobot_whatsapp.channel import WhatsAppChannel

    with building_client():
        return WhatsAppChannel(settings, surroundings.clock, surroundings.home)


plugin = Plugin(settings=WhatsAppSettings, build=build)
