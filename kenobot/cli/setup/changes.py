"""Collect what a setup is to change, and the settings as they will be then."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from kenobot.cli.setup.credential_repair import BadCredential, left_out
from kenobot.cli.setup.repair import Repair
from kenobot.core.plugins import PluginGroup
from kenobot.core.settings import toml_edit
from kenobot.core.settings.config_text import current_text
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings, load_settings
from kenobot.core.settings.toml_edit import Value
from kenobot.ports.messages import Inbound


@dataclass(slots=True)
class SetupChanges:
    """Changes of the settings in `loaded`: values by (section, key), secrets by the name of their credential file.

    install: whether the embedded model is to be fetched. service: whether the bot is to be installed as a service; None
    when nobody was asked. codes: messages that were for setup alone, so that the bot does not answer them. repair: of a
    kenobot.toml that cannot be used as it is. bad: credential files that cannot be used, to be put aside.
    """

    home: Home
    loaded: ResolvedSettings
    install: bool = False
    service: bool | None = None
    repair: Repair | None = None
    bad: Sequence[BadCredential] = ()
    values: dict[tuple[str, str], Value] = field(default_factory=dict)  # bounded: the settings; start
    secrets: dict[str, str] = field(default_factory=dict)  # bounded: the settings; start
    codes: list[Inbound] = field(default_factory=list)  # bounded: one a question; start

    @property
    def provider(self) -> str:
        return str(self.values.get(("provider", "name"), self.loaded.settings.provider.name))

    @property
    def channels(self) -> list[str]:
        enabled = self.values.get(("channels", "enabled"))
        return list(enabled) if isinstance(enabled, list) else list(self.loaded.settings.channels.enabled)

    @property
    def owners(self) -> list[str]:
        """The owners on Telegram."""
        owners = self.values.get(("channels.telegram", "owners"))
        if not isinstance(owners, list):
            owners = self.loaded.settings.plugin_tables("kenobot.channels").get("telegram", {}).get("owners", [])
        return list(map(str, owners)) if isinstance(owners, list) else [str(owners)]

    @property
    def is_empty(self) -> bool:
        return not (self.values or self.secrets or self.codes or self.install or self.repair or self.bad)

    def enable(self, channel: str, *, on: bool) -> None:
        """Switch a channel on or off."""
        enabled = self.channels
        if on != (channel in enabled):
            rest = [name for name in enabled if name != channel]
            self.values["channels", "enabled"] = [*rest, channel] if on else rest

    def touches(self, group: PluginGroup, name: str) -> bool:
        """Return whether anything of a plugin changes, or whether it is on."""
        section = f"{group.removeprefix('kenobot.')}.{name}"
        owned = {"telegram": "telegram_token", "anthropic": "anthropic_api_key"}.get(name)
        switched = ("provider", "name") if group == "kenobot.providers" else ("channels", "enabled")
        return (
            switched in self.values
            or any(table == section for table, _ in self.values)
            or any(file == owned or file.startswith(f"{section}.") for file in self.secrets)
        )

    def text(self) -> str:
        """Return kenobot.toml with the changes. Raises ConfigError when it cannot be edited safely."""
        text = self.repair.text if self.repair else current_text(self.home)
        for (section, key), value in self.values.items():
            text = toml_edit.set_value(text, section, key, value)
        return text

    def after(self) -> ResolvedSettings:
        """Return the settings as they will be. Raises ConfigError."""
        credentials = left_out(each.path.name for each in self.bad) | self.secrets
        return load_settings(self.home, os.environ, text=self.text(), new_credentials=credentials)
