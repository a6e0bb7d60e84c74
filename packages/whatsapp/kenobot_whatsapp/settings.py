"""Define the settings of the WhatsApp channel."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, SecretStr

from kenobot.channels.people import ChatSettings, Names, fits
from kenobot.core import lazy
from kenobot.core.network import BaseAddress
from kenobot.ports.sentences import Sentence

_NUMBER = lazy.regex(r"\+?[0-9][0-9 ().-]{5,24}")
_SCOPED = lazy.regex(r"[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}")


Digits = Annotated[str, fits(lazy.regex(r"[0-9]+"), "whatsapp.bad_id")]


def _people(values: list[str]) -> list[str]:
    """Bring phone numbers into the form in which WhatsApp tells them."""
    found = []
    for value in values:
        if _NUMBER.fullmatch(value):
            found.append("".join(sign for sign in value if sign.isdigit()))
        elif _SCOPED.fullmatch(value):
            found.append(value)
        else:
            raise ValueError(Sentence("whatsapp.bad_number", value=value))
    return found


People = Annotated[Names, AfterValidator(_people)]


class WhatsAppSettings(ChatSettings):
    """The `[channels.whatsapp]` part of the configuration."""

    title: ClassVar[str] = "WhatsApp"
    asked: ClassVar[tuple[str, ...]] = ("phone_number_id", "token", "app_secret", "verify_token", "owners")
    packages: ClassVar[tuple[str, ...]] = ("fastapi", "uvicorn", "httptools")
    extra: ClassVar[str] = "whatsapp"
    beside: ClassVar[tuple[str, ...]] = ("http",)

    owners: People = Field([], description="phone numbers of the bot's owner, with the country's code")
    allowed_users: People = Field([], description="phone numbers of guests")
    allowed_chats: Names = Field([], description="ids of groups in which everybody may talk to the bot")
    phone_number_id: Digits = Field("", description="Meta's id of the bot's phone number")
    token: SecretStr = Field(SecretStr(""), description="access token of a system user")
    app_secret: SecretStr = Field(SecretStr(""), description="secret of the app, with which Meta signs its requests")
    verify_token: SecretStr = Field(SecretStr(""), description="words of your own, by which Meta knows the webhook")
    api: BaseAddress = Field("https://graph.facebook.com/v26.0", description="address of Meta's Graph API")
