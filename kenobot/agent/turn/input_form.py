"""Define the form that a tool wants filled in, with the answers so far."""

from collections.abc import Mapping
from dataclasses import replace

from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.provider import ToolCall
from kenobot.ports.tool_input import GivenInput, InputField, WantedInput


@dataclass(frozen=True, slots=True)
class Form:
    """A form under way. at: the field that is asked for; behind the last one stands the question whether to send it."""

    call: ToolCall
    wanted: WantedInput
    values: Mapping[str, Mapping[str, Json]]
    at: int = 0

    @property
    def field(self) -> InputField | None:
        """Return the field that is asked for; None where all are answered."""
        return self.wanted.fields[self.at] if self.at < len(self.wanted.fields) else None

    @property
    def is_shown_whole(self) -> bool:
        """Return whether the owner reads all of it again before it is sent: words may have been meant otherwise."""
        fields = self.wanted.fields
        return any(each.kind == "text" for each in fields) or len(fields) > 1

    @property
    def is_over(self) -> bool:
        return self.at > len(self.wanted.fields) or (self.field is None and not self.is_shown_whole)

    def answer(self, value: Json) -> "Form":
        """Return the form with an answer to its question. value: None leaves the field out."""
        asked, values = self.field, {group: dict(each) for group, each in self.values.items()}
        if asked is not None and value is not None and asked.name:
            values.setdefault(asked.group, {})[asked.name] = value
        return replace(self, values=values, at=self.at + 1)

    def give(self, *, declined: bool = False) -> GivenInput:
        """Return what the tool gets of it."""
        return GivenInput(self.wanted.state, {} if declined else self.values, declined)
