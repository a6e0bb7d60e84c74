"""`kenobot plugin new`: write the package of a plugin, with settings, a test and a README."""

import re
import shlex
from importlib import resources
from pathlib import Path
from string import Template

from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.core.plugin_catalogue import PluginCatalogue
from kenobot.core.plugins import KINDS, PluginGroup
from kenobot.ports.errors import ConfigError

_NAME = re.compile(r"[a-z][a-z0-9]{1,30}(?:-[a-z0-9]{1,30}){0,3}")
_GROUPS: dict[str, PluginGroup] = {kind.replace("-", ""): group for group, kind in KINDS.items()}


def new(context: CommandContext) -> int:
    """Write the package into a folder that is not there yet."""
    kind, name = context.args.kind, context.args.name
    if not _NAME.fullmatch(name) or (kind == "channel" and "-" in name):
        raise ConfigError("plugins.bad_name", name=name)
    if name in PluginCatalogue().names(_GROUPS[kind]):
        raise ConfigError("plugins.name_taken", name=name)
    folder = Path(context.args.into) / f"kenobot-{name}"
    try:
        for path, text in package_files(kind, name).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=path != Path("pyproject.toml"))
            (folder / path).write_text(text, "utf-8")
    except FileExistsError:
        raise ConfigError("plugins.folder_taken", folder=folder) from None
    except OSError as error:
        raise ConfigError("files.unwritable", path=folder, reason=error) from error
    print(say("Written: {folder}", folder=folder))
    print(say("Try it:  kenobot plugin check {folder}", folder=shlex.quote(str(folder))))
    return 0


def package_files(kind: str, name: str) -> dict[Path, str]:
    """Return the files of a new package, pyproject.toml first."""
    module = f"kenobot_{name.replace('-', '_')}"
    values = {
        "name": name,
        "kind": kind,
        "group": _GROUPS[kind],
        "module": module,
        "class_name": "".join(part.capitalize() for part in name.split("-")),
        "switch": _switch(kind, name),
    }

    def fill(template: str) -> str:
        text = resources.files(__package__).joinpath("templates", f"{template}.txt").read_text("utf-8")
        return Template(text).substitute(values)

    return {
        Path("pyproject.toml"): fill("pyproject.toml"),
        Path("README.md"): fill("README.md"),
        Path(f"{module}.py"): fill(f"{kind}.py"),
        Path("tests", f"test_{module}.py"): fill(f"test_{kind}.py"),
    }


def _switch(kind: str, name: str) -> str:
    """Return the lines of kenobot.toml that switch a plugin on once it is installed."""
    match kind:
        case "provider":
            return f'[provider]\nname = "{name}"'
        case "channel":
            return f'[channels]\nenabled = ["{name}"]\n\n[channels.{name}]\npath = "/tmp/post"'
        case "postprocessor":
            others = "memory chat-memory working-memory user-update chat-context bootstrap-complete".split()
            listed = ", ".join(f'"{each}"' for each in (*others, name))
            return f"[postprocessors]\nenabled = [{listed}]"
        case _:
            return f'[{kind}s]\nenabled = ["{name}"]'
