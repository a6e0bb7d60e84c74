"""Contract suites for a plugin that is known by its path alone, and a report of what its tests found.

A plugin of pytest for `kenobot plugin check`: `-p kenobot_testing.check --kenobot-report FILE`.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from kenobot.core import home_plugins
from kenobot.core.home_plugins import HomePlugin
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot_testing.channel import ChannelContract
from kenobot_testing.clock import ManualClock
from kenobot_testing.embedder import EmbedderContract
from kenobot_testing.observer import ObserverContract
from kenobot_testing.postprocessor import PostProcessorContract
from kenobot_testing.provider import ProviderContract
from kenobot_testing.tool import ToolContract
from kenobot_testing.transcriber import TranscriberContract

CONTRACTS: Mapping[str, type] = {
    "kenobot.channels": ChannelContract,
    "kenobot.providers": ProviderContract,
    "kenobot.postprocessors": PostProcessorContract,
    "kenobot.embedders": EmbedderContract,
    "kenobot.transcribers": TranscriberContract,
    "kenobot.tools": ToolContract,
    "kenobot.observers": ObserverContract,
}
_FIXTURES = {"kenobot.channels": "channel", "kenobot.providers": "provider", "kenobot.embedders": "embedder"} | {
    "kenobot.transcribers": "transcriber",
    "kenobot.tools": "tool",
}
_GENERATED = "GeneratedContract"


def suites(path: Path) -> dict[str, type]:
    """Make a test class for each plugin at a path: its contract over what it builds. Raises PluginError."""
    made: dict[str, type] = {}
    for found in home_plugins.describe(path):
        name = f"Test{_GENERATED}{len(made)}"
        made[name] = type(name, (_Built, CONTRACTS[found.group]), _members(found, _table(path, found.name)))
    return made


class _Built:
    """A suite that was made here, and not by the plugin's author."""


def _table(path: Path, name: str) -> dict[str, Any]:
    """Read the settings that a project gives for its checks: [tool.kenobot.check.NAME]."""
    project = path / "pyproject.toml"
    tables = tomllib.loads(project.read_text("utf-8")) if project.is_file() else {}
    found: dict[str, Any] = tables.get("tool", {}).get("kenobot", {}).get("check", {}).get(name, {})
    return found


def _members(found: HomePlugin, table: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(table)
    arguments = given.pop("arguments", {})

    def settings_of(plugin: Plugin[Any, Any]) -> BaseModel:
        try:
            checked: BaseModel = plugin.settings.model_validate(given)
        except ValidationError as error:
            wrong = ", ".join(".".join(map(str, detail["loc"])) for detail in error.errors())
            pytest.fail(f"its settings lack or refuse {wrong}: give them in [tool.kenobot.check.{found.name}]", False)
        return checked

    def build(folder: Path) -> Any:
        plugin = found.load()
        assert isinstance(plugin, Plugin), f"{found.value} is no kenobot.ports.plugin.Plugin"
        return plugin.build(settings_of(plugin), PluginContext(folder, ManualClock(), "KenoBot"))

    @pytest.fixture
    def built(self: object, tmp_path: Path) -> Any:
        return build(tmp_path)

    @pytest.fixture
    def observer(self: object) -> Any:
        return found.load()

    @pytest.fixture
    def settings(self: object, observer: Plugin[Any, Any]) -> BaseModel:
        return settings_of(observer)

    @pytest.fixture
    def arguments_fixture(self: object) -> dict[str, Any]:
        if not arguments:
            pytest.skip(f"no arguments are known: give them in [tool.kenobot.check.{found.name}.arguments]")
        return dict(arguments)

    if found.group == "kenobot.postprocessors":
        return {"processor": lambda self: build(Path.cwd())}
    if found.group == "kenobot.observers":
        return {"observer": observer, "settings": settings}
    members: dict[str, Any] = {_FIXTURES[found.group]: built}
    return members | ({"arguments": arguments_fixture} if found.group == "kenobot.tools" else {})


# ── as a plugin of pytest ────────────────────────────────────────────────────────────────────────────────────────


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kenobot-report", default="", help="write what was found into this file, a JSON object a line")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the suites that were made here where the author's tests run the same contract."""
    owners = {item: getattr(item, "cls", None) for item in items}
    own = [cls for cls in owners.values() if cls is not None and not issubclass(cls, _Built)]
    covered = {contract for contract in CONTRACTS.values() if any(issubclass(cls, contract) for cls in own)}
    extra = [item for item, cls in owners.items() if cls and issubclass(cls, _Built) and covered & set(cls.__mro__)]
    if extra:
        config.hook.pytest_deselected(items=extra)
        items[:] = [item for item in items if item not in extra]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Write down the outcome of each test in plain words."""
    outcome: Any = yield
    report: pytest.TestReport = outcome.get_result()
    path = item.config.getoption("--kenobot-report")
    if not path or (report.when != "call" and report.passed):
        return
    why = ""
    if call.excinfo is not None:
        why = str(call.excinfo.value) if report.skipped else call.excinfo.exconly()
    row = {
        "test": item.nodeid,
        "asked": _describe(item),
        "outcome": report.outcome,
        "why": why.strip().removeprefix("AssertionError: ").removeprefix("Failed: ").split("\nassert ")[0][:500],
    }
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def _describe(item: pytest.Item) -> str:
    """Say what a test asks for: its name as words, and what its docstring begins with."""
    function = getattr(item, "originalname", None) or item.name.partition("[")[0]
    text = function.removeprefix("test_").replace("_", " ")
    doc = (getattr(getattr(item, "function", None), "__doc__", "") or "").strip().split("\n\n")[0]
    return f"{text}: {' '.join(doc.split())}" if doc else text
