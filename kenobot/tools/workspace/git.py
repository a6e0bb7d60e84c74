"""Use git in a workspace, in the sandbox: a repository's own hooks, filters and settings act there at most."""

import shutil
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, assert_never

from pydantic import AfterValidator, BaseModel, Field

from kenobot.core import lazy
from kenobot.core.network import check_address
from kenobot.ports.errors import ToolFailed
from kenobot.ports.frozen import dataclass
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.sentences import Sentence
from kenobot.ports.tool import ToolContext, ToolEffects
from kenobot.tools.workspace.confined_runner import ConfinedRunner
from kenobot.tools.workspace.paths import check_new_path, show_path
from kenobot.tools.workspace.repository import parse_repository
from kenobot.tools.workspace.sandbox import Confinement
from kenobot.tools.workspace.workspaces import InWorkspace, Workspaces

Verb = Literal["status", "log", "diff", "show", "add", "commit", "init", "clone"]

_READING: Final = frozenset(("status", "log", "diff", "show"))
_REVISION: Final = lazy.regex(r"[\w.][\w./@^~{}:+-]*")
_AUTHOR: Final = lazy.regex(r"([^<>\n\0]+) <([^<>\s\0]+)>")
_LOGGED: Final = 30
_SETTINGS: Final = (
    "safe.directory=*",
    "safe.bareRepository=explicit",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=true",
    "core.attributesFile=/dev/null",
    "submodule.recurse=false",
    "commit.gpgSign=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "http.followRedirects=false",
    "protocol.allow=never",
)
_PLAIN: Final = ("--no-ext-diff", "--no-textconv", "--no-color")


def _check_author(text: str) -> str:
    if not _AUTHOR.fullmatch(text):
        raise ValueError(Sentence("tools.bad_author"))
    return text


def _check_forge(text: str) -> str:
    return check_address(text).rstrip("/") if text else ""


class GitSettings(BaseModel, extra="forbid"):
    author: Annotated[str, AfterValidator(_check_author)] = "KenoBot <kenobot@localhost>"
    clone_from: Annotated[str, AfterValidator(_check_forge)] = ""
    seconds: ClassVar[float] = 25


class GitArguments(InWorkspace):
    verb: Verb
    folder: str = Field("", max_length=1000, description="Of the repository, in the workspace.")
    paths: tuple[str, ...] = Field((), max_length=100)
    revision: str = Field("", max_length=200, description="For log, diff, show.")
    message: str = Field("", max_length=10_000, description="Of a commit.")
    repository: str = Field("", max_length=250, description="To clone: owner/name.")


@dataclass(frozen=True, slots=True)
class Git:
    """Runs some verbs of git; clone where the owner names from where."""

    settings: GitSettings
    workspaces: Workspaces
    home: Path
    runner: ConfinedRunner

    name = "git"
    description = "Use git in a workspace. add takes all changes unless paths are given."
    arguments = GitArguments

    @property
    def effects(self) -> ToolEffects:
        return ToolEffects(way_out=bool(self.settings.clone_from), asks_first=True)

    async def run(self, arguments: GitArguments, turn: ToolContext) -> str:
        """Run a verb and return what git printed."""
        folder = self.workspaces.choose(arguments.workspace, turn)
        if not shutil.which("git"):
            raise ToolFailed("git is not installed on this machine.")
        is_reading = arguments.verb in _READING
        if not is_reading and folder.workspace.read_only:
            raise ToolFailed(f'The workspace "{folder.workspace.name}" is for reading only.')
        command = ["git", *_configure(self.settings), *_words(arguments, self.settings)]
        names = folder.parse(arguments.folder)
        check_new_path(names)
        confinement = Confinement(
            folder.workspace.path,
            self.home,
            read_only=is_reading or folder.workspace.read_only,
            folder="/".join(names),
            network=arguments.verb == "clone",
            seconds=self.settings.seconds,
            environ=_environ(self.settings),
        )
        ended = await self.runner.run(command, folder, confinement)
        return ended.tell()


def _configure(settings: GitSettings) -> list[str]:
    """Return settings that overrule those of a repository."""
    scheme = settings.clone_from.partition(":")[0]
    wanted = [*_SETTINGS, *([f"protocol.{scheme}.allow=always"] if scheme else [])]
    return [part for each in wanted for part in ("-c", each)]


def _words(arguments: GitArguments, settings: GitSettings) -> list[str]:
    """Return a verb with its options. Nothing of the model's can become an option. Raises ToolFailed."""
    revision, paths = _revision(arguments.revision), ["--", *arguments.paths]
    match arguments.verb:
        case "status":
            return ["status", "--short", "--branch", *paths]
        case "log":
            return ["log", f"-{_LOGGED}", "--no-color", "--date=iso", "--format=%h %ad %an: %s", *revision, *paths]
        case "diff":
            return ["diff", "--stat", "--patch", *_PLAIN, *revision, *paths]
        case "show":
            return ["show", "--stat", "--patch", *_PLAIN, *(revision or ["HEAD"]), *paths]
        case "add":
            return ["add", "--all", "--verbose", "--", *(arguments.paths or (".",))]
        case "commit":
            if not arguments.message.strip():
                raise ToolFailed("A commit needs a message.")
            return ["commit", "--no-verify", "--no-gpg-sign", f"--message={arguments.message}", *paths]
        case "init":
            return ["init", "--initial-branch=main", "--template="]
        case "clone":
            return _clone(arguments, settings)
    assert_never(arguments.verb)


def _clone(arguments: GitArguments, settings: GitSettings) -> list[str]:
    if not settings.clone_from:
        raise ToolFailed("Cloning is off: the owner can name from where in kenobot.toml, tools.git.clone_from.")
    wanted = parse_repository(arguments.repository)
    url = f"{settings.clone_from}/{wanted.owner}/{wanted.name}"
    return ["clone", "--no-recurse-submodules", "--template=", "--quiet", "--", url, wanted.name]


def _revision(written: str) -> list[str]:
    if not written:
        return []
    if not _REVISION.fullmatch(written):
        raise ToolFailed(f"{show_path(written)} is no revision, as HEAD~2 or main..topic.")
    return [written]


def _environ(settings: GitSettings) -> dict[str, str]:
    name, _, address = settings.author.rstrip(">").rpartition(" <")
    people = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", name), ("EMAIL", address))
    }
    return {
        **people,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_LITERAL_PATHSPECS": "1",
    }


def _build(settings: GitSettings, context: PluginContext) -> Git:
    return Git(settings, Workspaces.of(context), context.home, ConfinedRunner(context.home))


plugin = Plugin(settings=GitSettings, build=_build)
