"""The settings of one MCP server: a table [mcp.NAME]."""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from kenobot.core import lazy
from kenobot.core.settings.schema import SettingsModel, UniqueNames
from kenobot.ports.sentences import Sentence

_SERVER = lazy.regex(r"[a-z0-9][a-z0-9-]{0,30}")
_REFERENCE = lazy.regex(r"\$\{([^}]*)\}")
_URL = lazy.regex(r"https?://[^\s/?#]+\S*")
_VARIABLE = lazy.regex(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = lazy.regex(r"[A-Za-z0-9-]+")

Effect = Literal["reads_private", "brings_untrusted", "way_out", "changes_outside", "asks_first"]
ALL_EFFECTS: tuple[Effect, ...] = ("reads_private", "brings_untrusted", "way_out", "changes_outside")


def check_server_name(name: str) -> str:
    """Return a name that a server may have. Raises ValueError."""
    if not _SERVER.fullmatch(name):
        raise ValueError(Sentence("mcp.bad_server_name"))
    return name


class McpServerSettings(SettingsModel):
    """A server: a program that is started, or an address. Each is trusted with nothing that its owner does not write.

    env, headers: `${name}` in a value is the secret of that name. seconds: of one call. tools: only these; () for all.
    effects: of its tools, and tool_effects: of single ones, by the server's own name of them. trust_hints: believe
    what the server says of the effects of its tools.
    """

    enabled: bool = True
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)  # bounded: the settings; start
    url: str = ""
    headers: dict[str, str] = Field(default_factory=dict)  # bounded: the settings; start
    secrets: dict[str, SecretStr] = Field(default_factory=dict)  # bounded: the settings; start
    seconds: float = Field(20, ge=0.1, le=600, allow_inf_nan=False)
    tools: UniqueNames = ()
    trust_hints: bool = False
    effects: tuple[Effect, ...] = ALL_EFFECTS
    tool_effects: dict[str, tuple[Effect, ...]] = Field(default_factory=dict)  # bounded: the settings; start

    @field_validator("secrets", mode="before")
    @classmethod
    def _no_plain_secrets(cls, table: object) -> object:
        plain = [
            name
            for name, value in (table.items() if isinstance(table, dict) else ())
            if not isinstance(value, SecretStr)
        ]
        if plain:
            raise ValueError(Sentence("mcp.plain_secret", name=plain[0]))
        return table

    @model_validator(mode="after")
    def _is_one_server(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError(Sentence("mcp.command_or_url"))
        if self.url and not _URL.fullmatch(self.url):
            raise ValueError(Sentence("mcp.bad_url"))
        if (self.url and (self.args or self.env)) or (self.command and self.headers):
            raise ValueError(Sentence("mcp.args_or_headers"))
        for names, pattern in ((self.env, _VARIABLE), (self.headers, _HEADER)):
            if wrong := [name for name in names if not pattern.fullmatch(name)]:
                raise ValueError(Sentence("mcp.bad_variable", name=wrong[0]))
        wanted = {name for text in (*self.env.values(), *self.headers.values()) for name in _REFERENCE.findall(text)}
        if self.enabled and (missing := sorted(wanted - self.secrets.keys())):
            raise ValueError(Sentence("mcp.no_such_secret", name=missing[0]))
        return self

    @property
    def filled_env(self) -> Mapping[str, str]:
        """Return the variables of the program, with their secrets."""
        return self._fill(self.env)

    @property
    def filled_headers(self) -> Mapping[str, str]:
        """Return the headers of requests, with their secrets."""
        return self._fill(self.headers)

    def _fill(self, table: Mapping[str, str]) -> dict[str, str]:
        return {
            name: _REFERENCE.sub(lambda found: self.secrets[found[1]].get_secret_value(), text)
            for name, text in table.items()
        }
