"""Files of which each is told by what it holds: exports of messengers and assistants, notes, archives of these."""

from collections.abc import Callable, Iterable
from functools import partial

from kenobot.ports.sentences import Sentence
from kenobot_importers import agent_memories, vault
from kenobot_importers.archive import UNREADABLE, SourceArchive
from kenobot_importers.chatgpt import CHATGPT
from kenobot_importers.claude_export import CLAUDE
from kenobot_importers.plan import FilePlan, ImportPlan, Origin, TalkSource
from kenobot_importers.talk import TalkFormat, TalkOptions, summarize_talk
from kenobot_importers.telegram_export import TELEGRAM
from kenobot_importers.whatsapp import WHATSAPP

_SNIFFED = 1 << 16  # bytes
_TALK: dict[Origin, TalkFormat] = {
    "whatsapp": WHATSAPP,
    "telegram": TELEGRAM,
    "chatgpt": CHATGPT,
    "claude": CLAUDE,
}
_MEMORIES: tuple[tuple[Origin, Callable[[str, bytes], bool], Callable[[ImportPlan, str], None]], ...] = (
    ("letta", agent_memories.is_letta_file, agent_memories.read_letta_file),
    ("claude", agent_memories.is_claude_memory, agent_memories.read_claude_memory),
    ("claude", agent_memories.is_claude_projects, agent_memories.read_claude_projects),
)
EXPORTS = ("notes", *_TALK, "letta")
"""What files are told to be by what they hold."""

_UNKNOWN = "it is no export that is known"


def read_exports(plan: ImportPlan, paths: Iterable[str] | None = None) -> None:
    """Add what is known among the files of a folder or archive. Raises AmbiguousDates.

    paths: only these.
    """
    notes: list[str] = []
    for path in plan.folder.files("", "") if paths is None else paths:
        if path.lower().endswith((".md", ".markdown")):
            notes.append(path)
        elif path.lower().endswith(".zip") and not isinstance(plan.folder, SourceArchive):
            _read_archive(plan, path)
        elif path.lower().endswith(".canvas") and plan.origin in ("notes", "files"):
            vault.read_canvas(plan, path)
        elif not vault.leave_attachment(plan, path):
            _read_file(plan, path)
    if notes and plan.origin in ("notes", "files"):
        vault.read_vault(plan, notes)


def _read_archive(plan: ImportPlan, path: str) -> None:
    """Add what is known among the files of an archive within a folder."""
    try:
        inner = ImportPlan(plan.origin, SourceArchive(plan.folder.root / path), plan.about)
    except UNREADABLE as error:
        plan.skip_file(path, "archive", Sentence("it cannot be read: {reason}", reason=str(error).lower()))
        return
    read_exports(inner)
    for sheet in inner.files:
        sheet.path = f"{path}/{sheet.path}"
    plan.files += inner.files


def _read_file(plan: ImportPlan, path: str) -> None:
    """Add a file that is known. Raises AmbiguousDates."""
    try:
        with plan.folder.open(path) as stream:
            head = stream.read(_SNIFFED)
    except OSError as error:
        plan.skip_file(path, "file", Sentence("it cannot be read: {reason}", reason=error))
        return
    wanted = plan.origin
    for origin, is_of, read in _MEMORIES:
        if wanted in ("files", origin) and is_of(path, head):
            read(plan, path)
            return
    form = next((each for name, each in _TALK.items() if wanted in ("files", name) and each.is_of(path, head)), None)
    if form is None:
        plan.skip_file(path, "file", _UNKNOWN)
        return
    _plan_talk(plan, path, form)


def _plan_talk(plan: ImportPlan, path: str, form: TalkFormat) -> None:
    """Count what was said in a file. Raises AmbiguousDates."""
    modified = min(plan.folder.get_modified(path), plan.about.now)
    options = TalkOptions(plan.about.zone, plan.about.now, modified, plan.about.day_first)
    open_file = partial(plan.folder.open, path)
    sheet = FilePlan(path, form.label, modified, origin=form.name)
    try:
        read = partial(form.read, open_file, form.settle(open_file, options))
        summary = summarize_talk(read())
    except OSError as error:
        plan.skip_file(path, form.label, Sentence("it cannot be read: {reason}", reason=error))
        return
    sheet.lines, sheet.unclear = summary.lines, summary.unclear
    sheet.talk = TalkSource(form, summary, read)
    plan.files.append(sheet)
