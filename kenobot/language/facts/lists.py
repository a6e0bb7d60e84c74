"""Read lists under a name of their own: what to buy, to pack or to do, in one line or in the lines below."""

from kenobot.core import lazy
from kenobot.language.sentences import LONGEST
from kenobot.language.statements.rule_tables import PHRASES
from kenobot.language.statements.sentence_core import fold_text

_HEAD = rf"(?:{PHRASES['list_heads']})"
_LIST = lazy.regex(rf"{_HEAD}\s*:\s*(?![/\d])\S")
_TO_DO = lazy.regex(rf"(?:{PHRASES['to_do_heads']})\s*:")
_HEADING = lazy.regex(rf"{_HEAD}\s*:\s*")
_ITEM = lazy.regex(r"\s*(?:[-*•·–]\s+|\d{1,2}[.)]\s+)?(?P<item>\S.{0,119}?)[\s,;]*\Z")
_MOST = 20  # items


def is_list(told: str) -> bool:
    """Return whether a text names a list, and then its items."""
    return _LIST.match(fold_text(told)) is not None


def is_to_do(told: str) -> bool:
    """Return whether a text names a list of what is to be done."""
    return _TO_DO.match(fold_text(told)) is not None


def join_lists(text: str) -> str:
    """Return a text with the items below the name of a list on its line, with commas between them."""
    if ":\n" not in text.replace(": \n", ":\n"):
        return text
    lines, found = text[:LONGEST].split("\n"), list[str]()
    lines.reverse()
    while lines:
        line = lines.pop()
        if line.rstrip().endswith(":") and _HEADING.fullmatch(fold_text(line.strip())):
            items: list[str] = []
            while lines and len(items) < _MOST and (item := _ITEM.match(lines[-1])) is not None:
                items.append(item["item"])
                lines.pop()
            line = f"{line.strip()} {', '.join(items)}".strip()
        found.append(line)
    return "\n".join(found) + text[LONGEST:]
