"""Starts `kenobot run` quickly: forks it from a process that has imported everything, instead of importing it again.

Such a bot runs the very `kenobot.cli.main` in a process of its own, is killed, traced and signalled like any other,
and ends with the interpreter's own shutdown. Only the second of importing is spared, many hundred times.
`python -m tests.crash.nursery FD MODULE` is that process; it takes requests from a socket and reports who ended.
MODULE is run by its `main(arguments)`, and names in `IMPORTS` what else it imports; "" for `kenobot`.
"""

import asyncio
import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.integration.process import Running

ROOT = Path(__file__).resolve().parents[2]
_PR_SET_PTRACER = 0x59616D61
_ANYBODY = ctypes.c_ulong(-1)
_LARGEST = 200_000
_LONGEST_FORK = 240.0  # seconds: the first waits for all imports, on a machine that does much else
_LONGEST_RUN = 30.0  # seconds of a command that should end by itself
OBEY_MODES = "CRASH_SUITE_OBEY_MODES"  # an environment variable: root, too, is held to the modes of files
_CAPABILITIES_V3 = 0x20080522
_DAC_OVERRIDE, _DAC_READ_SEARCH = 1, 2


class Forked:
    """A bot that the nursery has forked; see `Running`."""

    def __init__(self, pid: int, stderr: asyncio.StreamReader) -> None:
        self.pid = pid
        self.stderr: asyncio.StreamReader | None = stderr
        self.returncode: int | None = None
        self._ended = asyncio.Event()

    def send_signal(self, signal: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal)

    async def wait(self) -> int:
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def end(self, code: int) -> None:
        """What the nursery reports."""
        self.returncode = code
        self._ended.set()


class Nursery:
    """The nursery, seen from the suite. Use it as a `Starter`; leaving it kills whoever still runs.

    module: run in the place of `kenobot`.
    """

    def __init__(self, module: str = "") -> None:
        self._module = module
        self._process: asyncio.subprocess.Process | None = None
        self._ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._running: dict[int, Forked] = {}
        self._early: dict[int, int] = {}
        self._answer: asyncio.Future[int] | None = None
        self._one_at_a_time = asyncio.Lock()

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.crash.nursery",
            str(self._theirs.fileno()),
            self._module,
            pass_fds=[self._theirs.fileno()],
            cwd=ROOT,
            stdin=asyncio.subprocess.DEVNULL,
        )
        self._theirs.close()
        self._ours.setblocking(False)
        asyncio.get_running_loop().add_reader(self._ours, self._hear)
        return self

    async def __aexit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._ours)
        self._ours.close()
        assert self._process is not None
        async with asyncio.timeout(60):
            await self._process.wait()

    async def run(
        self, arguments: Sequence[str], environ: Mapping[str, str], stdout: int | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run `kenobot …` to its end. stdout: a descriptor to write to; None to have what was written."""
        with tempfile.TemporaryFile() as written:
            command = [sys.executable, "-m", "kenobot", *arguments]
            process = await self(command, dict(environ), written.fileno() if stdout is None else stdout)
            assert process.stderr is not None
            async with asyncio.timeout(_LONGEST_RUN):
                complaints = await process.stderr.read()
                code = await process.wait()
            written.seek(0)
            return subprocess.CompletedProcess(command, code, written.read().decode(), complaints.decode())

    async def __call__(self, command: list[str], environ: dict[str, str], stdout: int | None = None) -> Running:
        """Start `[strace …] python -m kenobot …`: the bot is forked, and strace attached before it does anything.

        stdout: a descriptor to write to; None for nowhere.
        """
        at = command.index(sys.executable)
        wrap, arguments = command[:at], command[at + 1 :]
        assert arguments[:2] == ["-m", self._module or "kenobot"], arguments
        complaints, their_stderr = os.pipe()
        gate, go = os.pipe()
        their_stdout = os.open(os.devnull, os.O_WRONLY) if stdout is None else os.dup(stdout)
        request = json.dumps({"arguments": arguments[2:], "environ": environ}).encode()
        async with self._one_at_a_time:
            self._answer = asyncio.get_running_loop().create_future()
            socket.send_fds(self._ours, [request], [their_stdout, their_stderr, gate])
            for descriptor in (their_stdout, their_stderr, gate):
                os.close(descriptor)
            async with asyncio.timeout(_LONGEST_FORK):
                pid = await self._answer
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(complaints, "rb")
        )
        bot = self._running[pid] = Forked(pid, reader)
        if pid in self._early:
            bot.end(self._early.pop(pid))
        try:
            if wrap:
                await Tracer.attach(pid, wrap)
            os.write(go, b"x")
        finally:
            os.close(go)
        return bot

    def _hear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while data := self._ours.recv(_LARGEST):
                told: dict[str, int] = json.loads(data)
                if "code" not in told:
                    assert self._answer is not None
                    self._answer.set_result(told["pid"])
                elif bot := self._running.pop(told["pid"], None):
                    bot.end(told["code"])
                else:
                    self._early[told["pid"]] = told["code"]


class Tracer:
    """strace on a running process and all its threads."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def attach(cls, pid: int, strace: tuple[str, ...] | list[str]) -> Self:
        """Attach it and wait until it is there. Raises RuntimeError with its complaint when it may not."""
        process = await asyncio.create_subprocess_exec(
            *strace, "-p", str(pid), stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
        )
        assert process.stderr is not None
        async with asyncio.timeout(60):
            line = (await process.stderr.readline()).decode("utf-8", "replace")
        if "attached" not in line:
            await process.wait()
            raise RuntimeError(line.strip())
        tracer = cls(process)
        tracer._drain = asyncio.create_task(_read_on(process.stderr))
        return tracer

    _drain: asyncio.Task[None]

    async def detach(self) -> None:
        """Take it off: from here on nothing fails by its doing."""
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGINT)
        async with asyncio.timeout(60):
            await self._process.wait()
            await self._drain


async def _read_on(stream: asyncio.StreamReader) -> None:
    while await stream.readline():
        pass


# ── the nursery itself ───────────────────────────────────────────────────────────────────────────────────────────


def _serve(link: socket.socket) -> tuple[list[str], dict[str, str]] | None:
    """Fork and report until the suite has gone. In a child: returns what it is to run."""
    children: dict[int, int] = {}
    poll = select.poll()
    poll.register(link, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor != link.fileno():
                poll.unregister(descriptor)
                pid = children.pop(descriptor)
                os.close(descriptor)
                _, status = os.waitpid(pid, 0)
                _tell(link, {"pid": pid, "code": os.waitstatus_to_exitcode(status)})
                continue
            data, given, *_ = socket.recv_fds(link, _LARGEST, 3)
            if not data:
                for pid in children.values():
                    os.kill(pid, signal.SIGKILL)
                return None
            pid = os.fork()
            if not pid:
                return _become(link, list(children), given, json.loads(data))
            for each in given:
                os.close(each)
            children[pidfd := os.pidfd_open(pid)] = pid
            poll.register(pidfd, select.POLLIN)
            _tell(link, {"pid": pid})


def _tell(link: socket.socket, news: dict[str, int]) -> None:
    with contextlib.suppress(OSError):  # the suite has gone; the next turn of the loop finds out
        link.send(json.dumps(news).encode())


def _become(
    link: socket.socket, others: list[int], given: list[int], request: dict[str, Any]
) -> tuple[list[str], dict[str, str]]:
    """In the child: leave the nursery, wait at the gate."""
    for descriptor in (link.fileno(), *others):
        os.close(descriptor)
    link.detach()
    stdout, stderr, gate = given
    for descriptor, number in ((stdout, 1), (stderr, 2)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, _ANYBODY, 0, 0, 0)
    os.read(gate, 1)
    os.close(gate)
    return request["arguments"], request["environ"]


def _obey_modes() -> None:
    """Give up what lets root read and write everything; see capabilities(7)."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then the same of the higher numbers
    if libc.capget(header, sets):
        raise OSError(ctypes.get_errno(), "capget")
    for at in (0, 1):
        sets[at] &= ~(1 << _DAC_OVERRIDE | 1 << _DAC_READ_SEARCH) & 0xFFFFFFFF
    if libc.capset(header, sets):
        raise OSError(ctypes.get_errno(), "capset")


def _import_everything(module: str) -> None:
    """What a running bot imports, at the start and later, and which plugins there are; then what `module` wants."""
    from typing import get_args

    from kenobot.core.plugins import PluginGroup, list_installed

    for name in (
        "anthropic",
        "anthropic.resources.messages",
        "apscheduler.schedulers.asyncio",
        "encodings.idna",
        "kenobot.app.app",
        "kenobot.channels.telegram.channel",
        "kenobot.cli.sleep.run_night",
        "kenobot.cli.start",
        "kenobot.providers.anthropic",
        "kenobot.providers.offline",
        "kenobot.postprocessors.tags",
        "sqlite3",
        "telegram.request",
        "zoneinfo",
    ):
        importlib.import_module(name)
    for group in get_args(PluginGroup):
        list_installed(group)
    if module:
        for name in importlib.import_module(module).IMPORTS:
            importlib.import_module(name)
    gc.freeze()  # no collection of a child's touches, and so copies, what all of them share


def _main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    number, module = sys.argv[1:]
    _import_everything(module)
    work = _serve(socket.socket(fileno=int(number)))
    if work is None:
        return 0
    arguments, environ = work
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(environ)
    if OBEY_MODES in environ:
        _obey_modes()
    from tests.constants import change_by_variable

    change_by_variable()
    code: int = importlib.import_module(module or "kenobot.cli").main(arguments)
    return code


if __name__ == "__main__":
    sys.exit(_main())
