"""Take messages from a terminal or a pipe, and print replies."""

import asyncio
import concurrent.futures
import os
import shutil
import sys
import threading
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeVar

from pydantic import BaseModel, Field

from kenobot.channels.console_draft import erasure, last_rows
from kenobot.core.redaction import escape_controls
from kenobot.core.worker import run_until_first
from kenobot.ports.channel import Capabilities, Sink
from kenobot.ports.errors import StoreError, StreamFailed, Unavailable
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Inbound, MessagePart, Outbound
from kenobot.ports.plugin import Plugin, PluginContext

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.formatted_text import StyleAndTextTuples

T = TypeVar("T")

CHAT = "local"
EXIT_COMMANDS = frozenset({"/exit", "/quit"})
EXIT_WAIT_SECONDS = 30  # for the last answer, after a goodbye
STORE_RETRY_SECONDS = 5  # between tries of a disk that fails
_LONGEST_HISTORY = 1_000_000  # bytes
DRAFT_SECONDS = 0.05  # between two looks of a reply that is being written
_ROOM = 6  # rows of a screen that such a reply leaves to the line that is typed
_BOLD, _DIM, _PLAIN = "\x1b[1;36m", "\x1b[2m", "\x1b[0m"


class ConsoleSettings(BaseModel, extra="forbid", frozen=True):
    """The `[channels.console]` table."""

    user: str = Field("owner", min_length=1)

    @property
    def owners(self) -> tuple[str, ...]:
        """Return the person at the terminal, who is the owner of the home."""
        return (self.user,)


@dataclass(frozen=True, slots=True)
class ConsoleOptions:
    """Options of the command line. message: send only this, then end. trace: print notices too.

    For a person at a terminal: opening: printed before the first prompt. leaving: says how to leave, after a Ctrl-C.
    commands: completed after a slash.
    """

    message: str | None = None
    trace: bool = False
    opening: str = ""
    leaving: str = ""
    commands: Sequence[str] = ()


class Console:
    """A channel on a terminal, with line editing, or on a pipe, one message a line."""

    name = "console"

    def __init__(self, settings: ConsoleSettings, surroundings: PluginContext, stdin: int = 0) -> None:
        self.options = ConsoleOptions()
        self.wait_drained: Callable[[], Awaitable[None]] | None = None
        """Returns once all that was taken in is answered; `run` awaits this at its end."""
        self._settings = settings
        self._surroundings = surroundings
        self._stdin = stdin
        self._prompt: PromptSession[str] | None = None
        self._failure: StreamFailed | None = None
        self._failed = asyncio.Event()
        self._unprinted: tuple[int, asyncio.Future[None]] | None = None
        self._writing = asyncio.Lock()
        self._draft = self._drawn = ""
        self._above: StyleAndTextTuples = []  # bounded: the rows of a screen; test_a_reply_is_drawn_above_the_prompt

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(longest=sys.maxsize, drafts=shows_drafts(), draft_seconds=DRAFT_SECONDS)

    @property
    def shows_drafts(self) -> bool:
        return shows_drafts()

    async def run(self, sink: Sink) -> None:
        """Take messages until the person leaves or the input ends, then wait for the answers still on their way.

        Raises StreamFailed when the input cannot be read, or the output not be written.
        """
        if self.options.message is not None:  # first of all: an output that fails already must not cost the message
            await self._take(self.options.message, sink)
        await run_until_first(self._take_all(sink), self._wait_for_failure())

    async def _wait_for_failure(self) -> None:
        await self._failed.wait()
        assert self._failure is not None
        raise self._failure

    async def _take_all(self, sink: Sink) -> None:
        if self.options.message is not None:
            await self._wait_drained()
        elif os.isatty(self._stdin) and _prints_to_terminal():
            await self._converse(sink)
        else:
            async for line in read_lines(self._stdin):
                if _is_goodbye(line):
                    break
                await self._take(line, sink)
            await self._wait_drained()

    def render(self, text: str) -> Sequence[MessagePart]:
        return (MessagePart(text),) if text else ()

    async def send(self, outbound: Outbound) -> str:
        """Print the reply. Raises Unavailable when the output failed: the reply waits for the next start.

        A reply whose printing was broken off, because its reader takes nothing for a while, is not printed once more.
        """
        self._show_typing(False)
        if self._unprinted is None or self._unprinted[0] != outbound.id:
            text = outbound.part.text
            text = f"{self._format_for_terminal(text)}\n" if _prints_to_terminal() else escape_controls(text)
            replaces = bool(outbound.draft) and outbound.draft == self._draft
            self._unprinted = outbound.id, asyncio.ensure_future(self._print(text, replaces=replaces))
        try:
            await asyncio.shield(self._unprinted[1])
        except StreamFailed as error:
            raise Unavailable(str(error)) from error
        self._unprinted = None
        return uuid.uuid4().hex

    async def typing(self, chat: str, thread: str = "") -> None:
        self._show_typing(True)

    async def draft(self, chat: str, draft: str, text: str, thread: str = "") -> None:
        """Draw what there is of a reply: above the prompt, or, without one, where the answer will stand.

        One that is begun is drawn to its end: what the answer goes on from has to stand there.
        """
        await self._writing.acquire()
        await asyncio.shield(asyncio.ensure_future(self._draw(draft, text)))

    async def _draw(self, draft: str, text: str) -> None:
        """Draw a draft, then let others write."""
        try:
            drawn = self._format_for_terminal(text) if text else ""
            if self._prompt is not None:
                self._draft, self._above = draft, self._rows_above(text)
                self._prompt.app.invalidate()
            elif self._failure is None:
                written = self._redrawn(drawn)
                self._draft, self._drawn = draft, drawn
                await self._write(written)
        finally:
            self._writing.release()

    async def print_notice(self, text: str) -> None:
        """Print a line beside the conversation, such as what was remembered."""
        with suppress(StreamFailed):  # `run` ends with it
            await self._print(self._colour(_DIM, escape_controls(text)))

    async def _converse(self, sink: Sink) -> None:
        from prompt_toolkit.patch_stdout import patch_stdout

        if self.options.opening:
            await self.print_notice(f"{self.options.opening}\n")
        self._prompt = prompt_session(self._surroundings.home / "console_history", self.options.commands)
        with patch_stdout(raw=True):
            while True:
                try:
                    line = await self._prompt.prompt_async(self._message)
                except KeyboardInterrupt:  # as in a shell: drop the line, stay
                    if self.options.leaving:
                        await self.print_notice(self.options.leaving)
                    continue
                except EOFError:
                    break
                if _is_goodbye(line):
                    break
                await self._take(line, sink)
            with suppress(TimeoutError):
                async with asyncio.timeout(EXIT_WAIT_SECONDS):
                    await self._wait_drained()

    def _message(self) -> "StyleAndTextTuples":
        """Return what stands before the line that is typed: of one that was entered no reply stays there."""
        done = self._prompt is None or self._prompt.app.is_done
        return [*([] if done else self._above), ("", "> ")]

    async def _take(self, line: str, sink: Sink) -> None:
        """Hand a line in; keep it until it is stored."""
        if not line.strip():
            return
        inbound = Inbound(
            channel=self.name,
            external_id=uuid.uuid4().hex,
            chat=CHAT,
            user=self._settings.user,
            text=line.strip(),
            sent_at=self._surroundings.clock.now(),
        )
        while True:
            try:
                await sink(inbound)
                return
            except StoreError:
                await self._surroundings.clock.sleep(STORE_RETRY_SECONDS)

    async def _wait_drained(self) -> None:
        if self.wait_drained is not None:
            await self.wait_drained()

    def _show_typing(self, on: bool) -> None:
        if self._prompt is not None:
            self._prompt.bottom_toolbar = " … " if on else None
            self._prompt.app.invalidate()

    async def _print(self, text: str, *, replaces: bool = False) -> None:
        """Print a line, above what is drawn of a reply or in its place. Raises StreamFailed."""
        async with self._writing:
            if replaces or (self._drawn and text.startswith(self._drawn)):
                written, self._draft, self._drawn, self._above = f"{self._redrawn(text)}\n", "", "", []
            else:
                written = f"{self._redrawn('')}{text}\n{self._drawn}"
            await self._write(written)

    def _redrawn(self, text: str) -> str:
        """Return what puts `text` in the place of what is drawn of a reply: its rest, where that is how it goes on."""
        if text.startswith(self._drawn):
            return text[len(self._drawn) :]
        size = shutil.get_terminal_size()
        return erasure(self._drawn, size.columns, size.lines) + text

    async def _write(self, text: str) -> None:
        """Write outside the event loop: a pipe whose reader is slow takes its time. Raises StreamFailed."""

        def write(stream: TextIO) -> None:
            stream.write(text)
            stream.flush()

        # Looked up anew each time: while a prompt is open, it is the one that prints above it, and never waits.
        stream = sys.stdout
        try:
            if self._failure is not None:
                raise self._failure
            if self._prompt is not None:
                write(stream)
            else:
                await _run_in_thread(lambda: write(stream))
        except (OSError, ValueError, StreamFailed) as error:
            reason = str(error).rstrip(".")
            self._failure = self._failure or StreamFailed("console.unprinted_answer", reason=reason)
            self._failed.set()
            raise self._failure from error

    def _format_for_terminal(self, text: str) -> str:
        """Return what the bot says as a terminal shows it."""
        return f"{self._colour(_BOLD, self._speaker)} {escape_controls(text)}"

    @property
    def _speaker(self) -> str:
        return f"{escape_controls(self._surroundings.bot_name)}:"

    def _rows_above(self, text: str) -> "StyleAndTextTuples":
        """Return the rows of a reply that have room above the prompt."""
        if not text:
            return []
        size, name = shutil.get_terminal_size(), self._speaker
        rows = last_rows(f"{name} {escape_controls(text)}", size.columns, max(1, size.lines - _ROOM))
        shown = "\n".join(rows)
        said = shown.removeprefix(name)
        style = "bold ansicyan" if self._colour(_BOLD, "") else ""
        return [*([(style, name)] if said != shown else []), ("", f"{said}\n")]

    def _colour(self, colour: str, text: str) -> str:
        wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        return f"{colour}{text}{_PLAIN}" if wanted and _prints_to_terminal() else text


def shows_drafts() -> bool:
    """Return whether the output is a terminal, from which a reply can be taken away again."""
    return _prints_to_terminal() and os.environ.get("TERM") != "dumb"


def _prints_to_terminal() -> bool:
    return not sys.stdout.closed and sys.stdout.isatty()


def _is_goodbye(line: str) -> bool:
    return line.strip().lower() in EXIT_COMMANDS


def prompt_session(history: Path, commands: Sequence[str] = ()) -> "PromptSession[str]":
    """Open line editing with a history file. Enter sends; Alt+Enter, or Enter after a backslash, starts a line.

    commands: what Tab completes after a slash at the beginning.
    """
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    os.close(os.open(history, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    trim_history(history)
    keys = KeyBindings()

    @keys.add("enter")
    def _enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.char_before_cursor == "\\":
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _insert_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    names = WordCompleter([f"/{name}" for name in commands], sentence=True)
    return PromptSession(
        history=FileHistory(str(history)),
        key_bindings=keys,
        multiline=True,
        completer=names,
        complete_while_typing=False,
    )


def trim_history(history: Path) -> None:
    """Cut a history file that has grown long to its later half, from the beginning of an entry."""
    if history.stat().st_size <= _LONGEST_HISTORY:
        return
    late = history.read_bytes()[-_LONGEST_HISTORY // 2 :]
    history.write_bytes(late[max(0, late.find(b"\n# ")) :])


async def read_lines(descriptor: int) -> AsyncIterator[str]:
    """Read the lines of a file, a pipe or a terminal, without their ends and without blocking the event loop.

    Raises StreamFailed.
    """
    rest = b""
    while chunk := await _run_in_thread(lambda: _read(descriptor)):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace").rstrip("\r")
    if rest:
        yield rest.decode("utf-8", "replace")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError as error:
        raise StreamFailed("console.unreadable_input", reason=error) from error


async def _run_in_thread(function: Callable[[], T]) -> T:
    """Run a function as asyncio.to_thread does, but in a thread that does not hold up the exit while it waits."""
    future: concurrent.futures.Future[T] = concurrent.futures.Future()

    def work() -> None:
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(function())
            except Exception as error:
                future.set_exception(error)

    threading.Thread(target=work, name="console", daemon=True).start()
    return await asyncio.wrap_future(future)


plugin = Plugin(settings=ConsoleSettings, build=Console)
