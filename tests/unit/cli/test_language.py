"""The command line in Spanish: its catalogue is whole, and each kind of output speaks the terminal's language."""

import argparse
import ast
import inspect
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import kenobot
from kenobot.cli import language
from kenobot.cli.language import argument_name, say, translate
from kenobot.ports.sentences import read_catalogue
from tests.cases import each

from .conftest import Cli
from .memory_home import remember

_RAISED = re.compile(
    r"\b(?:ConfigError|NothingFound|NoDatabase|print_failure|AmbiguousReference|UndoError|UnusableSkill)$"
)
_ERRORS = re.compile(
    r"(?:Error|Failed|Found|NoDatabase|Unavailable|Rejected|Full|Corrupt|Backup|Skill|Decide|Reference|Unknown|Pending)$"
)
_OF_MACHINES = ("{}", "{} {}", "{}: {}", "kenobot: {}", "{}\n{}")
_COMPOSED = {  # by the code, of several parts: the catalogue has each form
    "There is no signal {}{}": 'There is no signal {}; did you mean "{}"?',
    "No message can be {}.": "No message can be retried.",
    "{} {} a problem and what solved it": "{} tells a problem and what solved it",
}
_WITHOUT_SPANISH = (
    "identity",  # texts inside files of JSON
    "cognitive/mirror/records",
    "core/network.py",
    "core/plugins.py",  # for authors of plugins
    "cli/bench.py",  # for developers
    "storage/migrate.py",
)


@pytest.fixture
def spanish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "es_MX.UTF-8")


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("kenobot.cli").joinpath(name).read_text("utf-8"))


def _template(node: ast.AST) -> str | None:
    """A text in the code, with {} for each value."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@cache
def _trees() -> dict[str, ast.Module]:
    root = Path(kenobot.__file__).parent
    rooms = (
        "api",
        "cli",
        "cognitive",
        "language",
        "channels",
        "core",
        "identity",
        "app",
        "storage",
        "providers",
        "ports",
        "skills",
    )
    paths = (path for room in rooms for path in sorted((root / room).resolve().rglob("*.py")))
    top = root.parent
    return {str(path.relative_to(top)).removeprefix("kenobot/"): ast.parse(path.read_text("utf-8")) for path in paths}


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Each call with an argument: the function's name, and the argument."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            yield ast.unparse(node.func).rpartition(".")[2], node.args[0]


def test_every_sentence_that_the_command_line_says_has_its_spanish() -> None:
    """What is said by its English in `say`, and every error and empty answer of a command."""
    known = {*_table("spanish.toml"), *read_catalogue("es"), *_OF_MACHINES}
    missing = set[str]()
    for place, tree in _trees().items():
        if place.startswith(_WITHOUT_SPANISH):
            continue
        for name, argument in _calls(tree):
            is_said = name == "say" and place.startswith("cli/")
            text = _template(argument) if is_said or _RAISED.search(name) else None
            if text and re.search("[a-z]{2}", text) and _COMPOSED.get(text, text) not in known:
                missing.add(text)
    assert sorted(missing) == []


def _places(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


def test_errors_have_the_same_keys_and_values_in_both_languages() -> None:
    """English and Spanish: each sentence is in both catalogues, and shows all of its values in either."""
    english, spanish = read_catalogue("en"), read_catalogue("es")
    assert english.keys() == spanish.keys()
    assert [key for key in english if _places(english[key]) != _places(spanish[key])] == []


def test_errors_are_raised_by_keys_that_are_known_with_the_values_of_their_sentences() -> None:
    """And no sentence is left that nothing raises."""
    english = read_catalogue("en")
    used, wrong = set[str](), []
    for place, tree in _trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                used.add(node.value)
            if not (isinstance(node, ast.Call) and node.args and _ERRORS.search(ast.unparse(node.func))):
                continue
            key, given = _template(node.args[0]), {each.arg for each in node.keywords} - {"retry_after"}
            is_keyed = key is not None and re.fullmatch(r"[a-z]+\.[a-z_0-9]+", key)
            if key and is_keyed and given != _places(english.get(key, "{?}")):
                wrong.append((place, key))
    assert wrong == []
    assert sorted(english.keys() - used) == []


def test_no_spanish_is_left_of_what_nothing_says() -> None:
    """The English of each sentence stands in the code."""
    texts = {_template(node) for tree in _trees().values() for node in ast.walk(tree)}
    said = "\n".join(filter(None, texts)) + "".join(_COMPOSED.values())
    argparse_texts = inspect.getsource(argparse)

    def is_said(english: str) -> bool:
        pieces = [piece.strip(' ():;,.?"') for piece in re.split(r"\{\w*\}", english)]
        return english in texts or english in argparse_texts or all(piece in said for piece in pieces)

    texts |= {"No message can be dropped.", "{} tell a problem and what solved it"}
    own = {english for english in _table("spanish.toml") if not is_said(english) and "%(prog)s" not in english}
    words = {english for english in own if re.fullmatch(r"[a-z_ ]+", english)}  # states and columns of the database
    assert sorted(own - words) == []


_PAIRS = [*_table("spanish.toml").items(), *_table("spanish.libraries.toml").items()]


@each(("english", "spanish"), _PAIRS)
def test_both_languages_have_the_same_values(english: str, spanish: str) -> None:
    """No value is lost, and a pattern has words enough of its own to be told from a memory's text."""
    if "%(" not in english:
        named = sorted(name for _, name, _, _ in Formatter().parse(english) if name is not None)
        assert named == sorted(name for _, name, _, _ in Formatter().parse(spanish) if name is not None)
    if "{}" in english:
        assert len(re.sub(r"\W", "", english)) >= 5


def test_errors_of_the_system_and_of_settings_are_in_spanish(cli: Cli, spanish: None, tmp_path: Path) -> None:
    """What the operating system and pydantic say, within a sentence of ours; and no number of an error."""
    _, _, err = cli("setup", "--yes", "--anthropic-key-file", "/nowhere/key")
    assert err == "kenobot: No se puede leer /nowhere/key: no existe ese archivo o carpeta.\n"
    _, _, err = cli("setup", "--yes", "--timezone", "Madrid")
    assert "no es el nombre de una zona horaria" in err
    assert cli("config", "set", "memory.days", "many")[2].endswith("tiene que ser un número entero de 1 a 30.\n")
    assert "clave desconocida" in cli("config", "set", "memory.daays", "3")[2]


def test_the_help_of_every_command_and_argument_is_in_spanish() -> None:
    """commands.es.toml has what commands.toml has, and no more."""
    english, spanish = _table("commands.toml"), _table("commands.es.toml")
    shared, told = english.pop("arguments"), spanish.pop("arguments")
    assert set(shared) == set(told)
    assert set(english) == set(spanish)
    for name, command in english.items():
        arguments = {argument_name(each) for each in language._arguments(command.get("arguments", ()))}
        parts = {part for part in ("section", "summary", "description", "epilog") if part in command}
        assert arguments | parts == set(spanish[name]), name


@pytest.mark.parametrize("locale", ["C.UTF-8", "es_MX.UTF-8"])
def test_one_command_is_read_as_it_stands_among_all(locale: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its own tables are read, so each of them must begin where a line begins."""
    monkeypatch.setenv("LC_ALL", locale)
    commands = language.read_commands()
    names = {words.partition(" ")[0] for words in commands} - {"arguments"}
    assert len(names) > 20
    for name in names:
        own = {words: command for words, command in commands.items() if words.partition(" ")[0] in (name, "arguments")}
        assert language.read_commands(name) == own
    assert language.read_commands("nothing") == {"arguments": commands["arguments"]}


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
    assert translate("Proposal 3 is approved, not pending.") == "La propuesta 3 está aprobada, no pendiente."
    assert translate("something that the catalogue does not have") == "something that the catalogue does not have"
