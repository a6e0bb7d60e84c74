"""Forms by which a tool asks the owner in the middle of a call, and their answers; the call waits for them."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal, Self

from kenobot.ports.errors import ToolFailed
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json

InputKind = Literal["text", "number", "integer", "boolean", "choice", "choices", "address", "consent"]
"""address: one that the owner opens by themselves. consent: a yes and nothing more."""

Value = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InputField:
    """One question to the owner. All its words are the asker's.

    group, name: by which the tool knows the answer. message: why it is asked. label: of the field. choices: values and
    what they are called. least, most: of a number, of the characters of a text, of the choices that are taken; None for
    any. form: of a text, "email", "uri", "date", "date-time" or
    "password", which no owner is asked for. required: it cannot be left out.
    """

    group: str
    name: str
    kind: InputKind
    message: str
    label: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    least: float | None = None
    most: float | None = None
    form: str = ""
    default: Value | None = None
    required: bool = True


@dataclass(frozen=True, slots=True)
class WantedInput:
    """A form that the owner fills in. asker: who asks. seconds: how long it waits. state: for the tool, given back."""

    asker: str
    fields: tuple[InputField, ...]
    state: str = ""
    seconds: float = 3600.0

    def to_json(self) -> str:
        """Return it as it is stored."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what was stored."""
        row = json.loads(text)
        return cls(**{**row, "fields": tuple(map(_field, row["fields"]))})


@dataclass(frozen=True, slots=True)
class GivenInput:
    """The owner's answers to a form: values by group and name, nothing where they declined. state: of the form."""

    state: str
    values: Mapping[str, Mapping[str, Json]]
    declined: bool = False

    def to_json(self) -> str:
        """Return it as it is stored."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what was stored."""
        return cls(**json.loads(text))


def _field(row: dict[str, Any]) -> InputField:
    default = row["default"]
    fit = {
        "choices": tuple(map(tuple, row["choices"])),
        "default": tuple(default) if isinstance(default, list) else default,
    }
    return InputField(**{**row, **fit})


class InputWanted(ToolFailed):
    """Raised by a tool that goes on once the owner has answered: it is run again then, and given the answers.

    Its text is for the model, where the owner cannot be asked.
    """

    def __init__(self, told: str, wanted: WantedInput) -> None:
        super().__init__(told)
        self.wanted = wanted
