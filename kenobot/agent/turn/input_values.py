"""Read what the owner says as the value of a field that a tool asks for. Pure."""

import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Literal

from kenobot.agent.commands.natural_language import parse_answer
from kenobot.core import lazy, texts
from kenobot.core.i18n import Text
from kenobot.language.words import fold
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.tool_input import InputField

_LONGEST = 500  # characters of an answer
_SKIP = frozenset(("skip", "leave out", "default", "saltar", "omitir", "por defecto"))
_DECLINE = frozenset(("decline", "don't answer", "rechazar", "no contestar"))
_DONE = frozenset(("done", "listo", "hecho"))
_NUMBER = lazy.regex(r"[+-]?\d{1,15}(?:[.,]\d{1,12})?")
_MAIL = lazy.regex(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_URI = lazy.regex(r"[a-z][a-z0-9+.-]*:\S+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an answer does not fit, in words for the owner."""

    text: Text


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a field."""

    value: Json


Answer = Value | Refusal | Literal["decline", "skip"]


def read_value(asked: InputField, said: str) -> Answer | None:
    """Read an answer, or the word of a button; None where it is none to this question."""
    plain, answer = fold(said).strip(" .!"), parse_answer(said)
    if plain in _DECLINE or (answer == "no" and asked.kind != "boolean"):
        return "decline"
    if plain in _SKIP and (asked.default is not None or not asked.required):
        return "skip"
    return _READERS[asked.kind](asked, said)


def _read_text(asked: InputField, said: str) -> Answer | None:
    if len(said) > _LONGEST or not said:
        return None
    if not (asked.least or 0) <= len(said) <= (_LONGEST if asked.most is None else asked.most):
        return Refusal(texts.INPUT_UNFIT)
    return Value(said) if _fits(asked.form, said) else Refusal(texts.INPUT_UNFIT)


def _fits(form: str, said: str) -> bool:
    try:
        match form:
            case "email":
                return _MAIL.fullmatch(said) is not None
            case "uri":
                return _URI.fullmatch(said) is not None
            case "date":
                date.fromisoformat(said)
            case "date-time":
                datetime.fromisoformat(said)
    except ValueError:
        return False
    return True


def _read_number(asked: InputField, said: str) -> Answer | None:
    if not _NUMBER.fullmatch(said.strip()):
        return None
    number = float(said.strip().replace(",", "."))
    whole = number.is_integer()
    if (asked.kind == "integer" and not whole) or not _is_within(asked, number):
        return Refusal(texts.INPUT_UNFIT)
    return Value(int(number) if whole else number)


def _read_boolean(asked: InputField, said: str) -> Answer | None:
    answer = parse_answer(said)
    return Value(answer == "yes") if answer in ("yes", "no") else None


def _read_choice(asked: InputField, said: str) -> Answer | None:
    if said.strip().isdecimal() and len(said) < 4 and not _find_choice(asked, said):
        place = int(said)
        return Value(asked.choices[place - 1][0]) if 1 <= place <= len(asked.choices) else Refusal(texts.INPUT_UNFIT)
    named = _find_choice(asked, said)
    return Value(named) if named else None


def _read_choices(asked: InputField, said: str) -> Answer | None:
    parts = [part.strip() for part in re.split(r"[,;]| (?:and|y|e) ", said) if part.strip()]
    read = [_read_choice(asked, part) for part in parts]
    if not read or any(each is None for each in read):
        return None
    values: list[Json] = list(dict.fromkeys(str(each.value) for each in read if isinstance(each, Value)))
    if any(isinstance(each, Refusal) for each in read) or not _is_within(asked, len(values)):
        return Refusal(texts.INPUT_UNFIT)
    return Value(values)


def _read_consent(asked: InputField, said: str) -> Answer | None:
    agreed = parse_answer(said) == "yes" or (asked.kind == "address" and fold(said).strip(" .!") in _DONE)
    return Value(None) if agreed else None


def _find_choice(asked: InputField, said: str) -> str:
    """Return the value that is called so."""
    plain = fold(said).strip(" .!")
    return next((value for value, title in asked.choices if plain in (fold(value), fold(title))), "")


def _is_within(asked: InputField, number: float) -> bool:
    return (asked.least is None or number >= asked.least) and (asked.most is None or number <= asked.most)


_READERS: dict[str, Callable[[InputField, str], Answer | None]] = {
    "text": _read_text,
    "number": _read_number,
    "integer": _read_number,
    "boolean": _read_boolean,
    "choice": _read_choice,
    "choices": _read_choices,
    "address": _read_consent,
    "consent": _read_consent,
}
