"""A skill: its name and description, its files, and what the specification would say against it."""

import unicodedata
from collections.abc import Iterator, Mapping

from kenobot.core import lazy
from kenobot.core.lookalikes import INVISIBLE
from kenobot.ports.frozen import dataclass
from kenobot.ports.sentences import Sentence
from kenobot.skills.files import SkillFiles
from kenobot.skills.front_matter import FrontMatter, UnusableSkill, Value, parse_page
from kenobot.skills.names import LONGEST_NAME, is_name, spell_name
from kenobot.storage.connection import make_storable

PAGE = "SKILL.md"
LONGEST_DESCRIPTION, LONGEST_COMPATIBILITY, MOST_LINES = 1024, 500, 500
_KNOWN = frozenset({"name", "description", "license", "compatibility", "metadata", "allowed-tools"})
_HIDDEN = lazy.regex(f"[{INVISIBLE}]")
_IN_EMOJI = dict.fromkeys((0x200D, 0xFE0F))  # joiner and colour, which pictures in texts are full of


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill as it was read from one folder.

    name: of its folder. page: its front matter and text. problems: in which it strays from the specification. notes:
    on what cannot be seen in it.
    """

    name: str
    description: str
    page: FrontMatter
    files: SkillFiles
    digest: str
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def other_files(self) -> tuple[str, ...]:
        return tuple(path for path in self.files.contents if path != PAGE)


def parse_skill(name: str, files: SkillFiles) -> Skill:
    """Read a skill leniently: whatever has a description can be used. Raises UnusableSkill."""
    if not is_name(name):
        raise UnusableSkill(_no_name(name))
    page = read_page(files)
    description = one_line(_text(page.values, "description"))
    if not description:
        raise UnusableSkill("skills.no_description", file=PAGE)
    problems, notes = tuple(find_problems(name, page)), tuple(_find_unseen(files))
    return Skill(name, description, page, files, files.digest, problems, notes)


def read_page(files: SkillFiles) -> FrontMatter:
    """Read the SKILL.md among the files. Raises UnusableSkill."""
    text = files.text(PAGE)
    if text is None:
        raise UnusableSkill("skills.no_page", file=PAGE)
    return parse_page(text)


def name_in(page: FrontMatter, fallback: str) -> str:
    """Return the name that a skill says, spelled as the specification wants it; of a folder where it says none."""
    return spell_name(_text(page.values, "name") or fallback)


def one_line(text: str) -> str:
    """Put a text on one line, without characters that nobody sees."""
    return " ".join(_HIDDEN.sub("", text).split())


def _no_name(name: str) -> str:
    return Sentence("skills.bad_name", name=name[:80], most=LONGEST_NAME)


def reveal(text: str) -> str:
    """Show characters that nobody sees as escapes like `\\u200b`; those that pictures are made of stay."""
    return _HIDDEN.sub(lambda match: match[0] if ord(match[0]) in _IN_EMOJI else ascii(match[0])[1:-1], text)


def find_problems(name: str, page: FrontMatter) -> Iterator[str]:
    """Find in what a skill strays from the specification."""
    values = page.values
    if not page.strict:
        yield Sentence("skills.no_plain_yaml")
    said = _text(values, "name")
    if said and not is_name(said):
        yield _no_name(said)
    if unicodedata.normalize("NFKC", said) != name:
        yield Sentence("skills.other_name", said=said[:80], name=name)
    if len(_text(values, "description")) > LONGEST_DESCRIPTION:
        yield Sentence("skills.long_description", most=LONGEST_DESCRIPTION)
    if len(_text(values, "compatibility")) > LONGEST_COMPATIBILITY:
        yield Sentence("skills.long_compatibility", most=LONGEST_COMPATIBILITY)
    if unknown := sorted(set(values) - _KNOWN):
        yield Sentence("skills.unknown_keys", names=", ".join(repr(key[:40]) for key in unknown[:5]))
    if page.body.count("\n") >= MOST_LINES:
        yield Sentence("skills.long_text", most=MOST_LINES)


def _find_unseen(files: SkillFiles) -> Iterator[str]:
    for path in files.contents:
        text = files.text(path)
        if text is None:
            yield Sentence("skills.no_text", path=path)
        elif hidden := len(_HIDDEN.findall(text.removeprefix("\ufeff").translate(_IN_EMOJI))):
            yield Sentence("skills.unseen", path=path, count=hidden)


def _text(values: Mapping[str, Value], name: str) -> str:
    value = values.get(name, "")
    return make_storable(value).strip() if isinstance(value, str) else ""
