"""Settings that every chat channel has: the ids of those who may talk, and what a setup asks for."""

import importlib.util
import re
from collections.abc import Iterable
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from kenobot.ports.errors import ConfigError
from kenobot.ports.sentences import Sentence


def _names(value: object) -> list[str]:
    """Parse ids from `"a, b"`, from one id, or from a list."""
    value = value.split(",") if isinstance(value, str) else value
    items: Iterable[object] = value if isinstance(value, list | tuple) else [value]
    return [text for item in items if (text := str(item).strip())]


Names = Annotated[list[str], BeforeValidator(_names)]
"""A list of ids, as a setting."""


def each_fits(form: re.Pattern[str], key: str) -> AfterValidator:
    """Make the validator of a list of ids, each of this form. key: of the sentence about a `value` that is not."""
    return AfterValidator(lambda values: [_fitting(value, form, key) for value in values])


def fits(form: re.Pattern[str], key: str) -> AfterValidator:
    """Make the validator of one id that may be empty. key: as of each_fits."""
    return AfterValidator(lambda value: value and _fitting(value, form, key))


def _fitting(value: str, form: re.Pattern[str], key: str) -> str:
    if not form.fullmatch(value):
        raise ValueError(Sentence(key, value=value))
    return value


class ChatSettings(BaseModel, extra="forbid", frozen=True, hide_input_in_errors=True):
    """The lists of a channel's people, by the platform's own ids.

    title: name of the platform. asked: what `kenobot setup` asks for, all of it needed. packages: what has to be
    installed, by the extra of that name. beside: channels that must be on too. request_seconds: deadline of a request.
    """

    title: ClassVar[str] = ""
    asked: ClassVar[tuple[str, ...]] = ()
    packages: ClassVar[tuple[str, ...]] = ()
    extra: ClassVar[str] = ""
    beside: ClassVar[tuple[str, ...]] = ()

    owners: Names = Field([], description="ids of the bot's owner")
    allowed_users: Names = Field([], description="ids of guests")
    allowed_chats: Names = Field([], description="ids of chats in which everybody may talk to the bot")
    request_seconds: ClassVar[float] = 20

    @property
    def people(self) -> tuple[str, ...]:
        """List the owners and the guests."""
        return (*self.owners, *self.allowed_users)


def check_people(settings: ChatSettings, channel: str, like: str) -> None:
    """Raise ConfigError when nobody may talk. like: what an id looks like there."""
    if not (settings.people or settings.allowed_chats):
        raise ConfigError("channels.no_people", channel=channel, like=like)


def check_packages(settings: type[ChatSettings]) -> None:
    """Raise ConfigError when a package of the channel is not installed."""
    if any(importlib.util.find_spec(name) is None for name in settings.packages):
        raise ConfigError("channels.package_missing", title=settings.title, extra=settings.extra)


def check_set(channel: str, **values: str) -> None:
    """Raise ConfigError for the first of these settings that is empty."""
    for name, value in values.items():
        if not value:
            raise ConfigError("channels.setting_missing", channel=channel, name=name)
