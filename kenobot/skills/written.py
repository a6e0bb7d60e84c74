"""Write skills of our own, as strictly as the specification's own program reads them. Pure."""

import json

from kenobot.core import lazy
from kenobot.skills.files import SkillFiles
from kenobot.skills.skill import LONGEST_DESCRIPTION, PAGE, one_line

_FENCE = lazy.regex(r"-{3,}")  # ends the front matter wherever the specification's program finds it


def render_skill(name: str, description: str, body: str) -> SkillFiles:
    """Render the files of a skill."""
    printable = "".join(char for char in one_line(description) if char.isprintable())  # YAML takes no other
    told = json.dumps(_FENCE.sub("—", printable)[:LONGEST_DESCRIPTION], ensure_ascii=False)
    told_body = body.replace("\0", "").strip()
    return SkillFiles({PAGE: f"---\nname: {name}\ndescription: {told}\n---\n\n{told_body}\n".encode()})
