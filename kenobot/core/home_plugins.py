"""Find plugins in the home's `plugins` folder: a file, a package, or a project folder with its pyproject.toml.

Only what `plugins.enabled` names is looked at, and nothing is imported to find out what it is.
"""

import ast
import importlib
import importlib.util
import os
import stat
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from kenobot.core.plugins import KINDS, PluginGroup
from kenobot.core.toml_text import parse_toml
from kenobot.ports.errors import PluginError
from kenobot.ports.frozen import dataclass
from kenobot.ports.plugin import Plugin, PluginKind

_MOST_FILES = 5000
_LONGEST_SOURCE = 1_000_000  # bytes
_GROUPS = {kind.replace("-", ""): group for group, kind in KINDS.items()}
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class HomePlugin:
    """A plugin of the home, in the shape of an entry point. folder: the name that `plugins.enabled` has.

    given: by a test, in place of a module to import.
    """

    name: str
    group: PluginGroup
    value: str
    folder: str
    root: Path
    source: Path | None = None
    given: Plugin[Any, Any] | None = None

    @property
    def dist(self) -> None:
        return None

    @property
    def origin(self) -> str:
        return f"plugins/{self.folder}"

    def load(self) -> object:
        """Import it. Raises whatever its code raises, and PluginError when another module takes its name."""
        if self.given is not None:
            return self.given
        module_name, _, attribute = self.value.partition(":")
        module = import_source(module_name, self.source) if self.source else _import_below(self.root, module_name)
        found: object = module
        for part in attribute.split("."):
            found = getattr(found, part)
        return found


@dataclass(frozen=True, slots=True)
class FoundPlugins:
    """Plugins of a home.

    problems: by the name in `plugins.enabled`, why it is off. unsaid: of these, the sources that do not say what they
    are. others: there, and not enabled.
    """

    plugins: tuple[HomePlugin, ...] = ()
    problems: dict[str, str] = field(default_factory=dict)  # bounded: the plugins that are enabled; start
    unsaid: dict[str, Path] = field(default_factory=dict)  # bounded: the plugins that are enabled; start
    others: tuple[str, ...] = ()


class KindUnsaid(PluginError):
    """Raised for a source that does not say what it is."""

    def __init__(self, source: Path) -> None:
        kinds = ", ".join(kind for kind in get_args(PluginKind) if kind in _GROUPS)
        super().__init__("plugins.kind_unsaid", source=source, kinds=kinds)
        self.source = source


def find(folder: Path, enabled: tuple[str, ...]) -> FoundPlugins:
    """Find the enabled plugins of a folder. Never raises for what stands in there."""
    found: list[HomePlugin] = []
    problems: dict[str, str] = {}
    unsaid: dict[str, Path] = {}
    for name in enabled:
        try:
            found += _plugins_of(_place(folder, name), name)
        except PluginError as error:
            problems[name] = str(error)
            if isinstance(error, KindUnsaid):
                unsaid[name] = error.source
        except (OSError, ValueError) as error:
            problems[name] = f"{folder / name} cannot be read: {error}."
    return FoundPlugins(tuple(found), problems, unsaid, tuple(sorted(_names(folder) - set(enabled))))


def describe_given(name: str, plugin: Plugin[Any, Any]) -> HomePlugin:
    """Describe a plugin that a test hands over. Raises PluginError when it does not say its kind."""
    if plugin.kind not in _GROUPS:
        raise PluginError("plugins.no_kind", name=name)
    return HomePlugin(name, _GROUPS[plugin.kind], "", name, Path(), given=plugin)


def describe(path: Path) -> tuple[HomePlugin, ...]:
    """Find the plugins of one file or folder, wherever it is. Raises PluginError."""
    return _plugins_of(path.resolve(), path.resolve().stem)


def _names(folder: Path) -> set[str]:
    try:
        entries = list(folder.iterdir())
    except OSError:
        return set()
    return {
        entry.stem
        for entry in entries
        if not entry.name.startswith((".", "_")) and (entry.suffix == ".py" or entry.is_dir())
    }


def _place(folder: Path, name: str) -> Path:
    """Return where an enabled plugin stands, once nobody else can change it. Raises PluginError and OSError."""
    if not name or name.startswith(".") or "/" in name or "\0" in name:
        raise PluginError("plugins.bad_file_name", name=name, folder=folder)
    for path in (folder / name, folder / f"{name}.py"):
        if path.exists():
            _check_owner(folder, deep=False)
            if path.is_symlink():
                _check(path.lstat(), path, mode=False)
            _check_owner(path.resolve(), deep=True)
            return path.resolve()
    raise PluginError("plugins.nothing_there", place=folder / name)


def _check_owner(path: Path, *, deep: bool) -> None:
    """Raise PluginError when another user owns or can change the path, or with `deep` anything in it."""
    _check(path.stat(), path)
    if not deep or not path.is_dir():
        return
    for count, inner in enumerate(path.rglob("*")):
        if count > _MOST_FILES:
            raise PluginError("plugins.too_many_files", path=path, most=_MOST_FILES)
        if inner.exists():
            _check(inner.stat(), inner)


def _check(about: os.stat_result, path: Path, *, mode: bool = True) -> None:
    if about.st_uid not in (0, os.geteuid()):
        raise PluginError("plugins.foreign", path=path)
    if mode and about.st_mode & _OTHERS_WRITE:
        raise PluginError("plugins.writable", path=path)


def _plugins_of(path: Path, name: str) -> tuple[HomePlugin, ...]:
    project = path / "pyproject.toml"
    if path.is_dir() and project.exists():
        return tuple(_of_project(path, name, _source(project)))
    source = path / "__init__.py" if path.is_dir() else path
    if not source.is_file():
        raise PluginError("plugins.no_package", path=path)
    module = module_name(name)
    target, kind = _target(source)
    return (HomePlugin(name, _GROUPS[kind], f"{module}:{target}", name, path.parent, source),)


def module_name(name: str) -> str:
    """Name the module of a plugin that is a file or a package."""
    return f"kenobot_plugin_{name}".replace("-", "_")


def _source(path: Path) -> str:
    if path.stat().st_size > _LONGEST_SOURCE:
        raise PluginError("plugins.long_source", path=path)
    return path.read_text("utf-8")


def _of_project(path: Path, name: str, text: str) -> Iterator[HomePlugin]:
    """Yield the entry points that a project declares."""
    try:
        groups: Any = parse_toml(text).get("project", {}).get("entry-points", {})
    except tomllib.TOMLDecodeError as error:
        raise PluginError("plugins.bad_toml", path=path / "pyproject.toml", reason=error) from error
    root = path / "src" if (path / "src").is_dir() else path
    found = [
        HomePlugin(entry, group, str(value), name, root)
        for group in KINDS
        for entry, value in (groups.get(group, {}) if isinstance(groups, dict) else {}).items()
    ]
    if not found:
        listed = ", ".join(KINDS)
        raise PluginError("plugins.no_entry_point", path=path / "pyproject.toml", listed=listed)
    yield from found


def _target(source: Path) -> tuple[str, str]:
    """Return the name of the plugin in a source, and its kind. Raises PluginError."""
    try:
        tree = ast.parse(_source(source))
    except (SyntaxError, ValueError, RecursionError) as error:
        raise PluginError("plugins.bad_python", source=source, reason=error) from error
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Call):
            continue
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        said = {each.arg: each.value.value for each in node.value.keywords if isinstance(each.value, ast.Constant)}
        kind = said.get("kind")
        if isinstance(target, ast.Name) and isinstance(kind, str) and kind in _GROUPS:
            return target.id, kind
    raise KindUnsaid(source)


def import_source(name: str, source: Path) -> ModuleType:
    """Import a file or package that has no name of its own, once."""
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", "") == str(source):
        return known
    inner = [str(source.parent)] if source.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, source, submodule_search_locations=inner)
    if spec is None or spec.loader is None:
        raise PluginError("plugins.unimportable", source=source)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _import_below(root: Path, name: str) -> ModuleType:
    """Import a module of a project folder, which stands last on the path: it shadows nothing."""
    if str(root) not in sys.path:
        sys.path.append(str(root))
        importlib.invalidate_caches()
    module = importlib.import_module(name)
    file = getattr(module, "__file__", None) or ""
    if not Path(file).resolve().is_relative_to(root.resolve()):
        raise PluginError("plugins.module_taken", name=name, origin=file or "built in")
    return module
