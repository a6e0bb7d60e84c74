"""The caller of the REST API, and the services that their requests use."""

from dataclasses import dataclass

from kenobot.app.bot_services import BotServices
from kenobot.cognitive.memory import AdmitContext
from kenobot.language.calendar import local_day
from kenobot.ports.identity import OWNER_SCOPE, Trust, session_id, user_scope
from kenobot.storage.api_keys import ApiKey
from kenobot.storage.scopes import ALL_SCOPES, Scopes
from kenobot_http.channel import HttpChannel
from kenobot_http.settings import CHANNEL
from kenobot_http.webhook import chat_of


@dataclass(frozen=True, slots=True)
class Caller:
    """The account that a request speaks for, and what its key opens.

    channel: through which messages go. elsewhere: the channel and the chat in which an owner is reminded who wrote in
    none yet; None for the caller's own.
    """

    key: ApiKey
    services: BotServices
    channel: HttpChannel
    elsewhere: tuple[str, str] | None = None

    @property
    def user(self) -> str:
        return self.key.user

    @property
    def is_owner(self) -> bool:
        return self.services.access.is_owner(CHANNEL, self.user)

    @property
    def trust(self) -> Trust:
        """Return whose words the caller's are."""
        return "owner" if self.is_owner else "guest"

    @property
    def reach(self) -> Scopes:
        """Return the memories in reach: the owner sees all of the home, everybody else their own."""
        return ALL_SCOPES if self.is_owner else (user_scope(CHANNEL, self.user),)

    @property
    def write_scope(self) -> str:
        return OWNER_SCOPE if self.is_owner else user_scope(CHANNEL, self.user)

    def chat(self, conversation: str) -> str:
        """Return the chat of one of the caller's conversations."""
        return chat_of(self.channel.settings.owners, self.user, conversation)

    def session(self, conversation: str) -> str:
        return session_id(CHANNEL, self.chat(conversation))

    def occasion(self) -> AdmitContext:
        """Return the caller's decision about memory, now."""
        services, now = self.services, self.services.clock.now()
        actor = "owner" if self.is_owner else "person"
        return AdmitContext(now, local_day(now, services.zone), actor, nearness=services.embedding.nearness)
