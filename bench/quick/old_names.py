"""Give a revision from before the plugin API was cut into modules the names that it has today. Copied beside it."""

import importlib
import sys
from types import ModuleType

_TODAY = {
    "channel": {"Sink": "Sink"},
    "messages": {"Inbound": "Inbound", "MessagePart": "Part", "Outbound": "Outbound"},
    "plugin": {"NoSettings": "NoSettings", "Plugin": "Plugin", "PluginContext": "Surroundings"},
    "provider": {"Delta": "Delta", "Request": "Request", "Usage": "Usage"},
}


def install() -> None:
    """Make today's modules out of `kenobot.ports` where it is one module still."""
    ports = importlib.import_module("kenobot.ports")
    if hasattr(ports, "__path__"):
        return
    for module, names in _TODAY.items():
        made = ModuleType(f"kenobot.ports.{module}")
        for today, then in names.items():
            setattr(made, today, getattr(ports, then))
        sys.modules[made.__name__] = made
