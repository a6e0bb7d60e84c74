"""Build a filter of system calls (seccomp) that no command in a workspace needs. Pure."""

import errno
import struct
from collections.abc import Mapping
from typing import Final

from kenobot.ports.frozen import dataclass

_LOAD, _EQUALS, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # of BPF
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_NUMBER, _MACHINE = 0, 4  # offsets in seccomp_data
_X32: Final = 0x40000000  # numbers from here on are of another ABI of x86_64


@dataclass(frozen=True, slots=True)
class _Machine:
    """The number of a kind of processor in audit.h, and of system calls there: ptrace, process_vm_readv and _writev,
    add_key, request_key, keyctl, bpf, perf_event_open, userfaultfd, io_uring_setup, _enter and _register, pidfd_getfd.
    """

    audit: int
    refused: tuple[int, ...]


_MACHINES: Final[Mapping[str, _Machine]] = {
    "x86_64": _Machine(0xC000003E, (101, 310, 311, 248, 249, 250, 321, 298, 323, 425, 426, 427, 438)),
    "aarch64": _Machine(0xC00000B7, (117, 270, 271, 217, 218, 219, 280, 241, 282, 425, 426, 427, 438)),
}


def build_filter(machine: str) -> bytes:
    """Return a BPF program that refuses to look into other processes, keys of the bot's session and little-used doors
    to the kernel; b"" for a machine whose numbers are not known.
    """
    known = _MACHINES.get(machine)
    if known is None:
        return b""
    refused = known.refused
    program = [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUALS, 1, 0, known.audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, len(refused) + 1, 0, _X32),
        *((_EQUALS, len(refused) - place, 0, number) for place, number in enumerate(refused)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    return b"".join(struct.pack("=HBBI", *each) for each in program)
