"""Write figures in the text format that Prometheus reads."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from kenobot.core.health import STATES
from kenobot.core.percentiles import Distribution
from kenobot.core.status_report import StatusReport
from kenobot.ledger.prices import PICODOLLARS
from kenobot.storage.model_calls import Spending


def metrics_text(
    version: str, health: Mapping[str, Any], spent: Spending, report: StatusReport, times: Distribution
) -> str:
    """Return the figures of a bot's health and of all that models used. times: of the answers of the last hour."""
    return "\n".join([*_lines(version, health, spent), *_render_watch(report), *_times(times), ""])


def _render_watch(report: StatusReport) -> Iterator[str]:
    """Yield the readings of the watch."""
    states = {_label("state", name): int(name == report.state) for name in STATES}
    yield from _metric("kenobot_health", "How the bot is: 1 for its state.", "gauge", states)
    causes = {_labels(check=row.check, subject=row.subject, level=row.level): 1 for row in report.causes}
    yield from _metric("kenobot_health_cause", "What is wrong.", "gauge", causes)
    ages = {"message": report.queues.oldest_waiting, "part": report.queues.oldest_undelivered}
    waits = {_label("of", name): seconds for name, seconds in ages.items()}
    yield from _metric("kenobot_oldest_waiting_seconds", "Age of what waits longest.", "gauge", waits)
    silent = {
        _label("channel", each.name): each.silent_seconds for each in report.channels if each.silent_seconds is not None
    }
    yield from _metric("kenobot_channel_silent_seconds", "Time since a platform was heard.", "gauge", silent)
    up = {_label("provider", each.name): int(each.state == "answering") for each in report.providers}
    yield from _metric("kenobot_provider_up", "Providers that answer people.", "gauge", up)
    if report.memory_mb is not None:
        taken = {"": report.memory_mb * 1_000_000}
        yield from _metric("kenobot_memory_bytes", "Memory that the process takes.", "gauge", taken)


def _times(times: Distribution) -> Iterator[str]:
    """Yield the time of the answers of the last hour."""
    quantiles = {"0.5": times.p50, "0.95": times.p95, "0.99": times.p99} if times.measured else {}
    values = {_label("quantile", share): millis / 1000 for share, millis in quantiles.items()}
    yield from _metric("kenobot_answer_seconds", "Times of the answers of the last hour.", "gauge", values)
    yield from _metric("kenobot_answers", "Answers of models of the last hour.", "gauge", {"": times.measured})


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
    return _labels(**{name: value})


def _labels(**values: str) -> str:
    return f"{{{','.join(_pair(name, value) for name, value in values.items())}}}"


def _pair(name: str, value: str) -> str:
    escaped = value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'{name}="{escaped}"'
