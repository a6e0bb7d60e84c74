"""Talk with a server over the pipes of a program: a message a line, none longer than a limit.

The SDK's own transport keeps whatever comes before the end of a line, however much that is.
"""

import asyncio
import contextlib
import logging
import os
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from kenobot.core.limited_program import kill_session

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    Incoming = SessionMessage | Exception
    Streams = tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]

_log = logging.getLogger(__name__)

LONGEST_LINE = 4_000_000  # bytes of a message
_INHERITED = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TZ", "USER")
_END_SECONDS = 1.0  # for a program to end once its input is closed
_KEPT_LINES = 5  # of what it complains of
_LONGEST_COMPLAINT = 300  # bytes of a line


class ServerProgram:
    """The program of a server."""

    forgot = has_sessions = wants_sign_in = False
    secrets: tuple[str, ...] = ()

    def __init__(self, command: str, args: Sequence[str], env: Mapping[str, str]) -> None:
        self._command, self._args = command, args
        self._env = {name: os.environ[name] for name in _INHERITED if name in os.environ} | dict(env)
        self._complaints: deque[str] = deque(maxlen=_KEPT_LINES)  # bounded: 5; turn
        self._flooded = False

    @property
    def complaint(self) -> str:
        """Return what it wrote last beside its messages."""
        if self._flooded:
            return "it wrote a message that is too long"
        return next((line for line in reversed(self._complaints) if line.strip()), "")

    @contextlib.asynccontextmanager
    async def open(self) -> "AsyncIterator[Streams]":
        """Start the program and return the streams of its messages; end it, with all that it started, at the end."""
        process = await asyncio.create_subprocess_exec(
            *(self._command, *self._args),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._env,
            cwd=Path.home() if Path.home().is_dir() else "/",
            start_new_session=True,
            limit=LONGEST_LINE,
        )
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        work = [
            asyncio.create_task(self._read(process.stdout, to_session), name="mcp reader"),
            asyncio.create_task(self._write(process.stdin, from_session), name="mcp writer"),
            asyncio.create_task(self._hear(process.stderr), name="mcp complaints"),
        ]
        try:
            yield from_server, to_server
        finally:
            for task in work:
                task.cancel()
            for stream in (to_session, from_server, to_server, from_session):
                stream.close()
            with anyio.CancelScope(shield=True):
                await asyncio.gather(*work, return_exceptions=True)
                await _end(process, 0.0 if self._flooded else _END_SECONDS)

    async def _read(self, lines: asyncio.StreamReader, to_session: "MemoryObjectSendStream[Incoming]") -> None:
        """Hand each message on. A line that is none is left out; one without an end breaks the connection."""
        try:
            while line := await lines.readline():
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    _log.debug("an MCP server wrote a line that is no message")
                else:
                    await to_session.send(SessionMessage(message))
        except ValueError:  # the line is longer than the limit
            self._flooded = True
        except (OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass
        finally:
            to_session.close()

    async def _write(
        self, pipe: asyncio.StreamWriter, from_session: "MemoryObjectReceiveStream[SessionMessage]"
    ) -> None:
        with contextlib.suppress(OSError, anyio.ClosedResourceError, anyio.EndOfStream):
            while True:
                sent = await from_session.receive()
                pipe.write(sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await pipe.drain()

    async def _hear(self, pipe: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError):
            while chunk := await pipe.read(65_536):
                self._complaints.extend(
                    line[:_LONGEST_COMPLAINT].decode("utf-8", "replace") for line in chunk.splitlines()[-_KEPT_LINES:]
                )


async def _end(process: asyncio.subprocess.Process, grace: float) -> None:
    """End a program: its input is closed, then it is killed with all that it started."""
    if process.stdin is not None:
        process.stdin.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(grace):
            await process.wait()
    with contextlib.suppress(ProcessLookupError, PermissionError):  # what it started may go on without it
        os.killpg(process.pid, 9)
    await kill_session(process)
