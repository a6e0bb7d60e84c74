"""The target of an entry point: settings, and how to build the part from them."""

from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel

from kenobot.ports.clock import Clock
from kenobot.ports.frozen import dataclass
from kenobot.ports.signals import NoSignals, Signals
from kenobot.ports.workspace import Workspace

PluginKind = Literal["", "channel", "provider", "postprocessor", "embedder", "transcriber", "tool", "observer"]

SettingsT = TypeVar("SettingsT", bound=BaseModel)


InstanceT = TypeVar("InstanceT")


@dataclass(frozen=True, slots=True)
class PluginContext:
    """The bot that a plugin is built for.

    signals: subscribe to its signals, or add middleware; see `kenobot.ports.signals`. workspaces: folders of the
    owner's in which tools may work.
    """

    home: Path
    clock: Clock
    bot_name: str
    signals: Signals = field(default_factory=NoSignals)
    workspaces: tuple[Workspace, ...] = ()


class NoSettings(BaseModel, extra="forbid"):
    """For a plugin that has nothing to set."""


@dataclass(frozen=True, slots=True)
class Plugin(Generic[SettingsT, InstanceT]):
    """The target of an entry point: the model of its settings, and how to build the part from them.

    Importing the module that holds it must be cheap: import SDKs inside `build`.
    `build` raises ConfigError when a person must fix something.
    kind: needed in a single file of the home's plugins folder, where no entry point tells.
    """

    settings: type[SettingsT]
    build: Callable[[SettingsT, PluginContext], InstanceT]
    kind: PluginKind = ""
