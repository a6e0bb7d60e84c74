"""Write figures in the text format that Prometheus reads."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from kenobot.agent.ledger.prices import PICODOLLARS
from kenobot.storage.model_calls import Spending


def metrics_text(version: str, health: Mapping[str, Any], spent: Spending) -> str:
    """Return the figures of a bot's health and of all that models used."""
    return "\n".join([*_lines(version, health, spent), ""])


def _lines(version: str, health: Mapping[str, Any], spent: Spending) -> Iterator[str]:
    started = datetime.fromisoformat(health["started"]).timestamp()
    yield from _metric("kenobot_info", "Version that runs.", "gauge", {_label("version", version): 1})
    yield from _metric("kenobot_start_time_seconds", "Unix time of the start.", "gauge", {"": started})
    running = {_label("channel", name): 1 for name in health["channels"]}
    yield from _metric("kenobot_channel_up", "Channels that run.", "gauge", running)
    waiting = {"": health["unfinished"]}
    yield from _metric("kenobot_unfinished_messages", "Messages accepted and not done.", "gauge", waiting)
    messages = {_label("state", name): count for name, count in health["messages"].items()}
    yield from _metric("kenobot_messages", "Messages of the last week by state.", "gauge", messages)
    memories = {_label("form", name): count for name, count in health["memories"].items()}
    yield from _metric("kenobot_memories", "Live memories by form.", "gauge", memories)
    tokens = {_label("kind", "input"): spent.input_tokens, _label("kind", "output"): spent.output_tokens}
    yield from _metric("kenobot_model_calls_total", "Calls of models.", "counter", {"": spent.calls})
    yield from _metric("kenobot_model_tokens_total", "Tokens that models used.", "counter", tokens)
    cost = {"": spent.cost / PICODOLLARS}
    yield from _metric("kenobot_model_cost_dollars_total", "Cost of models at known prices.", "counter", cost)


def _metric(name: str, meaning: str, kind: str, values: Mapping[str, float]) -> Iterator[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} {kind}"
    for labels, value in values.items():
        yield f"{name}{labels} {value}"


def _label(name: str, value: str) -> str:
    escaped = value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'{{{name}="{escaped}"}}'
