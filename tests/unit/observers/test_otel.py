"""A collector is told what turns do, in the standard's own format, and nothing that anybody said."""

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from kenobot.core.bus import Bus
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.signals import (
    MESSAGE_IN,
    MESSAGE_OUT,
    MESSAGE_SENT,
    THINKING_END,
    THINKING_START,
    TURN_FAILED,
    PayloadValue,
)
from kenobot_otel import telemetry
from kenobot_otel.telemetry import OtelSettings
from kenobot_testing.clock import ManualClock
from kenobot_testing.observer import ObserverContract
from kenobot_testing.scripted import ScriptedProvider
from kenobot_testing.simulation import Simulation
from tests.constants import with_constants

KEY = "Bearer sesame-sesame"


class Collector(ThreadingHTTPServer):
    """A stand-in of an OTLP/HTTP collector: it decodes what comes, as the protocol says."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.metrics: dict[str, Any] = {}
        self.keys: set[str | None] = set()
        self.raw = b""
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.raw += body
        self.server.keys.add(self.headers["Authorization"])
        assert self.headers["Content-Type"] == "application/x-protobuf"
        if self.path == "/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.server.spans += [span for scope in resource.scope_spans for span in scope.spans]
        else:
            assert self.path == "/v1/metrics"
            for figures in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.server.metrics |= {each.name: each for scope in figures.scope_metrics for each in scope.metrics}
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class TestOtel(ObserverContract):
    @pytest.fixture
    def observer(self) -> Plugin[Any, Any]:
        return telemetry.plugin

    @pytest.fixture
    def settings(self, collector: Collector) -> OtelSettings:
        return OtelSettings(endpoint=collector.endpoint)


def _attributes(span: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


async def test_a_turn_is_a_trace_without_a_word_of_it(tmp_path: Path, collector: Collector) -> None:
    """The turn, its phases and its delivery, in one trace; nothing of the talk, the chat or the key is sent."""
    table = f'[observers.telemetry]\nendpoint = "{collector.endpoint}"\nauthorization = "{KEY}"\n'
    provider = ScriptedProvider(["A very private answer."])
    async with Simulation(tmp_path, provider, plugins={"telemetry": telemetry.plugin}, config=table) as bot:
        assert await bot.ask("a very private question") == "A very private answer."
    spans = {span.name.partition(" ")[0]: span for span in collector.spans}
    turn = spans["invoke_agent"]
    assert {"admission", "deliver"} <= spans.keys()
    assert {span.trace_id for span in collector.spans} == {turn.trace_id}
    assert {span.parent_span_id for span in collector.spans if span is not turn} == {turn.span_id}
    assert _attributes(turn)["gen_ai.operation.name"] == "invoke_agent"
    assert collector.keys == {KEY}
    assert {
        "kenobot.messages.received",
        "kenobot.turn.duration",
        "gen_ai.client.token.usage",
    } <= collector.metrics.keys()
    assert b"private" not in collector.raw
    assert b"sesame" not in collector.raw


async def test_phases_models_and_failures_stand_in_the_spans(tmp_path: Path, collector: Collector) -> None:
    """Phases lie end to end, the model has its names and tokens, and what failed says so."""
    clock = ManualClock()
    bus = Bus(clock)
    observer = telemetry.plugin.build(
        OtelSettings(endpoint=collector.endpoint), PluginContext(tmp_path, clock, "K", bus)
    )
    where = {"channel": "telegram", "chat": "4711"}
    used: dict[str, PayloadValue] = {"provider": "anthropic", "model": "opus", "input_tokens": 900, "output_tokens": 20}
    await bus.emit(MESSAGE_IN, "t", "a", text="hello", **where)
    await bus.emit(THINKING_START, "t", "a", **where)
    await bus.emit(MESSAGE_OUT, "t", "a", text="hi", **where)
    await bus.emit(THINKING_END, "t", "a", **where, recall_ms=4, prompt_ms=6, model_ms=700, **used)
    await bus.emit(MESSAGE_SENT, "t", "a", channel="telegram", part=1)
    await bus.emit(THINKING_START, "t", "b", **where)
    await bus.emit(TURN_FAILED, "t", "b", reason="unavailable")
    await bus.emit(THINKING_END, "t", "b", **where)
    await bus.drain()
    await observer.aclose()
    await bus.close()
    spans = {span.name: span for span in collector.spans if span.trace_id == collector.spans[0].trace_id}
    assert spans["recall"].end_time_unix_nano == spans["prompt"].start_time_unix_nano
    assert spans["prompt"].end_time_unix_nano == spans["chat opus"].start_time_unix_nano
    model = spans["chat opus"]
    assert model.end_time_unix_nano - model.start_time_unix_nano == 700_000_000
    about = _attributes(model)
    assert (about["gen_ai.provider.name"], about["gen_ai.response.model"]) == ("anthropic", "opus")
    assert (about["gen_ai.usage.input_tokens"], about["gen_ai.usage.output_tokens"]) == (900, 20)
    failed = [span for span in collector.spans if span.status.code == 2]
    assert [_attributes(span)["error.type"] for span in failed] == ["unavailable"]
    assert b"4711" not in collector.raw


async def test_a_collector_that_is_gone_costs_only_its_own(tmp_path: Path) -> None:
    """Turns go on, and the end is not held up."""
    clock = ManualClock()
    bus = Bus(clock)
    settings = with_constants(OtelSettings, endpoint="http://127.0.0.1:9", seconds=0.2)
    observer = telemetry.plugin.build(settings, PluginContext(tmp_path, clock, "K", bus))
    for number in range(50):
        await bus.emit(THINKING_START, "t", str(number), channel="c", chat="1")
        await bus.emit(THINKING_END, "t", str(number), channel="c", chat="1")
    await bus.drain()
    async with asyncio.timeout(60):
        await observer.aclose()
    await bus.close()


async def test_messages_that_never_end_are_let_go(tmp_path: Path, collector: Collector) -> None:
    """Only the newest thousand are kept in mind."""
    clock = ManualClock()
    bus = Bus(clock)
    observer = telemetry.plugin.build(
        OtelSettings(endpoint=collector.endpoint), PluginContext(tmp_path, clock, "K", bus)
    )
    for number in range(1500):
        await bus.emit(MESSAGE_IN, "t", str(number), channel="c", chat="1")
        await bus.drain()
    assert len(observer._messages) == 1000
    await observer.aclose()
    await bus.close()
