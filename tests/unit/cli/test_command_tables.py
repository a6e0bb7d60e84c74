"""Commands that distributions bring: ours, installed or not, and those of plugins."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.sources import ROOT

from .conftest import Cli

_BARE = "import sys; sys.path[:0] = [{root!r}]; from kenobot.cli import main; sys.exit(main({words!r}))"
_TABLE = """
[arguments]
door = {{ name = "door", metavar = "DOOR", help = "which one" }}

[{name}]
summary = "open a door"
call = "doors:open_door"
arguments = ["door", "json"]
"""
_MODULE = """
from kenobot.cli.language import say

def open_door(context):
    print(say("{name} is open", name=context.args.door))
    return 0
"""


def _run_bare(*words: str, locale: str = "C.UTF-8") -> tuple[int, str, str]:
    """Run the command line in a Python without installed packages, the distributions included."""
    code = _BARE.format(root=str(ROOT), words=[*words])
    environ = {"LC_ALL": locale, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env=environ, cwd="/", capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def _install(folder: Path, *, name: str = "door", table: str = _TABLE, package: str = "house") -> None:
    """Lay out a distribution with a command as an installer does."""
    code, metadata = folder / package, folder / f"{package}-1.0.dist-info"
    code.mkdir()
    metadata.mkdir()
    (code / "__init__.py").touch()
    (code / "doors.py").write_text(_MODULE)
    (code / "commands.toml").write_text(table.format(name=name))
    (code / "commands.es.toml").write_text(f'[arguments]\ndoor = "cuál"\n\n[{name}]\nsummary = "abrir una puerta"\n')
    (code / "spanish.toml").write_text('"{name} is open" = "{name} está abierta"\n')
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[kenobot.commands]\n{name} = {package}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which packages are installed."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    for module in [each for each in sys.modules if each.partition(".")[0] in ("house", "shed")]:
        monkeypatch.delitem(sys.modules, module)
    return folder


@pytest.mark.parametrize("words", [("bench", "life"), ("bench", "--help"), ("help", "bench"), ("demo",)])
def test_a_command_that_is_not_installed_names_its_extra(words: tuple[str, ...]) -> None:
    """In one sentence, also for its help, as a mistake of the installation."""
    name = "demo" if words == ("demo",) else "bench"
    told = f"""kenobot: The command "{name}" is not installed: run pip install 'kenobot[evals]'\n"""
    assert _run_bare(*words) == (78, "", told)


def test_what_is_not_installed_is_said_in_spanish() -> None:
    """In the terminal's language."""
    code, _, err = _run_bare("demo", locale="es_ES.UTF-8")
    assert (code, err) == (78, "kenobot: La orden «demo» no está instalada: ejecuta pip install 'kenobot[evals]'\n")


def test_help_lists_commands_that_are_not_installed() -> None:
    """As it does where they are."""
    code, out, _ = _run_bare("help", "all")
    assert (code, "\n  bench        evaluate recall" in out) == (0, True)


@pytest.mark.parametrize("words", [["version"], ["--help"], ["memory", "--help"], ["config", "--help"]])
def test_the_core_s_commands_look_for_no_others(words: list[str]) -> None:
    """Reading what is installed takes longer than the rest."""
    code = f"import sys; from kenobot.cli import main\ntry: main({words!r})\nexcept SystemExit: pass\n"
    code += "sys.exit('importlib.metadata' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_a_plugin_s_command_runs(cli: Cli, site: Path) -> None:
    """With arguments of its own and of the core, and a place in the help of all."""
    _install(site)
    assert cli("door", "cellar") == (0, "cellar is open\n", "")
    assert "--json" in cli("door", "--help")[1]
    assert "\nPlugins\n  door         open a door\n" in cli("help", "all")[1]
    assert "open a door" not in cli("--help")[1]


def test_a_plugin_s_command_speaks_spanish(cli: Cli, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its help and its sentences, by the catalogues in its package."""
    _install(site)
    monkeypatch.setenv("LC_ALL", "es_ES.UTF-8")
    assert cli("door", "bodega")[1] == "bodega está abierta\n"
    assert "cuál" in cli("door", "--help")[1]


def test_no_plugin_takes_the_name_of_a_command_of_ours(cli: Cli, site: Path) -> None:
    """Neither of the core's, nor of one that ships apart."""
    _install(site, name="bench")
    _install(site, name="version", package="shed")
    assert "--harm" in cli("bench", "life", "--help")[1]
    assert cli("version")[1].startswith("kenobot ")
    assert "open a door" not in cli("help", "all")[1]


def test_two_plugins_with_one_command_are_refused(cli: Cli, site: Path) -> None:
    """Both are named."""
    _install(site)
    _install(site, package="shed")
    told = 'kenobot: The command "door" is provided twice, by house and shed: uninstall one of them.\n'
    assert cli("door", "x") == (1, "", told)


@pytest.mark.parametrize(
    ("table", "why"), [("[{name}]\nsummary =", "cannot be read"), ("[other]\nsummary = 'x'", "does not describe it")]
)
def test_a_plugin_s_command_without_a_table_is_said(cli: Cli, site: Path, table: str, why: str) -> None:
    """When it is run, and in the help of all, which is whole nevertheless."""
    _install(site, table=table)
    code, _, err = cli("door")
    assert (code, why in err) == (1, True)
    code, out, _ = cli("help", "all")
    assert code == 0
    assert 'door         The command "door" cannot be run' in out
    assert "  memory " in out
