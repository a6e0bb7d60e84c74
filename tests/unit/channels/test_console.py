"""The console takes lines in, prints answers, and lets nobody leave before the last answer."""

import asyncio
import io
import os
import shutil
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from kenobot.channels import console as module
from kenobot.channels.console import Console, ConsoleOptions, ConsoleSettings, plugin, prompt_session, read_lines
from kenobot.channels.console_draft import last_rows
from kenobot.core.redaction import escape_controls, one_line
from kenobot.ports.errors import StoreError, StreamFailed, Unavailable
from kenobot.ports.messages import Inbound, MessagePart, Outbound
from kenobot.ports.plugin import PluginContext
from kenobot_testing.clock import START, EagerClock, ManualClock
from tests.tour.screen import Screen
from tests.waiting import until


class Letterbox:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.taken: list[Inbound] = []

    async def __call__(self, inbound: Inbound) -> bool:
        self.taken.append(inbound)
        return True

    async def dead_letter(self, channel: str, external_id: str, raw: str, reason: str) -> None:
        raise AssertionError

    async def report(self, channel: str, problem: str) -> None:
        raise AssertionError

    @property
    def texts(self) -> list[str]:
        return [inbound.text for inbound in self.taken]


class Terminal(io.StringIO):
    """A stdout that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def make(tmp_path: Path, stdin: int = 0) -> Console:
    surroundings = PluginContext(tmp_path, ManualClock(), "Keno")
    return Console(ConsoleSettings(), surroundings, stdin)


async def converse(tmp_path: Path, keyboard: PipeInput, typed: str) -> list[str]:
    """What is taken in when this is typed at the prompt."""
    box = Letterbox()
    keyboard.send_text(typed)
    with seat() as descriptor:
        await make(tmp_path, descriptor).run(box)
    return box.texts


@contextmanager
def seat() -> Iterator[int]:
    """A terminal to sit at, as a file descriptor."""
    near, far = os.openpty()
    try:
        yield far
    finally:
        os.close(near)
        os.close(far)


def reply(text: str) -> Outbound:
    return Outbound(1, "console", "local", MessagePart(text), "trace")


def answer(text: str) -> Outbound:
    """The answer that takes the place of the draft called 7."""
    return replace(reply(text), draft="7")


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    with suppress(OSError):
        os.close(write)
    for thread in threading.enumerate():  # one left behind would read from the next test's pipe of the same number
        if thread.name == "console":
            thread.join(10)
    os.close(read)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A person sits at a terminal that understands colours."""
    stdout = Terminal()
    monkeypatch.setattr(
        module, "sys", SimpleNamespace(stdout=stdout, maxsize=sys.maxsize)
    )  # pytest itself swaps sys.stdout all the time
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return stdout


@pytest.fixture
def keyboard(terminal: Terminal) -> Iterator[PipeInput]:
    """What is sent to it is typed at the prompt."""
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        yield keys


# ── without a person ─────────────────────────────────────────────────────────────────────────────────────────────


async def test_each_piped_line_is_a_message(tmp_path: Path, pipe: tuple[int, int]) -> None:
    """Blank lines are none, the last line needs no end, and every message is the owner's, with an id of its own."""
    read, write = pipe
    os.write(write, "  hello \n\n\r\n¿qué tal?\r\nlast".encode())
    os.close(write)
    box = Letterbox()
    await make(tmp_path, read).run(box)
    assert box.texts == ["hello", "¿qué tal?", "last"]
    first = box.taken[0]
    assert (first.channel, first.session, first.user, first.private) == ("console", "console-local", "owner", True)
    assert first.sent_at == START
    assert len({inbound.external_id for inbound in box.taken}) == 3


async def test_the_end_waits_for_the_answers(tmp_path: Path, pipe: tuple[int, int]) -> None:
    """At the end of the input `run` returns only after everything has been answered."""
    read, write = pipe
    os.write(write, b"hello\n")
    os.close(write)
    channel, box, answered = make(tmp_path, read), Letterbox(), asyncio.Event()
    seen: list[list[str]] = []

    async def drain() -> None:
        seen.append(box.texts)
        await answered.wait()

    channel.wait_drained = drain
    running = asyncio.create_task(channel.run(box))
    await until(lambda: bool(seen))
    assert not running.done()
    answered.set()
    await running
    assert seen == [["hello"]]


async def test_goodbye_ends_a_pipe_too(tmp_path: Path, pipe: tuple[int, int]) -> None:
    """Nothing after /exit is a message."""
    read, write = pipe
    os.write(write, b"hello\n/exit\nmore\n")
    box = Letterbox()
    await make(tmp_path, read).run(box)
    assert box.texts == ["hello"]


async def test_one_message_from_the_command_line(tmp_path: Path, pipe: tuple[int, int]) -> None:
    """With `-m` nothing is read: the one message is sent and answered."""
    channel, box, drained = make(tmp_path, pipe[0]), Letterbox(), []
    channel.options = ConsoleOptions(message="two\nlines")

    async def drain() -> None:
        drained.append(True)

    channel.wait_drained = drain
    await channel.run(box)
    assert box.texts == ["two\nlines"]
    assert drained == [True]


async def test_a_line_is_kept_until_the_disk_takes_it(tmp_path: Path, pipe: tuple[int, int]) -> None:
    """Nobody else has it, and the same line twice would be two messages; what came after it follows it."""
    box, failures, tried, clock = Letterbox(), [StoreError("full")] * 3, [], EagerClock()

    async def sink(inbound: Inbound) -> bool:
        tried.append(inbound.external_id)
        if failures:
            raise failures.pop()
        return await box(inbound)

    sink.set_aside, sink.report = box.dead_letter, box.report  # type: ignore[attr-defined]
    os.write(pipe[1], b"one\ntwo\n")
    os.close(pipe[1])
    await Console(ConsoleSettings(), PluginContext(tmp_path, clock, "Keno"), pipe[0]).run(sink)  # type: ignore[arg-type]
    assert box.texts == ["one", "two"]
    assert len(set(tried[:4])) == 1
    assert clock.slept == [5, 5, 5]


async def test_waiting_for_input_can_be_cancelled(tmp_path: Path, pipe: tuple[int, int]) -> None:
    """A stop does not wait for a line that nobody writes."""
    running = asyncio.create_task(make(tmp_path, pipe[0]).run(Letterbox()))
    for _ in range(5):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_lines_longer_than_a_read(pipe: tuple[int, int]) -> None:
    """A line may come in pieces, cut inside a character."""
    read, write = pipe
    raw = "ñ".encode()

    async def collect() -> list[str]:
        return [line async for line in read_lines(read)]

    collecting = asyncio.create_task(collect())
    for piece in (b"a" + raw[:1], raw[1:] + b"b\n", b"\xff"):
        await asyncio.to_thread(os.write, write, piece)
    os.close(write)
    assert await collecting == ["añb", "\ufffd"]


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reply_is_one_part_of_markdown(tmp_path: Path) -> None:
    """The terminal shows Markdown as it is written."""
    channel = make(tmp_path)
    assert channel.render("**hi**") == (MessagePart("**hi**"),)
    assert channel.render("") == ()


async def test_answers_are_plain_in_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal there is the answer and nothing else; each part gets an id of its own."""
    channel = make(tmp_path)
    assert await channel.send(reply("one\ntwo")) != await channel.send(reply("three"))
    await channel.print_notice("remembered")
    assert capsys.readouterr().out == "one\ntwo\nthree\nremembered\n"


async def test_an_answer_cannot_drive_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Escape sequences in a reply or a memory are shown, not obeyed."""
    channel = make(tmp_path)
    await channel.send(reply("\x1b[2Jgone\x9b\r"))
    await channel.print_notice("\x1b]0;owned\x07")
    assert capsys.readouterr().out == "\\x1b[2Jgone\\x9b\\x0d\n\\x1b]0;owned\\x07\n"


async def test_colours_only_where_they_are_welcome(
    tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal gets the bot's name in colour, unless NO_COLOR or the terminal says no."""
    await make(tmp_path).send(reply("hi"))
    assert terminal.getvalue() == "\x1b[1;36mKeno:\x1b[0m hi\n\n"
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        monkeypatch.setenv(name, value)
        await make(tmp_path).send(reply("hi"))
        await make(tmp_path).print_notice("hi")
        monkeypatch.setenv(name, "" if name == "NO_COLOR" else "xterm")
    assert terminal.getvalue().count("\x1b") == 2


async def test_a_reply_that_no_reader_takes_is_printed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A send that was broken off while the pipe is full goes on where it was; it neither blocks nor starts anew."""
    read, write = os.pipe()
    with os.fdopen(write, "w") as stdout, os.fdopen(read, "rb") as reader:
        monkeypatch.setattr(module, "sys", SimpleNamespace(stdout=stdout, maxsize=sys.maxsize))
        channel, long = make(tmp_path), reply("x" * 200_000)
        for _ in range(2):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await channel.send(long)
        sending = asyncio.create_task(channel.send(long))
        taken = await asyncio.to_thread(reader.read, 200_001)
        await sending
        assert taken == b"x" * 200_000 + b"\n"
        await channel.send(reply("next"))
        assert await asyncio.to_thread(reader.readline) == b"next\n"


async def test_an_output_that_fails_ends_the_conversation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while the input stays open; the reply itself is not given up."""
    read, write = os.pipe()
    stdout = io.StringIO()
    stdout.close()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stdout=stdout, maxsize=sys.maxsize))
    channel = make(tmp_path, read)
    running = asyncio.create_task(channel.run(Letterbox()))
    with pytest.raises(Unavailable):
        await channel.send(reply("hi"))
    with pytest.raises(StreamFailed, match="is kept"):
        await running
    os.close(write)
    os.close(read)


async def test_a_message_of_the_command_line_is_kept_though_the_output_fails_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when an answer from an earlier chat cannot be printed either."""
    stdout = io.StringIO()
    stdout.close()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stdout=stdout, maxsize=sys.maxsize))
    channel, box = make(tmp_path), Letterbox()
    channel.options = ConsoleOptions(message="hello")
    with pytest.raises(Unavailable):
        await channel.send(reply("from yesterday"))
    with pytest.raises(StreamFailed):
        await channel.run(box)
    assert box.texts == ["hello"]


async def test_an_input_that_fails_ends_the_conversation(tmp_path: Path) -> None:
    """What cannot be read now cannot be read in a minute either."""
    folder = os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(StreamFailed, match="is a directory"):
        await make(tmp_path, folder).run(Letterbox())
    os.close(folder)


async def test_a_terminal_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply that nobody can read is a failed delivery, not a crash."""
    stdout = io.StringIO()
    stdout.close()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stdout=stdout, maxsize=sys.maxsize))
    with pytest.raises(Unavailable):
        await make(tmp_path).send(reply("hi"))


# ── with a person ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("goodbye", ["/exit\r", " /QUIT \r", "\x04"])
async def test_a_conversation(tmp_path: Path, keyboard: PipeInput, goodbye: str) -> None:
    """Lines are messages until the person says goodbye; blank ones are none."""
    assert await converse(tmp_path, keyboard, f"hello\r\r  \rmore\r{goodbye}") == ["hello", "more"]


async def test_several_lines_in_one_message(tmp_path: Path, keyboard: PipeInput) -> None:
    """Alt+Enter, and Enter after a backslash, start a new line."""
    assert await converse(tmp_path, keyboard, "one\x1b\rtwo\\\rthree\r\x04") == ["one\ntwo\nthree"]


async def test_ctrl_c_drops_the_line(tmp_path: Path, keyboard: PipeInput) -> None:
    """As in a shell, the half-written line is gone and the conversation goes on."""
    assert await converse(tmp_path, keyboard, "half\x03whole\r\x04") == ["whole"]


async def test_a_conversation_opens_with_what_this_is_and_how_to_leave(
    tmp_path: Path, keyboard: PipeInput, terminal: Terminal
) -> None:
    """The opening stands before the first prompt; a Ctrl-C says how to leave."""
    keyboard.send_text("half\x03\x04")
    with seat() as descriptor:
        channel = make(tmp_path, descriptor)
        channel.options = ConsoleOptions(opening="Keno remembers.", leaving="/exit leaves.")
        await channel.run(Letterbox())
    told = terminal.getvalue()
    assert 0 <= told.find("Keno remembers.") < told.find("/exit leaves.")


async def test_tab_completes_a_command_at_the_beginning(tmp_path: Path, keyboard: PipeInput) -> None:
    """And nothing within a message."""
    completer = prompt_session(tmp_path / "history", ["why", "memory", "memoria"]).completer
    assert completer is not None
    for typed, names in (("/mem", ["/memory", "/memoria"]), ("see /mem", []), ("mem", [])):
        found = completer.get_completions(Document(typed), CompleteEvent(completion_requested=True))
        assert [each.text for each in found] == names


async def test_history_is_kept_for_the_owner_only(tmp_path: Path, keyboard: PipeInput) -> None:
    """What was typed can be found again the next time, by nobody else."""
    await converse(tmp_path, keyboard, "hello\r\x04")
    history = tmp_path / "console_history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert "hello" in history.read_text()
    assert await converse(tmp_path, keyboard, "\x1b[A\r\x04") == ["hello"]


async def test_leaving_does_not_wait_for_ever(
    tmp_path: Path, keyboard: PipeInput, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who has said goodbye waits a while for the last answer, then is let go."""
    monkeypatch.setattr(module, "EXIT_WAIT_SECONDS", 0)

    async def never() -> None:
        await asyncio.Event().wait()

    keyboard.send_text("\x04")
    with seat() as descriptor:
        channel = make(tmp_path, descriptor)
        channel.wait_drained = never
        await channel.run(Letterbox())


async def test_typing_shows_until_the_answer_comes(tmp_path: Path, keyboard: PipeInput) -> None:
    """The bottom line says that an answer is on its way, and stops saying so."""
    shown: list[object] = []

    class Busy(Letterbox):
        async def __call__(self, inbound: Inbound) -> bool:
            await channel.typing("local")
            shown.append(channel._prompt and channel._prompt.bottom_toolbar)
            await channel.send(reply("hi"))
            shown.append(channel._prompt and channel._prompt.bottom_toolbar)
            return True

    keyboard.send_text("hello\r\x04")
    with seat() as descriptor:
        channel = make(tmp_path, descriptor)
        await channel.run(Busy())
    assert shown == [" … ", None]


# ── a reply that is still being written ──────────────────────────────────────────────────────────────────────────


def on_screen(terminal: Terminal) -> list[str]:
    """What stands on the terminal in the end."""
    screen = Screen()
    screen.feed(terminal.getvalue().replace("\n", "\r\n"))
    return [line for line in screen.lines if line]


async def test_a_reply_is_printed_as_it_comes(
    tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each piece once; the answer adds its rest, and stands there once."""
    monkeypatch.setenv("NO_COLOR", "1")
    channel = make(tmp_path)
    assert channel.capabilities.drafts
    for text in ("Hel", "Hello\nthe", "Hello\nthere"):
        await channel.draft("local", "7", text)
    assert terminal.getvalue() == "Keno: Hello\nthere"
    await channel.send(answer("Hello\nthere, you"))
    assert terminal.getvalue() == "Keno: Hello\nthere, you\n\n"


async def test_a_draft_that_is_broken_off_is_printed_to_its_end(
    tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer goes on from it, so that no letter may be missing there. One that has not begun is left out."""
    in_thread, may_write = module._run_in_thread, asyncio.Event()

    async def late(work: Callable[[], None]) -> None:
        await may_write.wait()
        await in_thread(work)

    monkeypatch.setattr(module, "_run_in_thread", late)
    monkeypatch.setenv("NO_COLOR", "1")
    channel = make(tmp_path)
    for text in ("Hel", "Never mind"):
        drafting = asyncio.create_task(channel.draft("local", "7", text))
        for _ in range(3):
            await asyncio.sleep(0)
        drafting.cancel()
    sending = asyncio.create_task(channel.send(answer("Hello")))
    await asyncio.sleep(0)
    may_write.set()
    await sending
    assert terminal.getvalue() == "Keno: Hello\n\n"


async def test_a_reply_that_begins_anew_takes_the_place_of_what_was_printed(tmp_path: Path, terminal: Terminal) -> None:
    """A notice and another part come above what there is of it; what no answer follows is taken away."""
    channel = make(tmp_path)
    await channel.draft("local", "7", "First\ntry")
    await channel.print_notice("a note")
    await channel.draft("local", "7", "Second")
    await channel.send(reply("patience"))
    await channel.draft("local", "7", "Second try")
    assert on_screen(terminal) == ["a note", "Keno: patience", "Keno: Second try"]
    await channel.send(answer("Third"))
    await channel.draft("local", "8", "Never mind")
    await channel.draft("local", "8", "")
    assert on_screen(terminal) == ["a note", "Keno: patience", "Keno: Third"]


async def test_a_reply_is_drawn_above_the_prompt(tmp_path: Path, keyboard: PipeInput) -> None:
    """The last rows of it that have room, until the answer is printed above them."""
    shown: list[str] = []

    class Busy(Letterbox):
        async def __call__(self, inbound: Inbound) -> bool:
            for text in ("Hello", "Hello\n" + "\n".join(map(str, range(200)))):
                await channel.draft("local", "7", text)
                shown.append("".join(each[1] for each in channel._above))
            await channel.send(answer("Hello"))
            shown.append("".join(each[1] for each in channel._above))
            return True

    keyboard.send_text("hello\r\x04")
    with seat() as descriptor:
        channel = make(tmp_path, descriptor)
        await channel.run(Busy())
    assert shown[0] == "Keno: Hello\n"
    assert shown[1].endswith("198\n199\n")
    assert len(shown[1].splitlines()) == shutil.get_terminal_size().lines - 6
    assert shown[2] == ""


async def test_nothing_is_printed_early_where_it_cannot_be_taken_away(
    tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into a pipe or a file, and on a terminal that knows no orders."""
    monkeypatch.setenv("TERM", "dumb")
    assert not make(tmp_path).capabilities.drafts
    monkeypatch.setattr(module, "sys", SimpleNamespace(stdout=io.StringIO(), maxsize=1))
    monkeypatch.setenv("TERM", "xterm")
    assert not make(tmp_path).capabilities.drafts


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", [""]),
        ("abcde", ["abcde"]),
        ("abcdefg\n\nhi", ["abcde", "fg", "", "hi"]),
        ("日本語e\u0301", ["日本", "語e\u0301"]),
        ("a\tb", ["a       ", "b"]),
        ("x" * 10_003, ["xxxxx"] * 3 + ["xxx"]),
    ],
)
def test_text_is_broken_as_a_terminal_breaks_it(text: str, rows: list[str]) -> None:
    """By the cells that its characters take; of a long text the last rows."""
    columns = 5 if "\t" not in text else 8
    assert last_rows(text, columns, 4) == rows


# ── the rest ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_plugin_builds_a_console(tmp_path: Path) -> None:
    """The entry point's target makes a channel called "console"."""
    assert plugin.build(plugin.settings(), PluginContext(tmp_path, ManualClock(), "Keno")).name == "console"
    assert not list(tmp_path.iterdir())


def test_whoever_sits_here_is_the_owner() -> None:
    """The console's user is an owner's account, whatever its name."""
    assert ConsoleSettings(user="ana").owners == ("ana",)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ñ 😀\tx\ny", "plain ñ 😀\tx\ny"),
        ("\x1b[31m\x07\x00\x7f\x9b", r"\x1b[31m\x07\x00\x7f\x9b"),
        ("a\u202eb\u2028c\ud800", r"a\u202eb\u2028c\ud800"),
    ],
)
def test_text_is_made_safe_to_print(text: str, shown: str) -> None:
    """What a terminal would obey is spelled out; people's words are left alone."""
    assert escape_controls(text) == shown
    assert one_line(text) == shown.replace("\n", "\\n").replace("\t", "\\t")
    assert escape_controls(text).encode("utf-8")
