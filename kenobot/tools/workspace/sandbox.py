"""Word commands so that they run confined: by bubblewrap, else by sandlock, else not at all."""

import asyncio
import contextlib
import importlib.util
import json
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol

from kenobot.core.limited_program import kill_session
from kenobot.ports.errors import ToolFailed
from kenobot.ports.frozen import dataclass
from kenobot.ports.workspace import SANDBOX_ROOT
from kenobot.tools.workspace.system_calls import build_filter

_LAUNCHER: Final = Path(__file__).with_name("limited_exec.py")
_FILTER_AT: Final = "9"  # the descriptor at which the launcher puts the filter
_DESCRIPTORS: Final = 512
_SANDLOCK: Final = Path(__file__).with_name("sandlock_exec.py")
_TOP: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_PROGRAMS: Final = ("/usr", "/nix/store", "/etc/alternatives", "/etc/ld.so.cache")
_FOR_NETWORK: Final = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/ssl",
    "/etc/ca-certificates",
    "/etc/pki",
)
_ENVIRON: Final = {
    "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
}
_SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108  # of the sandbox
_SCRATCH: Final = "/tmp"  # noqa: S108  # of the sandbox, which is empty and goes with it
_SCRATCH_BYTES: Final = 256 * 1024 * 1024
_PRLIMIT: Final = "/usr/bin/prlimit"
_OWN_COUNT: Final = (5, 14)  # of Linux: since then a user namespace counts its own processes
_PROBE_SECONDS: Final = 10.0
_NO_VARIABLES: Final[Mapping[str, str]] = MappingProxyType({})
_FILTER: Final = build_filter(os.uname().machine)
_NEITHER: Final = (
    "Commands are not run here: there is neither bubblewrap that can make namespaces nor sandlock to confine them, and "
    "none is run bare. Tell the owner: install bubblewrap (bwrap), or kenobot[sandbox]; in a container it needs "
    "--security-opt seccomp=unconfined, or the like."
)


@dataclass(frozen=True, slots=True)
class Confinement:
    """Reach of a command. workspace: its folder. folder: where it starts, from there. home: the bot's own.

    seconds: of CPU of each process. memory: bytes of each. processes: how many there may be at once. file: bytes of
    each file that it writes. environ: variables beside PATH and LANG.
    """

    workspace: Path
    home: Path
    read_only: bool = False
    folder: str = ""
    network: bool = False
    seconds: float = 25.0
    memory: int = 1_000_000_000
    processes: int = 128
    file: int = 500_000_000
    environ: Mapping[str, str] = field(default_factory=lambda: _NO_VARIABLES)


class Sandbox(Protocol):
    """A program that runs others confined. end_signal: has it end them all."""

    @property
    def end_signal(self) -> signal.Signals: ...

    def wrap(self, command: Sequence[str], confinement: Confinement) -> list[str]:
        """Return the command that runs `command` confined."""
        ...


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Namespaces of Linux: the command sees the programs of /usr, the workspace at /work, and nothing else.

    no_namespaces: whether it can forbid further ones. counts: whether it can limit the processes.
    """

    program: str
    no_namespaces: bool
    counts: bool
    end_signal: signal.Signals = signal.SIGKILL

    def wrap(self, command: Sequence[str], confinement: Confinement) -> list[str]:
        limited = [_PRLIMIT, f"--nproc={confinement.processes}", "--"] if self.counts else []
        return [
            self.program,
            *("--unshare-all", "--clearenv", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
            *(["--unshare-user", "--disable-userns"] if self.no_namespaces else []),
            *(["--seccomp", _FILTER_AT] if _FILTER else []),
            *(["--share-net"] if confinement.network else []),
            *("--hostname", "workspace"),
            *_programs(confinement),
            *(
                "--proc",
                "/proc",
                "--remount-ro",
                "/proc",
                "--dev",
                "/dev",
                "--size",
                str(_SCRATCH_BYTES),
                "--tmpfs",
                _SHARED_MEMORY,
            ),
            *("--remount-ro", "/dev", "--size", str(_SCRATCH_BYTES), "--tmpfs", _SCRATCH),
            *("--ro-bind" if confinement.read_only else "--bind", str(confinement.workspace), SANDBOX_ROOT),
            *("--remount-ro", "/", "--chdir", f"{SANDBOX_ROOT}/{confinement.folder}".rstrip("/")),
            *_variables({**_ENVIRON, "HOME": _SCRATCH, "TMPDIR": _SCRATCH, **confinement.environ}),
            "--",
            *limited,
            *command,
        ]


@dataclass(frozen=True, slots=True)
class Sandlock:
    """Landlock and seccomp: the command sees the same folders where they are, and may write into its own alone."""

    end_signal: signal.Signals = signal.SIGTERM

    def wrap(self, command: Sequence[str], confinement: Confinement) -> list[str]:
        workspace = str(confinement.workspace)
        readable = [*_PROGRAMS, *(f"/{name}" for name in _TOP), *(_FOR_NETWORK if confinement.network else ())]
        order = {
            "command": list(command),
            "folder": str(confinement.workspace / confinement.folder),
            "readable": [*readable, workspace] if confinement.read_only else readable,
            "writable": [] if confinement.read_only else [workspace],
            "network": confinement.network,
            "memory": confinement.memory,
            "processes": confinement.processes,
            "environ": {**_ENVIRON, **confinement.environ},
            "parent": os.getpid(),
        }
        return [sys.executable, "-I", str(_SANDLOCK), json.dumps(order)]


async def start(
    command: Sequence[str], sandbox: Sandbox, confinement: Confinement, output: int
) -> asyncio.subprocess.Process:
    """Start a command in a sandbox, the leader of a session, with no variable of the bot's. output: where it prints."""
    limits = (confinement.seconds + 1, confinement.memory, confinement.file, _DESCRIPTORS)
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", str(_LAUNCHER), *(str(int(each)) for each in limits), _FILTER.hex()),
        *sandbox.wrap(command, confinement),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        env={"LANG": "C.UTF-8"},
        start_new_session=True,
    )


async def find_sandbox(scratch: Path) -> Sandbox:
    """Find what can confine commands on this machine, by trying. scratch: a folder to try it in. Raises ToolFailed."""
    tried = Confinement(scratch, scratch, read_only=True)
    for sandbox in _candidates():
        if await _works(sandbox, tried):
            return sandbox
    raise ToolFailed(_NEITHER)


def _candidates() -> list[Sandbox]:
    found = list[Sandbox]()
    if program := shutil.which("bwrap"):
        can_count = Path(_PRLIMIT).exists() and _linux() >= _OWN_COUNT
        for counts in (True, False) if can_count else (False,):
            found += [Bubblewrap(program, no_namespaces, counts) for no_namespaces in (True, False)]
    if importlib.util.find_spec("sandlock") is not None:
        found.append(Sandlock())
    return found


def _linux() -> tuple[int, ...]:
    return tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2] if part.isdigit())


async def _works(sandbox: Sandbox, confinement: Confinement) -> bool:
    process = await start(["/bin/sh", "-c", ":"], sandbox, confinement, asyncio.subprocess.DEVNULL)
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PROBE_SECONDS):
                return await process.wait() == 0
        return False
    finally:
        await kill_session(process)


def _programs(confinement: Confinement) -> list[str]:
    """Show the programs of the machine, without the bot's own files should they be among them."""
    shown = list[str]()
    for path in (*_PROGRAMS, *(_FOR_NETWORK if confinement.network else ())):
        shown += ["--ro-bind-try", os.path.realpath(path), path]
    for top in (Path("/", name) for name in _TOP):
        if top.is_symlink():
            shown += ["--symlink", str(top.readlink()), str(top)]
        elif top.is_dir():
            shown += ["--ro-bind", str(top), str(top)]
    home = Path(os.path.realpath(confinement.home))
    if any(home.is_relative_to(path) for path in (*_PROGRAMS[:2], *(f"/{name}" for name in _TOP))):
        shown += ["--tmpfs", str(home)]
    return shown


def _variables(environ: Mapping[str, str]) -> list[str]:
    return [part for name, value in environ.items() for part in ("--setenv", name, value)]
