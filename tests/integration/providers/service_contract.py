"""The tests that every provider with a model's service behind it must pass, before servers on loopback."""

import base64
import hashlib
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from llmock.pytest_plugin import LLMock

from kenobot.ports.errors import (
    AccountRefused,
    AnswerLost,
    PromptTooLong,
    RateLimited,
    Rejected,
    RemoteError,
    TruncatedReply,
    Unavailable,
)
from kenobot.ports.provider import (
    Block,
    Content,
    Image,
    Message,
    Reply,
    Request,
    Role,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
)
from kenobot.providers.bounded import MOST_EVENT_BYTES
from kenobot.providers.pictures import picture_file
from kenobot.providers.tool_calls import MOST_ARGUMENT_CHARS, MOST_CALLS
from kenobot_testing.provider import collect_deltas, make_request
from tests.integration.providers.aimock import AiMock
from tests.integration.providers.answer_contract import AnswerContract, Maker, Server, failure_of, text_of
from tests.integration.providers.anthropic_standin import Entry, StandIn, in_pieces

LOOK = ToolSpec("look", "Look at a place.", {"type": "object", "properties": {"at": {"type": "integer"}}})
TOOLED = Request((Block("be kind"),), (Message("user", (Block("look around"),)),), tools=(LOOK,))
PICTURE = b"a picture, as far as a provider is concerned"


def after_call(*calls: ToolCall) -> Request:
    """The request that brings the results of calls back, and a word of the person's."""
    results: list[Content] = [ToolResult(call.id, f"seen {at}", failed=at > 0) for at, call in enumerate(calls)]
    said: list[tuple[Role, tuple[Content, ...]]] = [
        ("assistant", (Block("I look."), *calls)),
        ("user", (Block("and now?"), *results)),
    ]
    return Request(TOOLED.system, (*TOOLED.messages, *(Message(*each) for each in said)), tools=TOOLED.tools)


def picture_request(home: Path) -> Request:
    """A request with a picture that lies in the home, and one that does not."""
    digest = hashlib.sha256(PICTURE).hexdigest()
    file = picture_file(home, digest)
    file.parent.mkdir(parents=True)
    file.write_bytes(PICTURE)
    blocks = (Block("What is this?"), Image(digest, "image/png"), Image("0" * 64, "image/png"))
    return Request((), (Message("user", blocks),))


class ServiceContract(AnswerContract):
    """Subclass it and override `dialect`, `whole`, `build` and `standin`.

    dialect: llmock's name of the wire format. whole: the stop reason of a whole reply. prefix: what comes after the
    server's name in its address.
    """

    dialect: str
    whole: str
    prefix: str = ""
    standin: type[StandIn]

    def serve(self, script: list[Entry]) -> AbstractAsyncContextManager[Server]:
        return self.standin(script)

    @pytest.mark.parametrize(
        ("status", "name", "kind", "words"),
        [
            (400, "invalid_request_error", Rejected, "conversation may be too long"),
            (401, "authentication_error", AccountRefused, "refused the API key"),
            (402, "billing_error", AccountRefused, "add credit"),
            (403, "permission_error", AccountRefused, "refused the API key"),
            (404, "not_found_error", Rejected, "does not know the model some-model"),
            (413, "request_too_large", PromptTooLong, "too long"),
            *((status, None, Unavailable, "try again in a few minutes") for status in (407, 408, 423, 425)),
            (418, "teapot_error", Rejected, "asking again will not help"),
            (422, "invalid_request_error", Rejected, "refused the request"),
            (409, "conflict_error", Unavailable, "try again"),
            (429, "rate_limit_error", RateLimited, "asks for a pause"),
            (500, "api_error", Unavailable, "try again"),
            (502, None, Unavailable, "try again"),
            (503, None, Unavailable, "try again"),
            (504, "timeout_error", Unavailable, "try again"),
            (529, "overloaded_error", Unavailable, "try again"),
        ],
    )
    async def test_every_status_is_the_right_error(
        self, make: Maker, status: int, name: str | None, kind: type[RemoteError], words: str
    ) -> None:
        """Each refusal says in one sentence what to do; the request is made once, for the core decides on retries."""
        async with self.standin([{"status": status, "error": name, "headers": {"retry-after": "3"}}]) as server:
            error = await failure_of(make(server.url, model="some-model"))
            assert len(server.requests) == 1
        assert type(error) is kind
        assert words in str(error)
        assert str(status) in str(error)
        if isinstance(error, RateLimited | Unavailable):
            assert error.retry_after == 3

    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("overloaded_error", Unavailable),
            ("api_error", Unavailable),
            ("rate_limit_error", RateLimited),
            ("invalid_request_error", Rejected),
            ("something <script> new", Unavailable),
        ],
    )
    async def test_an_error_inside_the_stream_is_the_same_error(
        self, make: Maker, name: str, kind: type[RemoteError]
    ) -> None:
        """It comes under status 200 after half a reply, and counts like one that came at once."""
        async with self.standin([{"stream_error": name, "reply": "half of it"}]) as server:
            error = await failure_of(make(server.url))
        assert type(error) is kind
        assert "<" not in str(error)

    @pytest.mark.parametrize("status", [200, 500])
    async def test_an_answer_that_is_no_stream_is_bounded_too(self, make: Maker, status: int) -> None:
        """Such as the page of an error, which the SDK reads to its end."""
        page = {"body": b"x" * (MOST_EVENT_BYTES + 1), "content_type": "text/plain", "answer_status": status}
        async with self.standin([page]) as server:
            assert type(await failure_of(make(server.url))) is Unavailable

    @pytest.mark.parametrize(
        ("kind", "said"),
        [
            ("text/html", "a web page"),
            ("application/xhtml+xml", "a web page"),
            ("application/json", "something else"),
            ("image/png", "something else"),
            ("application/octet-stream", "something else"),
        ],
    )
    async def test_what_is_no_stream_is_no_answer(self, make: Maker, kind: str, said: str) -> None:
        """A wrong address or a captive portal answers so, under status 200: the error says where to look."""
        async with self.standin([{"body": b"<html>Welcome to our hotel</html>", "content_type": kind}]) as server:
            error = await failure_of(make(server.url))
        assert type(error) is Unavailable
        assert said in str(error)
        assert "base_url" in str(error)

    @pytest.mark.parametrize(
        "event",
        [
            {"type": "message_start", "message": "x", "choices": "abc"},
            {"type": "content_block_start", "index": [0], "content_block": {"type": "tool_use"}, "choices": ["x"]},
            {"type": "content_block_delta", "index": 0, "choices": [{"index": 0, "delta": "x"}]},
        ],
    )
    async def test_an_event_of_another_form_is_no_answer(self, make: Maker, event: Entry) -> None:
        """The SDKs do not look at the form: what is not as the API says is an error of the service."""
        body = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        async with self.standin([{"body": body, "content_type": "text/event-stream"}]) as server:
            error = await failure_of(make(server.url))
        assert type(error) is Unavailable
        assert "base_url" in str(error)

    async def test_a_compressed_answer_is_refused(self, make: Maker) -> None:
        """A few bytes of it can be gigabytes: none is asked for, and none taken."""
        headers = {"content-encoding": "gzip"}
        async with self.standin([{"body": b"", "content_type": "text/event-stream", "headers": headers}]) as server:
            error = await failure_of(make(server.url))
            assert server.headers[0]["accept-encoding"] == "identity"
        assert "something compressed" in str(error)

    async def test_a_server_that_does_not_hang_up_has_answered(
        self, make: Maker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The answer is whole with its stop reason; what might still come is waited for a moment only."""
        monkeypatch.setattr("kenobot.providers.service.LAST_SECONDS", 0.3)
        async with self.standin([{"reply": "hello", "linger": True}]) as server:
            deltas = await collect_deltas(make(server.url), make_request("hello"))
        assert (text_of(deltas), deltas[-1].stop_reason, deltas[-1].usage) == ("hello", self.whole, Usage(1, 1))

    async def test_texts_come_as_they_were_sent(self, make: Maker) -> None:
        """Piece by piece, in order, none kept for later; then the end."""
        async with self.standin([{"reply": "one, two and three"}]) as server:
            deltas = await collect_deltas(make(server.url), make_request("count"))
        assert [delta.text for delta in deltas] == [*in_pieces("one, two and three"), ""]
        assert [delta.stop_reason for delta in deltas[:-1]] == [None] * (len(deltas) - 1)

    async def test_the_next_request_has_the_same_connection(self, make: Maker) -> None:
        """A stream is read to its end: no answer costs a further greeting of the server's."""
        async with self.standin() as server:
            provider = make(server.url)
            for _ in range(3):
                await collect_deltas(provider, make_request("hello"))
            assert server.connections == 1

    async def test_calls_of_tools_are_yielded_whole(self, make: Maker) -> None:
        """Several at once, each with its arguments and after the text; the reply ends as one that waits."""
        calls = [
            {"id": "a1", "name": "look", "arguments": '{"at": 7, "how": "\\u00e1 \\ud83d"}'},
            {"id": "b2", "name": "look", "arguments": ""},
        ]
        async with self.standin([{"reply": "I look.", "calls": calls}]) as server:
            deltas = await collect_deltas(make(server.url), TOOLED)
            [sent] = server.requests[0]["tools"]
            assert "Look at a place." in json.dumps(sent)
            assert LOOK.schema in (sent.get("input_schema"), sent.get("function", {}).get("parameters"))
        assert text_of(deltas) == "I look."
        assert [delta.call for delta in deltas if delta.call] == [
            ToolCall("a1", "look", {"at": 7, "how": "á \ufffd"}),
            ToolCall("b2", "look", {}),
        ]
        assert Reply("", deltas[-1].stop_reason or "").end == "calls"

    @pytest.mark.parametrize(
        ("name", "arguments", "problem"),
        [
            ("look", '{"at": ', "not one JSON object"),
            ("look", '{"at": NaN}', "not one JSON object"),
            ("look", "[1]", "not one JSON object"),
            ("look", "[" * 5000, "not one JSON object"),
            ("look", '{"at": "' + "x" * MOST_ARGUMENT_CHARS + '"}', "too long"),
            ("jump", "{}", "no tool called 'jump'"),
            ("", "{}", "no tool called"),
        ],
        ids=["cut", "no number", "a list", "deep", "long", "unknown", "nameless"],
    )
    async def test_a_call_that_cannot_be_run_says_why(
        self, make: Maker, name: str, arguments: str, problem: str
    ) -> None:
        """The model can be told and mend it; the other calls are not lost."""
        calls = [{"id": "a", "name": name, "arguments": arguments}, {"id": "b", "name": "look", "arguments": "{}"}]
        async with self.standin([{"reply": "", "calls": calls}]) as server:
            deltas = await collect_deltas(make(server.url), TOOLED)
        bad, good = [delta.call for delta in deltas if delta.call]
        assert problem in bad.problem
        assert (bad.id, bad.arguments, good) == ("a", {}, ToolCall("b", "look", {}))

    async def test_calls_without_an_end_are_given_up(self, make: Maker) -> None:
        """No more are collected than any answer has."""
        calls = [{"id": f"c{number}", "name": "look", "arguments": "{}"} for number in range(MOST_CALLS + 1)]
        async with self.standin([{"reply": "", "calls": calls}]) as server:
            with pytest.raises(Unavailable, match="tools at once"):
                await collect_deltas(make(server.url), TOOLED)

    async def test_the_results_of_calls_go_back(self, make: Maker) -> None:
        """Each to its call, before what the person said, under ids that every service takes."""
        first, second = ToolCall("x/1 (odd)", "look", {"at": 1}), ToolCall("y" * 99, "look", {})
        async with self.standin() as server:
            await collect_deltas(make(server.url), after_call(first, second))
            told = json.dumps(server.requests[0]["messages"])
        assert told.index("I look.") < told.index("call00001") < told.index("seen 0") < told.index("and now?")
        assert told.count("call00001") == told.count("call00002") == 2
        assert "odd" not in told

    async def test_a_picture_is_shown_and_a_lost_one_is_told_of(self, make: Maker) -> None:
        """The model sees the one that lies in the home."""
        async with self.standin() as server:
            await collect_deltas(make(server.url), picture_request(self.home))
            told = json.dumps(server.requests[0]["messages"])
        assert base64.b64encode(PICTURE).decode() in told
        assert told.count("image/png") == 1
        assert told.count("[A picture stands here") == 1

    @pytest.mark.parametrize(
        "thought",
        ["<think>secret plans</think>", "<thinking>\nsecret\n</thinking>\n\n", "secret plans.\n</think>\n\n"],
    )
    async def test_a_thought_in_the_text_is_no_answer(self, make: Maker, thought: str) -> None:
        """Of a model that has no place of its own for it, or whose server does not know that place.

        Claude 3 Opus writes <thinking> before it calls a tool; tests/unit/providers/test_thinking.py has the others.
        """
        async with self.standin([{"reply": f"{thought}Good morning."}]) as server:
            deltas = await collect_deltas(make(server.url), make_request("hello"))
        at = max((number for number, delta in enumerate(deltas) if delta.replaces), default=0)
        assert "".join(delta.text for delta in deltas[at:]) == "Good morning."

    async def test_a_closed_port_is_unavailable(self, make: Maker) -> None:
        """Nobody at home is a failure that may pass."""
        async with self.standin() as server:
            url = server.url
        error = await failure_of(make(url))
        assert type(error) is Unavailable
        assert "ConnectError" in str(error)

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    async def test_a_redirect_to_another_host_is_refused(self, make: Maker, status: int) -> None:
        """Neither the conversation nor the key goes to a server that the settings do not name.

        It may be a portal's, which sends everyone on to its sign-in for a while (RFC 8952): that passes.
        """
        async with (
            self.standin() as elsewhere,
            self.standin([{"status": status, "headers": {"location": f"{elsewhere.url}/x"}}]) as server,
        ):
            error = await failure_of(make(server.url))
            assert (len(server.requests), elsewhere.seen) == (1, 0)
        assert type(error) is Unavailable
        assert "another server" in str(error)
        assert "base_url" in str(error)

    @pytest.mark.parametrize("target", ["//elsewhere.invalid/x", "https://127.0.0.1:1/x", "//[", "\t"])
    async def test_a_redirect_in_any_spelling_leads_nowhere_else(self, make: Maker, target: str) -> None:
        """A location without a scheme, another port, or no address at all."""
        async with self.standin([{"status": 307, "headers": {"location": target}}]) as server:
            assert isinstance(await failure_of(make(server.url)), Rejected | Unavailable)
            assert len(server.requests) <= 21

    @pytest.mark.parametrize("status", [400, 403, 404, 405, 410])
    async def test_a_page_in_place_of_a_refusal_is_not_the_services_word(self, make: Maker, status: int) -> None:
        """Such as of a portal, of a proxy, or of a shield before the service: that passes, or a person mends it."""
        page: Entry = {"answer_status": status, "body": b"<html>Sign in</html>"}
        async with self.standin([page]) as server:
            error = await failure_of(make(server.url))
        assert type(error) is Unavailable
        assert "a web page in place of" in str(error)

    async def test_a_redirect_within_the_host_is_followed(self, make: Maker) -> None:
        """A server may move its paths about."""
        moved: Entry = {"times": 1, "status": 307, "headers": {"location": f"{self.standin.path}?moved"}}
        async with self.standin([moved, {"reply": "here"}]) as server:
            assert text_of(await collect_deltas(make(server.url), make_request("hello"))) == "here"

    @pytest.mark.parametrize(("status", "kind"), [(429, RateLimited), (529, Unavailable), (503, Unavailable)])
    @pytest.mark.parametrize(("asked", "pause"), [(None, None), ("soon", None), ("0", 0), ("86400", 86400)])
    async def test_the_pause_is_what_the_service_asks_for(
        self, make: Maker, status: int, kind: type[RemoteError], asked: str | None, pause: float | None
    ) -> None:
        """None when it asks for none, or for nothing that can be read."""
        headers = {"retry-after": asked} if asked else {}
        async with self.standin([{"status": status, "headers": headers}]) as server:
            error = await failure_of(make(server.url))
        assert (type(error), error.retry_after) == (kind, pause)

    async def test_aimock_understands_us(self, aimock: AiMock, make: Maker) -> None:
        """Another independent server: text, calls at once, their results, and a picture."""
        provider = make(f"{aimock.url}{self.prefix}")
        first, calls, after, seen = [
            await collect_deltas(provider, request)
            for request in (
                make_request("hello"),
                TOOLED,
                after_call(ToolCall("1", "look", {"at": 1}), ToolCall("2", "look", {"at": 2})),
                picture_request(self.home),
            )
        ]
        assert [*map(text_of, (first, calls, after, seen))] == [
            "All is well.",
            "I look.",
            "I have seen it.",
            "A picture.",
        ]
        assert [delta.call.arguments for delta in calls if delta.call] == [{"at": 1}, {"at": 2}]
        assert Reply("", calls[-1].stop_reason or "").end == "calls"
        assert first[-1].stop_reason == self.whole

    @pytest.mark.parametrize(
        ("fault", "kind"),
        [("rateLimit", RateLimited), ("drop", Unavailable), ("malformed", Unavailable), ("disconnect", Unavailable)],
    )
    async def test_its_faults_become_typed_errors_too(
        self, aimock: AiMock, make: Maker, fault: str, kind: type[RemoteError]
    ) -> None:
        """And it answers again afterwards."""
        provider = make(f"{aimock.url}{self.prefix}")
        aimock.break_down(**{fault: 1})
        error = await failure_of(provider)
        assert type(error) is kind
        aimock.mend()
        assert text_of(await collect_deltas(provider, make_request("hello"))) == "All is well."

    async def test_llmock_understands_us(self, llmock: LLMock, make: Maker) -> None:
        """An independent server takes the request and its stream is read to the end."""
        llmock.reply("All is well.")
        deltas = await collect_deltas(make(llmock.base_url(self.dialect)), make_request("hello"))
        assert text_of(deltas) == "All is well."
        assert deltas[-1].stop_reason == self.whole

    @pytest.mark.parametrize(
        ("fault", "kind"),
        [
            (lambda server: server.rate_limit(retry_after=2), RateLimited),
            (lambda server: server.fail(529, retry_after=2), Unavailable),
            (lambda server: server.outage(), Unavailable),
            (lambda server: server.context_overflow(), PromptTooLong),
            (lambda server: server.disconnect(after_chunks=3), Unavailable),
            (lambda server: server.corrupt(after_chunks=3), Unavailable),
            (lambda server: server.truncate(after_chunks=3), TruncatedReply),
            (lambda server: server.stall(after_chunks=3, seconds=30), AnswerLost),
            (lambda server: server.slow_first_token(30), AnswerLost),
        ],
        ids=["rate", "529", "outage", "overflow", "disconnect", "corrupt", "truncate", "stall", "slow"],
    )
    async def test_every_fault_becomes_a_typed_error(
        self, llmock: LLMock, make: Maker, fault: Callable[[LLMock], object], kind: type[RemoteError]
    ) -> None:
        """HTTP errors and broken streams all come out as ours, at the first attempt."""
        llmock.reply("one two three four five six seven eight nine ten", times=None)
        fault(llmock)
        provider = make(llmock.base_url(self.dialect), idle_seconds=0.3 if kind is AnswerLost else 30)
        error = await failure_of(provider)
        assert type(error) is kind
        if isinstance(error, RateLimited):
            assert error.retry_after == 2
        assert len(llmock.requests) == 1
        if kind is TruncatedReply:
            assert (await collect_deltas(provider, make_request("hello")))[-1].stop_reason, (
                "the core's second try finds a whole reply"
            )
        llmock.assert_resilient()
