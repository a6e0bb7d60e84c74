"""The seam to models that write down what is said in a recording: group `kenobot.transcribers`."""

from dataclasses import field
from math import isfinite
from pathlib import Path
from typing import Protocol

from kenobot.ports.errors import Rejected
from kenobot.ports.frozen import dataclass
from kenobot.ports.provider import Usage

_LONGEST = 1e6  # seconds


@dataclass(frozen=True, slots=True)
class Recording:
    """Speech to be written down. file: of the bytes, without a suffix. mime: as they say. seconds: 0 for not known."""

    file: Path
    mime: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Transcript:
    """The words of a recording; "" when there are none.

    seconds: length of the recording as the model counts it, 0 where it does not say. usage: tokens, where it counts
    these.
    """

    text: str
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)


def likely_seconds(told: object) -> float:
    """Return a length that a model tells, in seconds; 0 for none, or for one that no recording has."""
    if not isinstance(told, int | float) or not isfinite(told):
        return 0.0
    return float(told) if 0 < told < _LONGEST else 0.0


class UnplayableRecording(Rejected):
    """A recording that is damaged, or of a format that the transcriber does not know: no second try will help."""


class Transcriber(Protocol):
    """A model that writes down speech. Without one, people are told that the bot cannot listen."""

    @property
    def model_id(self) -> str:
        """Names the service and its model, as "openai:whisper-1": the ledger finds its price by this."""
        ...

    async def transcribe(self, recording: Recording) -> Transcript:
        """Write down what is said, in its own language.

        Raises RateLimited, Unavailable (AnswerLost once the recording may be charged for) or Rejected
        (UnplayableRecording where the recording is at fault), whose texts hold no secret.
        """
        ...
