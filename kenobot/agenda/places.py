"""Find the chat in which the owner is reminded, for requests from outside a chat."""

from kenobot.agenda.job import OWNER_PERSON, Place
from kenobot.core.i18n import Language, guess_language
from kenobot.gateway.owner_alerts import last_owner_chat
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.storage.connection import Connection


def owner_place(
    connection: Connection, text: str, elsewhere: tuple[str, str], language: Language | None, default: Language = "en"
) -> Place:
    """Return the private chat in which the owner wrote last.

    elsewhere: the channel and the chat where none is known. language: of the bot's own sentences; None for the text's.
    """
    home = last_owner_chat(connection)
    channel, chat = (home.channel, home.chat) if home is not None else elsewhere
    account = home.user if home is not None else ""
    told = language or guess_language(text, home.language if home is not None else default)
    return Place(channel, chat, "", True, told, OWNER_PERSON, OWNER_SCOPE, account=account)
