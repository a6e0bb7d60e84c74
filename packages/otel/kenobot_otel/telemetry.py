"""Tell a collector by OpenTelemetry, over OTLP/HTTP, what turns do and how long they take.

A message is a trace: a span for its turn, and below it one for waiting, for each phase, and for each part delivered.
The phases of a turn are laid end to end: where it asked a model twice, that is one span. Names are those of the
semantic conventions for generative AI where these have one. No text of people or models leaves, no secret, and of a
chat only a fingerprint.
"""

import asyncio
import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, Field, SecretStr

from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.signals import (
    MESSAGE_DEFERRED,
    MESSAGE_FAILED,
    MESSAGE_IN,
    MESSAGE_OUT,
    MESSAGE_REFUSED,
    MESSAGE_SENT,
    THINKING_END,
    THINKING_START,
    TOOL_RAN,
    TURN_FAILED,
    Envelope,
    PayloadValue,
    Signal,
    Signals,
)

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.trace import TracerProvider

_PHASES = ("reading", "recall", "prompt", "model", "tools", "pauses", "postprocessors", "storing")
_MOST_TRACES = 1000  # messages under way; of more, the oldest are told without what is still to come
_CLOSE_SECONDS = 2.5
_INTERVAL = 30.0  # seconds between two sendings of metrics
_SERVICE = "kenobot"
_COUNTED: Mapping[Signal, str] = {
    MESSAGE_IN: "kenobot.messages.received",
    MESSAGE_SENT: "kenobot.messages.sent",
    MESSAGE_FAILED: "kenobot.messages.failed",
    MESSAGE_DEFERRED: "kenobot.messages.deferred",
    MESSAGE_REFUSED: "kenobot.messages.refused",
    TURN_FAILED: "kenobot.turns.failed",
}


class OtelSettings(BaseModel, extra="forbid"):
    """The keys of [observers.otel].

    endpoint: of the collector, without /v1/traces. authorization: value of that header. seconds: longest time of one
    request.
    """

    endpoint: str = Field("http://127.0.0.1:4318", pattern=r"^https?://[^\s/]+")
    authorization: SecretStr = SecretStr("")
    traces: bool = True
    metrics: bool = True
    seconds: ClassVar[float] = 10


@dataclass(slots=True)
class _Message:
    """A message under way. context: of its turn's span, once that is over."""

    came_in: datetime | None = None
    began: datetime | None = None
    failed: str = ""
    answered: datetime | None = None
    context: "Context | None" = None


class Telemetry:
    """Makes spans and figures of signals."""

    def __init__(self, tracing: "TracerProvider", metering: "MeterProvider", signals: Signals) -> None:
        self._tracing, self._metering = tracing, metering
        self._tracer = tracing.get_tracer("kenobot")
        meter = metering.get_meter("kenobot")
        self._counters = {signal: meter.create_counter(name, "{message}") for signal, name in _COUNTED.items()}
        self._turns = meter.create_histogram("kenobot.turn.duration", "s", "from the beginning of a turn to its end")
        self._calls = meter.create_histogram("gen_ai.client.operation.duration", "s", "what models took in a turn")
        self._tokens = meter.create_histogram("gen_ai.client.token.usage", "{token}", "what models used in a turn")
        self._tools = meter.create_histogram("kenobot.tool.duration", "s", "what a tool took")
        self._messages: dict[str, _Message] = {}  # bounded: 1,000; test_messages_that_never_end_are_let_go
        heard = {*_COUNTED, MESSAGE_OUT, THINKING_START, THINKING_END, TOOL_RAN}
        signals.subscribe(heard, self.hear)

    async def aclose(self) -> None:
        """Flush traces and figures to the collector, and leave it after a few seconds."""
        ending = [threading.Thread(target=each.shutdown, daemon=True) for each in (self._tracing, self._metering)]
        for thread in ending:
            thread.start()
        await asyncio.gather(*(asyncio.to_thread(thread.join, _CLOSE_SECONDS) for thread in ending))

    async def hear(self, envelope: Envelope) -> None:
        """Take in a signal."""
        signal, told = envelope.signal, envelope.payload
        channel = {"kenobot.channel": str(told.get("channel", ""))}
        if counter := self._counters.get(signal):
            counter.add(1, channel)
        if signal is TOOL_RAN:
            named = {"gen_ai.tool.name": str(told.get("tool", "")), "kenobot.result": str(told.get("result", ""))}
            self._tools.record(_number(told.get("seconds")), named)
        if not envelope.trace:
            return
        message = self._message(envelope.trace)
        if signal is MESSAGE_IN:
            message.came_in = envelope.at
        elif signal is THINKING_START:
            message.began = envelope.at
        elif signal is TURN_FAILED:
            message.failed = str(told.get("reason", "failed"))
        elif signal is MESSAGE_OUT:
            message.answered = envelope.at
        elif signal is THINKING_END and message.began is not None:
            self._end_turn(envelope, message, message.began)
        elif signal in (MESSAGE_SENT, MESSAGE_FAILED) and message.answered is not None:
            error = str(told.get("error", "failed")) if signal is MESSAGE_FAILED else ""
            self._span("deliver", message.answered, envelope.at, channel, message.context, error)

    def _message(self, trace: str) -> _Message:
        message = self._messages.pop(trace, None) or _Message()
        self._messages[trace] = message
        while len(self._messages) > _MOST_TRACES:
            del self._messages[next(iter(self._messages))]
        return message

    def _end_turn(self, envelope: Envelope, message: _Message, began: datetime) -> None:
        told = envelope.payload
        channel = {"kenobot.channel": str(told.get("channel", ""))}
        chat = hashlib.sha256(f"{told.get('channel')}:{told.get('chat')}".encode()).hexdigest()[:16]
        about = {**channel, "kenobot.trace": envelope.trace, "gen_ai.conversation.id": chat}
        about |= {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "kenobot"}
        first = message.came_in or began
        message.context = self._span("invoke_agent kenobot", first, envelope.at, about, None, message.failed)
        if message.came_in is not None:
            self._span("admission", message.came_in, began, channel, message.context)
        at = _nanoseconds(began)
        model = _model(told)
        for phase in _PHASES:
            spent = int(1_000_000 * _number(told.get(f"{phase}_ms")))
            if spent:
                name, more = (f"chat {told.get('model') or 'model'}", model) if phase == "model" else (phase, channel)
                self._span(name, at, at + spent, more, message.context)
                at += spent
        self._turns.record((envelope.at - began).total_seconds(), channel)
        self._note_model(told)
        message.began, message.came_in, message.failed = None, None, ""

    def _note_model(self, told: Mapping[str, PayloadValue]) -> None:
        if not told.get("provider"):
            return
        by = {key: value for key, value in _model(told).items() if not key.startswith("gen_ai.usage")}
        self._calls.record(_number(told.get("model_ms")) / 1000, by)
        for kind in ("input", "output"):
            self._tokens.record(_number(told.get(f"{kind}_tokens")), {**by, "gen_ai.token.type": kind})

    def _span(
        self,
        name: str,
        began: datetime | int,
        ended: datetime | int,
        about: Mapping[str, str | float],
        parent: "Context | None",
        error: str = "",
    ) -> "Context":
        """Tell a span that is over; returns the context for those below it. began, ended: as ns, or as moments."""
        from opentelemetry.context import Context
        from opentelemetry.trace import Status, StatusCode, set_span_in_context

        span = self._tracer.start_span(name, parent or Context(), attributes=about, start_time=_nanoseconds(began))
        if error:
            span.set_attribute("error.type", error)
            span.set_status(Status(StatusCode.ERROR))
        span.end(_nanoseconds(ended))
        return set_span_in_context(span, Context())


def _model(told: Mapping[str, PayloadValue]) -> dict[str, str | float]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": str(told.get("provider", "")),
        "gen_ai.response.model": str(told.get("model", "")),
        "gen_ai.usage.input_tokens": _number(told.get("input_tokens")),
        "gen_ai.usage.output_tokens": _number(told.get("output_tokens")),
    }


def _number(value: PayloadValue) -> float:
    return value if isinstance(value, int | float) else 0


def _nanoseconds(moment: datetime | int) -> int:
    return moment if isinstance(moment, int) else int(moment.timestamp() * 1_000_000) * 1000


def _build(settings: OtelSettings, context: PluginContext) -> Telemetry:
    # Imported only where the observer is enabled.
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    base, millis = settings.endpoint.rstrip("/"), 1000 * _INTERVAL
    key = settings.authorization.get_secret_value()
    headers = {"authorization": key} if key else {}
    resource = Resource.create({"service.name": _SERVICE})
    # Both send from threads of their own; what the collector does not take in time is dropped, and nothing waits.
    tracing = TracerProvider(resource=resource, shutdown_on_exit=False)
    if settings.traces:
        spans = OTLPSpanExporter(f"{base}/v1/traces", headers=headers, timeout=settings.seconds)
        tracing.add_span_processor(BatchSpanProcessor(spans, schedule_delay_millis=min(millis, 5000)))
    readers = []
    if settings.metrics:
        figures = OTLPMetricExporter(f"{base}/v1/metrics", headers=headers, timeout=settings.seconds)
        readers = [PeriodicExportingMetricReader(figures, millis, 1000 * settings.seconds)]
    metering = MeterProvider(readers, resource, shutdown_on_exit=False)
    return Telemetry(tracing, metering, context.signals)


plugin = Plugin(OtelSettings, _build, "observer")
