"""The command line in Spanish: its catalogue is whole, and each kind of output speaks the terminal's language."""

import argparse
import ast
import inspect
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from kenobot.cli.command_tables import argument_name, list_arguments, read_command
from kenobot.cli.language import say, translate
from kenobot.ports.memory_changes import CannotDecide
from kenobot.ports.sentences import read_catalogue
from tests import sources
from tests.cases import each

from .conftest import Cli
from .memory_home import remember

_EMPTY_ANSWERS = ("print_failure",)
_OF_MACHINES = ("{}", "{} {}", "{}: {}", "kenobot: {}", "{}\n{}")
_FOR_MODELS = ("ToolFailed", "AddressRefused")  # a model reads them, in English
_WITHOUT_KEYS = (  # rooms whose errors are read by developers, or by a model
    "kenobot_evals/",
    "kenobot_testing/",
    "tools/web/client.py",
    "tools/web/engines.py",
    "tools/web/fetch.py",
    "tools/web/request.py",
)
_OF_OTHERS = (
    *("pydantic.", "secrets.", "system."),  # keys that libraries and tables of rules bring
    "reasons.replies_show",  # in rows of nights that had a pass more
)
_WITHOUT_SPANISH = (
    "identity",  # texts inside files of JSON
    "cognitive/mirror/records",
    "core/network.py",
    "core/plugins.py",  # for authors of plugins
    "kenobot_evals/bench_command.py",  # for developers
    "storage/migrate.py",
)


@pytest.fixture
def spanish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "es_MX.UTF-8")


def _table(name: str, folder: Path = sources.CORE / "cli") -> dict[str, Any]:
    return tomllib.loads((folder / name).read_text("utf-8"))


@cache
def _spanish() -> dict[str, str]:
    """The Spanish of what commands say, those of distributions too."""
    folders = [folder for folder in sources.COMMANDS if (folder / "spanish.toml").is_file()]
    return {english: text for folder in folders for english, text in _table("spanish.toml", folder).items()}


def _template(node: ast.AST) -> str | None:
    """A text in the code, with {} for each value."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@dataclass(frozen=True, slots=True)
class _Module:
    """What a module calls with an argument, by the function's name; its classes with their bases; and its texts."""

    calls: list[tuple[str, ast.Call]]
    classes: list[tuple[str, set[str]]]
    texts: set[str]


@pytest.fixture(scope="module")
def modules() -> dict[str, _Module]:
    """All of the product, by their places, read once."""
    return {sources.place(path).removeprefix("kenobot/"): _read(path) for path in sources.find_modules()}


def _read(path: Path) -> _Module:
    found = _Module([], [], set())
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            if node.args:
                found.calls.append((sources.name_called(node.func), node))
        elif isinstance(node, ast.ClassDef):
            found.classes.append((node.name, {sources.name_called(base) for base in node.bases}))
        elif text := _template(node):
            found.texts.add(text)
    return found


def test_every_sentence_that_the_command_line_says_has_its_spanish(modules: dict[str, _Module]) -> None:
    """What is said by its English in `say`, and every empty answer of a command."""
    known = {*_spanish(), *read_catalogue("es"), *_OF_MACHINES}
    missing = set[str]()
    commanding = tuple(sources.place(folder).removeprefix("kenobot/") for folder in sources.COMMANDS)
    for place, module in modules.items():
        if place.startswith(_WITHOUT_SPANISH):
            continue
        for name, call in module.calls:
            is_said = name == "say" and place.startswith(commanding)
            text = _template(call.args[0]) if is_said or name in _EMPTY_ANSWERS else None
            if text and re.search("[a-z]{2}", text) and text not in known:
                missing.add(text)
    assert sorted(missing) == []


def _places(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


def test_errors_have_the_same_keys_and_values_in_both_languages() -> None:
    """English and Spanish: each sentence is in both catalogues, and shows all of its values in either."""
    english, spanish = read_catalogue("en"), read_catalogue("es")
    assert english.keys() == spanish.keys()
    assert [key for key in english if _places(english[key]) != _places(spanish[key])] == []


def _list_errors(modules: dict[str, _Module]) -> frozenset[str]:
    """The names of all classes of errors of ours but those for models."""
    bases = [each for module in modules.values() for each in module.classes]
    found, before = {"KenobotError"}, 0
    while len(found) != before:
        before = len(found)
        found |= {name for name, above in bases if above & found}
    return frozenset(found.difference(_FOR_MODELS))


def _list_keyed(module: _Module, kinds: set[str]) -> Iterator[tuple[ast.Call, list[str]]]:
    """Each call that makes an error or a sentence, with the keys that are written in it."""
    for name, node in module.calls:
        if name in kinds:
            first = node.args[0]
            choices = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
            yield node, [text for choice in choices if (text := _template(choice))]


def test_errors_and_sentences_are_made_by_keys_that_are_known_with_their_values(modules: dict[str, _Module]) -> None:
    """No error is raised with a finished sentence, and none is in the catalogues that nothing says."""
    sentences = {**read_catalogue("en"), **{english: english for english in _spanish()}}
    used, wrong, errors = set[str](), [], _list_errors(modules)
    for place, module in modules.items():
        used |= module.texts
        if place in ("ports/sentences.py", "ports/errors.py"):
            continue
        kinds = {"Sentence", *(() if place.startswith(_WITHOUT_KEYS) else errors)}
        for node, keys in _list_keyed(module, kinds):
            given = {each.arg for each in node.keywords if each.arg} - {"retry_after"}
            is_whole = all(each.arg for each in node.keywords)
            for key in keys:
                places = _places(sentences[key]) if key in sentences else {"?"}
                if "?" in places or (is_whole and not places <= given):
                    wrong.append((place, node.lineno, key))
    assert wrong == []
    assert sorted(key for key in read_catalogue("en").keys() - used if not key.startswith(_OF_OTHERS)) == []


def _metavars() -> set[str]:
    """What the help calls the values of arguments."""
    tables = [command for folder in sources.COMMANDS for command in _table("commands.toml", folder).values()]
    shared = [each for table in tables for each in table.values() if isinstance(each, dict) and "call" not in table]
    own = [each for command in tables for each in list_arguments(command.get("arguments", ()))]
    return {each["metavar"] for each in (*shared, *own) if "metavar" in each}


def test_what_the_help_calls_values_is_in_spanish(cli: Cli, spanish: None) -> None:
    """As its own sentences call them, but for what both languages write alike."""
    alike = {"0..1", "HASH", "ID", "N", "RRULE", "TOKENS", "URL", "get|set"}
    assert _metavars() - _spanish().keys() == alike
    assert "--new-key ARCHIVO" in cli("backup", "--help")[1]
    assert cli("memory", "forget")[2].endswith("error: falta: RECUERDO\n")


def test_no_spanish_is_left_of_what_nothing_says(modules: dict[str, _Module]) -> None:
    """The English of each sentence stands in the code."""
    texts = {text for module in modules.values() for text in module.texts}
    argparse_texts = inspect.getsource(argparse)
    own = {english for english in _spanish() if english not in texts and english not in argparse_texts}
    own -= _metavars()
    words = {english for english in own if re.fullmatch(r"[a-z_ ]+", english)}  # states and columns of the database
    assert sorted(english for english in own - words if "%(prog)s" not in english) == []


def test_nothing_recognises_a_finished_sentence_by_a_pattern() -> None:
    """Each value has a name: sentences are found by their keys, and none by what its English looks like."""
    catalogues = [*read_catalogue("en").values(), *read_catalogue("es").values()]
    catalogues += [text for pair in _PAIRS for text in pair if "%(" not in text]
    assert [text for text in catalogues if "" in _places(text)] == []


_PAIRS = [*_spanish().items(), *_table("spanish.libraries.toml").items()]


@each(("english", "spanish"), _PAIRS)
def test_both_languages_have_the_same_values(english: str, spanish: str) -> None:
    """No value is lost."""
    if "%(" not in english:
        named = sorted(name for _, name, _, _ in Formatter().parse(english) if name is not None)
        assert named == sorted(name for _, name, _, _ in Formatter().parse(spanish) if name is not None)


def test_errors_of_the_system_and_of_settings_are_in_spanish(cli: Cli, spanish: None, tmp_path: Path) -> None:
    """What the operating system and pydantic say, within a sentence of ours; and no number of an error."""
    _, _, err = cli("setup", "--yes", "--anthropic-key-file", "/nowhere/key")
    assert err == "kenobot: No se puede leer /nowhere/key: no existe ese archivo o carpeta.\n"
    _, _, err = cli("setup", "--yes", "--timezone", "Madrid")
    assert "no es el nombre de una zona horaria" in err
    assert cli("config", "set", "media.keep_days", "many")[2].endswith("tiene que ser un número entero de 0 a 3650.\n")
    assert "clave desconocida" in cli("config", "set", "memory.daays", "3")[2]


@pytest.mark.parametrize("folder", sources.COMMANDS, ids=lambda folder: folder.name)
def test_the_help_of_every_command_and_argument_is_in_spanish(folder: Path) -> None:
    """commands.es.toml has what commands.toml has, and no more."""
    english, spanish = _table("commands.toml", folder), _table("commands.es.toml", folder)
    assert set(english) == set(spanish)
    assert set(english.pop("arguments", ())) == set(spanish.pop("arguments", ()))
    for name, command in english.items():
        arguments = {argument_name(each) for each in list_arguments(command.get("arguments", ()))}
        parts = {part for part in ("section", "summary", "description", "epilog") if part in command}
        assert arguments | parts == set(spanish[name]), name


@pytest.mark.parametrize("folder", sources.COMMANDS, ids=lambda folder: folder.name)
def test_one_command_is_read_as_it_stands_among_all(folder: Path) -> None:
    """Only its own tables are read, so each of them must begin where a line begins."""
    table = _table("commands.toml", folder)
    shipped_apart = {name for name, command in table.items() if folder.name == "cli" and "extra" in command}
    names = {words.partition(" ")[0] for words in table} - {"arguments"} - shipped_apart
    for name in names:
        assert read_command(name).keys() == {words for words in table if words.partition(" ")[0] == name}
    assert names
    assert read_command("nothing") == read_command("arguments") == read_command("memory list") == {}


def test_help_and_usage_errors_are_in_spanish(cli: Cli, spanish: None) -> None:
    """The list of commands, a command's own help, and argparse's words."""
    assert "Un agente personal" in cli("--help")[1]
    code, out, _ = cli("memory", "list", "--help")
    assert code == 0
    assert "uso: kenobot memory list" in out
    assert "opciones:" in out
    assert "solo los que son al menos así de seguros" in out
    assert cli("dance")[2].endswith("no hay ninguna orden 'dance': kenobot help all las muestra\n")
    assert "'x' no es un número del 1 al 1000000" in cli("signals", "--limit", "x")[2]


def test_the_commands_speak_spanish(cli: Cli, spanish: None, by_words: None) -> None:
    """Answers, tables, empty answers, errors and the reasons of sleep."""
    assert "está vacía: empieza con `kenobot chat`" in cli("memory", "list")[2]
    (number,) = remember(cli, "El webhook de n8n devuelve un error 401; se resuelve con query params")
    assert cli("memory", "list")[1].split()[:5] == ["#", "desde", "ámbito", "tipo", "recuerdo"]
    assert cli("memory", "list", "--form", "box")[2] == "Ningún recuerdo cumple --form box.\n"
    assert "es nuevo" in cli("memory", "history", str(number))[1]
    assert "creado" in cli("memory", "log")[1]
    assert cli("memory", "undo", "99")[2] == "kenobot: No hay ningún cambio 99: `kenobot memory log` los muestra.\n"
    assert "Aún no ha habido ninguna noche" in cli("sleep", "status")[2]
    assert "# Qué haría una noche" in cli("memory", "reflect")[1]
    code, out, _ = cli("sleep", "run", "--phase", "consolidate")
    assert code == 0
    assert "# Noche 1" in out
    assert "nada tenía que cambiar" in out
    assert cli("proposals", "list")[2].startswith("Aún no hay propuestas")
    assert cli("deadletter", "list")[2].startswith("No ha fallado ningún mensaje")
    assert cli("config", "get", "bot.nam")[2] == "No hay ningún ajuste bot.nam; ¿querías decir «bot.name»?\n"


def test_a_locale_that_is_not_spanish_is_answered_in_english(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert "A personal agent" in cli("--help")[1]


def test_a_value_is_translated_only_where_the_sentence_says_so(spanish: None) -> None:
    """A memory that consists of a known word stays as it was told."""
    assert say("from {trust}", trust="active") == "de: active"
    error = CannotDecide("proposals.wrong_state", number=3, state="approved", wanted="pending")
    assert translate(str(error)) == "La propuesta 3 está aprobada, no pendiente."
    assert translate("something that the catalogue does not have") == "something that the catalogue does not have"


def test_why_a_plugin_is_off_is_in_spanish(cli: Cli, spanish: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the key of its sentence, also as a row of a table."""
    monkeypatch.setenv("KENOBOT_PLUGINS__ENABLED", "nothing-there")
    assert "No hay ni una carpeta" in cli("plugins")[1]


def test_why_a_workspace_or_a_server_is_off_is_in_spanish(cli: Cli, spanish: None, tmp_path: Path) -> None:
    """As `kenobot doctor` tells it."""
    assert cli("config", "set", "bot.name", "Keno")[0] == 0
    settings = next(tmp_path.rglob("kenobot.toml"))
    settings.write_text(
        settings.read_text("utf-8") + '\n[tools.workspaces.notes]\npath = "/nowhere"\n[mcp.x]\nurl = "ftp://x"\n',
        "utf-8",
    )
    told = cli("doctor", "--offline")[1]
    assert "no hay ninguna carpeta /nowhere" in told
    assert "kenobot.toml: mcp.x: la dirección tiene que empezar" in told
