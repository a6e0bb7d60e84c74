"""Report the plugins of a home: which are on, which are off, and why a broken one is."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kenobot.core.frames import PluginRow
from kenobot.core.plugin_catalogue import PluginCatalogue, PluginKey
from kenobot.core.plugins import KINDS
from kenobot.core.settings.load import ResolvedSettings, Settings
from kenobot.core.settings.workspaces import resolve_workspaces
from kenobot.ports.errors import KenobotError
from kenobot.ports.plugin import PluginContext
from kenobot.ports.sentences import join_lines

_NOT_NAMED = "plugins.enabled does not name it"


def plugin_rows(
    settings: Settings, catalogue: PluginCatalogue, also_broken: Mapping[PluginKey, str] | None = None
) -> tuple[PluginRow, ...]:
    """Report every plugin that there is, broken ones first. also_broken: what went wrong later, by plugin."""
    rows = (
        *_iterate_installed(settings, catalogue, catalogue.broken | dict(also_broken or {})),
        *_of_folder(catalogue),
    )
    order = ("broken", "on", "off")
    return tuple(sorted(rows, key=lambda row: (order.index(row.state), row.shipped, row.kind, row.name)))


def _iterate_installed(
    settings: Settings, catalogue: PluginCatalogue, broken: Mapping[PluginKey, str]
) -> Iterator[PluginRow]:
    for group, kind in KINDS.items():
        enabled = settings.list_enabled_plugins(group)
        for name in catalogue.names(group):
            why = broken.get((group, name), "")
            yield PluginRow(
                kind=kind,
                name=name,
                state="broken" if why else "on" if name in enabled else "off",
                origin=catalogue.origin(group, name),
                shipped=not catalogue.is_foreign(group, name),
                why=join_lines(why),
            )


def _of_folder(catalogue: PluginCatalogue) -> Iterator[PluginRow]:
    for folder in catalogue.problems:
        why = join_lines(catalogue.explain(folder))
        yield PluginRow(kind="", name=folder, state="broken", origin=f"plugins/{folder}", why=why)
    for folder in catalogue.others:
        yield PluginRow(kind="", name=folder, state="off", origin=f"plugins/{folder}", why=_NOT_NAMED)


def try_build(loaded: ResolvedSettings, context: PluginContext) -> dict[PluginKey, str]:
    """Build each enabled plugin without which a bot starts; return why those that cannot be built are broken."""
    failures: dict[PluginKey, str] = {}
    context = replace(context, workspaces=resolve_workspaces(loaded.settings.tools.workspaces))
    for group in KINDS:
        for name in dict.fromkeys(loaded.settings.list_enabled_plugins(group)):
            if loaded.catalogue.may_lack(group, name):
                try:
                    loaded.build_plugin(group, name, context)
                except KenobotError as error:
                    failures[group, name] = str(error)
    return failures
