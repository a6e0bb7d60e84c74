"""Parse, render and check rules.json: how the bot should behave, and what it should not say."""

import re
import unicodedata
from functools import lru_cache

from pydantic import BaseModel, field_validator

from kenobot.core import lazy


class Behavior(BaseModel, frozen=True):
    """Something to do. Guidelines of one category stand together."""

    instruction: str
    category: str = "general"
    examples: tuple[str, ...] = ()

    @field_validator("category")
    @classmethod
    def _named(cls, category: str) -> str:
        return category.strip() or "general"


class ForbiddenPattern(BaseModel, frozen=True):
    """Words to avoid in replies."""

    pattern: str
    reason: str = ""


class LegacyRule(BaseModel, frozen=True):
    """An older form: an instruction without a category."""

    instruction: str
    id: str = ""


class Rules(BaseModel, frozen=True):
    """Rules of rules.json."""

    behavioral: tuple[Behavior, ...] = ()
    forbidden: tuple[ForbiddenPattern, ...] = ()
    rules: tuple[LegacyRule, ...] = ()


def parse(text: str) -> Rules:
    """Parse rules.json. Raises ValueError when it is not JSON or not of this form."""
    return Rules.model_validate_json(text)


def render(rules: Rules) -> str:
    """Render the rules for a prompt; "" when there are none."""
    return "\n\n".join(part for part in (_guidelines(rules), _avoid(rules)) if part)


def _guidelines(rules: Rules) -> str:
    categories: dict[str, list[str]] = {}
    for behavior in (*rules.behavioral, *(Behavior(instruction=rule.instruction) for rule in rules.rules)):
        lines = [f"- {behavior.instruction}"]
        if behavior.examples:
            lines += ["  Examples:", *(f"  - {example}" for example in behavior.examples)]
        categories.setdefault(behavior.category, []).append("\n".join(lines))
    if not categories:
        return ""
    chapters = (f"### {name[0].upper()}{name[1:]}\n\n" + "\n\n".join(items) for name, items in categories.items())
    return "## Behavioral Guidelines\n\n" + "\n\n".join(chapters)


def _avoid(rules: Rules) -> str:
    if not rules.forbidden:
        return ""
    lines = (f'- "{each.pattern}"' + (f" ({each.reason})" if each.reason else "") for each in rules.forbidden)
    return "## Forbidden Patterns\n\nAvoid these patterns in your responses:\n\n" + "\n".join(lines)


# Scripts that do not part words with blanks: there a word may stand anywhere.
_UNSPACED = lazy.regex(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def violations(rules: Rules, reply: str) -> list[str]:
    """Match the forbidden patterns that stand in `reply` as whole words, whatever their case."""
    text = _fold(reply) if rules.forbidden else ""
    return [each.pattern for each in rules.forbidden if (form := _form(each.pattern)) and form.search(text)]


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


@lru_cache(maxsize=256)
def _form(pattern: str) -> re.Pattern[str] | None:
    """Compile a forbidden pattern; None when it is blank."""
    plain = _fold(pattern)
    if not plain:
        return None
    before = r"(?<!\w)" if _is_word(plain[0]) else ""
    after = r"(?!\w)" if _is_word(plain[-1]) else ""
    return lazy.regex(f"{before}{re.escape(plain)}{after}")


def _is_word(char: str) -> bool:
    return (char.isalnum() or char == "_") and (char.isascii() or not _UNSPACED.match(char))
