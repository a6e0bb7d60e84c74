"""Recognise a correction that names only what is right: "no wait, it's 900", «perdón, es el azul»."""

from kenobot.core import lazy
from kenobot.language.changes.change_signs import compare_values, read_signs
from kenobot.language.statements.attribute_statements import read_attribute
from kenobot.language.statements.sentence_core import fold_text, read_core

_ONLY_VALUE = lazy.regex(
    r"(?:now |ahora )?(?:it's|its|it is|they're|that's|es|son|era|eran) (?:(?:the|el|la) )?(?P<value>(?:\S+ ){0,2}\S+)"
)
_FIGURE = lazy.regex(r"\d+(?:[.,:]\d+)*")
_SAYS_NO_VALUE = lazy.regex(
    r"(?:all )?(?:fine|ok|okay|late|early|true|false|right|wrong|cold|hot|\w+ing|broma|verdad|mentira|tarde|\w+ndo)"
)
_ENDS = " .!…"


def corrects_value(message: str, statement: str) -> bool:
    """Return whether a message is a correction that names only another value for what a statement says."""
    core = read_core(message.strip())
    found = _ONLY_VALUE.fullmatch(fold_text(core.told))
    if not core.corrects or found is None:
        return False
    if _FIGURE.search(found["value"]):
        return _has_other_figure(found["value"], statement)
    known = read_attribute(statement)
    if _SAYS_NO_VALUE.fullmatch(found["value"]) or known is None or not statement.rstrip(_ENDS).endswith(known.value):
        return False
    value = core.told[len(core.told) - len(found["value"]) :]
    both_names = value[:1].isupper() and known.value[:1].isupper()
    return fold_text(value) != fold_text(known.value) and (both_names or known.attribute.startswith("favourite"))


def join_correction(statement: str, correction: str) -> str:
    """Return a correction behind the statement that it puts right, each in its own words."""
    mark = "" if statement.rstrip().endswith((".", "!", "…")) else "."
    return f"{statement.rstrip()}{mark} {correction.strip()}"


def _has_other_figure(value: str, statement: str) -> bool:
    """Return whether a statement has another figure of the same kind; a bare one may be of any kind."""
    new, known = read_signs(value), read_signs(statement)
    if new.values.keys() <= {"bare"}:
        old = {*_FIGURE.findall(fold_text(statement))}
        return bool(old) and old.isdisjoint(_FIGURE.findall(value))
    return compare_values(new, known) == "another"
