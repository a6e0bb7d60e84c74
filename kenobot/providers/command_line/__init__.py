"""Answer by a program of the machine, one process a request: text goes in, and no tool of the program's is open to it.

Each of the programs is an agent by itself. Here it has no tools, an empty folder to work in and nobody to ask for a
permission; the prompt comes on its standard input, where no list of processes shows it.
"""

import asyncio
import json
import os
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from pydantic import BaseModel, Field, SecretStr, create_model

from kenobot.core import lazy
from kenobot.ports.errors import (
    AccountRefused,
    ConfigError,
    PromptTooLong,
    RateLimited,
    RemoteError,
    TruncatedReply,
    Unavailable,
)
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.provider import Delta, Request, ToolCall, Usage
from kenobot.ports.sentences import Sentence
from kenobot.providers.command_line.dialects import CLAUDE, CODEX, GEMINI, SYSTEM_FILE, Dialect, Step
from kenobot.providers.command_line.process import Lines, Run, empty_folder, running
from kenobot.providers.pictures import without_pictures
from kenobot.providers.service import ServiceErrors, check_key, well_formed
from kenobot.providers.tool_calls import CallCollector
from kenobot.providers.written_calls import CallReader

_PASSED: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
)
"""Variables of the bot's own environment that a program gets."""

_SPEAKERS: Final = {"user": "Human", "assistant": "Assistant"}
_SPEAKER: Final = lazy.regex(r"(?i)(?:^|(?<=[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]))(?=(?:human|assistant)\s*[:\uff1a])")
_SIGNED_OUT: Final = (
    *("log in", "login", "logged in", "sign in", "signed in", "authenticat", "auth method", "unauthorized", "api key"),
    *("no credentials", "could not load credentials", "invalid credentials"),
)
"""Words of a program that wants a login; "credential" alone is in what Gemini CLI says at each run."""
_MOST_REPLIES: Final = 2
"""How often a program may ask its model, of itself, for one answer: again after a stream that broke off."""
_LIMITED: Final = ("usage limit", "rate limit", "hit your limit", "limit reached", "quota", "too many requests")


class CommandLineSettings(BaseModel, extra="forbid", frozen=True):
    """program: its name or path. api_key: "" uses the login that the program has made itself.

    environment: further variables for it, which may be secrets. at_once: processes that may run side by side.
    idle_seconds: longest silence within a reply. total_seconds: longest whole reply.
    """

    program: str = Field("", min_length=1)
    api_key: SecretStr = SecretStr("")
    model: str = Field("", pattern=r"^([^\s-]\S*)?$")
    environment: dict[str, SecretStr] = Field(default_factory=dict)  # bounded: the settings; start
    at_once: ClassVar[int] = 2
    idle_seconds: ClassVar[float] = 180
    total_seconds: ClassVar[float] = 300


class CommandLineProvider:
    """Streams replies and never retries."""

    sees_pictures = False
    calls_tools = False

    def __init__(self, name: str, dialect: Dialect, path: str, settings: CommandLineSettings) -> None:
        self.name = name
        self._dialect = dialect
        self._path = path
        self._settings = settings
        self._errors = ServiceErrors(dialect.title, settings.model or Sentence("providers.default_model"))
        self._free = asyncio.Semaphore(settings.at_once)

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self._settings.model

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Yield text as it arrives, then one delta with the stop reason, the usage and the model.

        Raises RateLimited, Unavailable, Rejected, and TruncatedReply when the program ends amid its answer; their
        texts do not hold the program's words.
        """
        system, text = prompt_of(request)
        until = asyncio.get_running_loop().time() + self._settings.total_seconds
        try:
            async with asyncio.timeout_at(until):
                await self._free.acquire()
        except TimeoutError as error:
            # the program was never started
            raise Unavailable(str(self._errors.of_connection(error, self._settings.total_seconds))) from None
        try:
            async with (
                empty_folder({SYSTEM_FILE: system, **self._dialect.files}) as folder,
                self._run(folder, text) as run,
                aclosing(self._read_steps(run, until)) as steps,
            ):
                end, written = _End(), CallReader(request)
                async for step in steps:
                    if step.failed:
                        raise self._failure(run, step)
                    if text := written.take(end.take(step)):
                        yield Delta(text=text)
                    if end.is_whole or end.breaks_off:
                        break
                code = None
                if not end.breaks_off:
                    with suppress(TimeoutError):
                        code = await run.exit_code()
                if not end.is_whole:
                    if end.begun and not code:
                        raise TruncatedReply("providers.broke_off", title=self._dialect.title)
                    raise self._failure(run, Step(), code)
                held, calls = _read_calls(written, request)
                for call in calls:
                    yield Delta(call=call)
                yield Delta(held, "tool_calls" if calls else end.stop_reason, end.usage, end.model)
        except OSError as error:
            kind = type(error).__name__
            raise Unavailable("providers.unstarted", title=self._dialect.title, kind=kind) from None
        finally:
            self._free.release()

    def _run(self, folder: Path, text: str) -> AbstractAsyncContextManager[Run]:
        command = [self._path, *self._dialect.arguments(self._settings.model, folder)]
        return running(command, self._environment(folder), folder / "work", text)

    def _environment(self, folder: Path) -> Mapping[str, str]:
        passed = {name: os.environ[name] for name in (*_PASSED, *self._dialect.homes) if name in os.environ}
        key = self._settings.api_key.get_secret_value().strip()
        if key:  # with a key the program needs no login, and leaves nothing behind in its own folders
            home = str(folder / "home")
            passed |= {self._dialect.key: key, "HOME": home, **dict.fromkeys(self._dialect.homes, home)}
        fixed = {"TERM": "dumb", "NO_COLOR": "1", "TMPDIR": str(folder / "work")}
        wanted = {name: value.get_secret_value() for name, value in self._settings.environment.items()}
        return {**passed, **fixed, **self._dialect.environment(folder), **wanted}

    async def _read_steps(self, run: Run, until: float) -> AsyncGenerator[Step, None]:
        loop, lines, piece = asyncio.get_running_loop(), Lines(), b"-"
        while piece:
            silent = loop.time() + self._settings.idle_seconds
            seconds = self._settings.idle_seconds if silent < until else self._settings.total_seconds
            try:
                async with asyncio.timeout_at(min(until, silent)):
                    piece = await run.read()
                whole = lines.feed(piece or b"\n")  # the last line need not have an end
            except Exception as error:
                raise self._errors.of_connection(error, seconds) from None
            for line in whole:
                yield self._step(line)

    def _step(self, line: bytes) -> Step:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return Step()  # a warning among the events
        return self._dialect.read(event) if isinstance(event, dict) else Step()

    def _failure(self, run: Run, step: Step, code: int | None = None) -> RemoteError:
        """Return the error of a run without an answer. What the program says is searched, and never shown."""
        title, program = self._dialect.title, self._settings.program
        words = f"{step.said}\n{run.complaints.decode('utf-8', 'replace')}".lower()
        status = step.status or (401 if code and code == self._dialect.signed_out else 0)
        own = not self._settings.api_key.get_secret_value()
        if not status and any(word in words for word in _LIMITED):
            return RateLimited("providers.limit_reached", title=title)
        if own and (status in (401, 403) or (not status and any(word in words for word in _SIGNED_OUT))):
            return AccountRefused("providers.not_signed_in", title=title, program=program)
        refused = self._errors.of_status(status or 400, said=words)
        if status or isinstance(refused, PromptTooLong):
            return refused
        if code is None:
            return Unavailable("providers.ended", title=title, program=program)
        return Unavailable("providers.ended_code", title=title, program=program, code=code)


def _read_calls(written: CallReader, request: Request) -> tuple[str, list[ToolCall]]:
    """Return what was held back of an answer: as text, or as calls of the tools that the program has of its own."""
    held, calls = written.rest()
    collected = CallCollector(request)
    for number, (name, arguments) in enumerate(calls):
        collected.take(number, "", name, arguments)
    return held, collected.finish_all()


class _End:
    """The stop reason, usage and model of an answer so far.

    is_whole: there is nothing more to read. breaks_off: nor to wait for, because the program would go on by itself.
    """

    def __init__(self) -> None:
        self.begun = self.is_whole = self.breaks_off = False
        self.stop_reason = ""
        self.model = ""
        self.usage = Usage()
        self._replies = 0

    def take(self, step: Step) -> str:
        """Add the figures of a step and return its text; at the end all of it, where no piece was told."""
        self.model = step.model or self.model
        self.stop_reason = "" if step.begins else step.stop_reason or self.stop_reason
        self._replies += step.begins
        self.is_whole = step.ended and bool(self.stop_reason)
        self.breaks_off = step.breaks_off or self._replies > _MOST_REPLIES
        if step.usage is not None:
            told = zip(astuple(self.usage), astuple(step.usage), strict=True)
            self.usage = Usage(*(max(figures) for figures in told))
        text = step.said if step.ended and not self.begun else step.text
        self.begun |= bool(text)
        return text


def prompt_of(request: Request) -> tuple[str, str]:
    """Compose the system prompt, and the conversation as one text: of several messages, each with its speaker."""
    messages = [message for message in without_pictures(request).messages if message.text.strip()]
    texts = [well_formed(message.text) for message in messages]
    if len(messages) > 1:
        marked = [_SPEAKER.sub(" ", text) for text in texts]
        texts = [f"{_SPEAKERS[message.role]}: {text}" for message, text in zip(messages, marked, strict=True)]
    system = "\n\n".join(block.text for block in request.system if block.text.strip())
    return well_formed(system) or "You are a helpful assistant.", "\n\n".join(texts)


def _build(name: str, dialect: Dialect, settings: CommandLineSettings, context: PluginContext) -> CommandLineProvider:
    """Build a provider. Raises ConfigError when the program is not there, or the key cannot be one."""
    check_key(settings.api_key.get_secret_value(), dialect.title)
    program = settings.program
    if program.startswith("~"):
        with suppress(RuntimeError):  # ~name, of a person whom the machine does not know
            program = str(Path(program).expanduser())
    path = shutil.which(program)
    if path is None:
        raise ConfigError("providers.no_program", program=settings.program, title=dialect.title, name=name)
    # It runs in a folder of its own, where a relative path leads nowhere.
    return CommandLineProvider(name, dialect, str(Path(path).absolute()), settings)


def _plugin(name: str, dialect: Dialect) -> Plugin[CommandLineSettings, CommandLineProvider]:
    settings = create_model(
        f"{dialect.program.title()}Settings",
        __base__=CommandLineSettings,
        program=(str, Field(dialect.program, min_length=1)),
    )
    return Plugin(settings=settings, build=partial(_build, name, dialect))


claude = _plugin("claude-cli", CLAUDE)
gemini = _plugin("gemini-cli", GEMINI)
codex = _plugin("codex-cli", CODEX)
