"""`python -m tests.docs.settings_page` writes docs/settings.md and docs/settings-extras.md.

Kinds, ranges and defaults come from the settings models, meanings from the comments of
config/kenobot.toml, which a test compares with the models key by key.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from kenobot.core import plugins
from kenobot.core.settings.explain import describe_values
from kenobot.core.settings.load import Settings
from kenobot.core.settings.meanings import Row, Section, read_shipped_sections
from kenobot.core.settings.sources import CREDENTIAL_FILES, ENV_ALIASES, PLUGIN_SECTIONS, is_secret

PAGE = Path(__file__).resolve().parents[2] / "docs" / "settings.md"
EXTRAS_PAGE = PAGE.with_name("settings-extras.md")
_CORE_CHANNELS = ("channels.console", "channels.telegram")

_HEAD = """\
# Settings

Every setting, by section; those of the HTTP server, of channels other than Telegram and of OpenTelemetry have
[a page of their own](settings-extras.md). Both are made from the code (`python -m tests.docs.settings_page`).

A setting stands in `kenobot.toml` of the home, under its section; or in an environment variable, such as
`KENOBOT_BOT__NAME` for `bot.name` or `KENOBOT_CHANNELS__TELEGRAM__OWNERS=1,2`; secrets stand in files of
`credentials/`, named as below or after the setting. The environment overrules `kenobot.toml`, and credential files
overrule both.

```sh
kenobot config                        # every setting in force, and where it comes from
kenobot config get sleep.hour
kenobot config set sleep.hour 3       # keeps your comments; refuses what would not be valid
```

Unknown keys and values out of range keep the bot from starting and are named, with what is meant or accepted. A wrong
value of one tool, workspace or MCP server leaves that one out, as does what it lacks: a key, a folder, a host.
`kenobot doctor`, `/tools` and the log say which and why.
"""

_EXTRAS_HEAD = """\
# Settings of what is not always there

The HTTP server, the channels other than Telegram, and OpenTelemetry; see [Settings](settings.md) for all others and for
how to set one. This page is made from the code (`python -m tests.docs.settings_page`).
"""


def is_extra(section: Section) -> bool:
    """Return whether a section is of a channel or an observer that most homes do not use."""
    return section.name.startswith(("channels.", "observers.")) and section.name not in _CORE_CHANNELS


def model_of(section: str) -> type[BaseModel]:
    """The model of one table. Raises KeyError and PluginError for one that does not exist."""
    group, _, name = section.partition(".")
    if name:
        return plugins.load(PLUGIN_SECTIONS[group], name).settings
    annotation = Settings.model_fields[group].annotation
    assert isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return annotation


def page(*, extras: bool = False) -> str:
    """The whole page."""
    parts = [_EXTRAS_HEAD if extras else _HEAD]
    for section in (each for each in read_shipped_sections() if is_extra(each) == extras):
        parts.append(f"## {section.name}\n")
        if section.about:
            parts.append(f"{section.about}\n")
        if not section.rows:
            continue
        model = model_of(section.name)
        lines = ["| key | takes | default | meaning |", "|---|---|---|---|"]
        lines += [_line(section.name, model, row) for row in section.rows]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(part for part in parts if part)


def _line(section: str, model: type[BaseModel], row: Row) -> str:
    fields = [(key, model.model_fields[key]) for key in row.keys]
    columns = (
        ", ".join(f"`{key}`" for key, _ in fields),
        _once([_takes(key, info) for key, info in fields]),
        ", ".join(_default(info) for _, info in fields),
        row.meaning + "".join(_elsewhere(section, key) for key, _ in fields),
    )
    return "| " + " | ".join(column.replace("|", "\\|") for column in columns) + " |"


def _once(texts: list[str]) -> str:
    return ", ".join(dict.fromkeys(texts))


def _takes(key: str, info: FieldInfo) -> str:
    if is_secret(key):
        return "a secret"
    return describe_values(info) or ("a table" if get_origin(info.annotation) in (dict, Mapping) else "a text")


def _default(info: FieldInfo) -> str:
    value = info.get_default(call_default_factory=True)
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    return f"`{json.dumps(value, ensure_ascii=False, default=list)}`"


def _elsewhere(section: str, key: str) -> str:
    """Further names under which the setting is read."""
    path = (*section.split("."), key)
    variables = [f"`{name}`" for name, meant in ENV_ALIASES if meant == path]
    files = [f"`credentials/{name}`" for name, meant in CREDENTIAL_FILES.items() if meant == path]
    return f" Also: {', '.join(variables + files)}." if variables or files else ""


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    EXTRAS_PAGE.write_text(page(extras=True), "utf-8")
