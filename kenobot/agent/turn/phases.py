"""Measure where the time of a turn goes, phase by phase."""

from dataclasses import dataclass, field
from datetime import datetime

from kenobot.agent.turn import state_machine as machine
from kenobot.storage.turn_steps import Phase, TurnTimes

_PHASES: dict[type[machine.Effect], Phase] = {
    machine.ClaimMessage: "reading",
    machine.BuildContext: "prompt",
    machine.AskModel: "model",
    machine.RunTools: "tools",
    machine.ProbeModel: "pauses",
    machine.Wait: "pauses",
    machine.SavePiece: "storing",
    machine.ProcessReply: "postprocessors",
}


@dataclass(slots=True)
class PhaseTimes:
    """Seconds by phase. began: when the turn did. retries: calls of models that failed."""

    began: datetime
    seconds: dict[Phase, float] = field(default_factory=dict)  # bounded: the phases there are; turn
    retries: int = 0

    def add(self, effect: machine.Effect, seconds: float) -> None:
        """Count what an effect took."""
        phase = _PHASES.get(type(effect))
        if phase is not None:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + seconds

    def add_recall(self, seconds: float) -> None:
        """Count as recall what the building of the prompt, a moment later, is counted with."""
        self.seconds["recall"] = self.seconds.get("recall", 0.0) + seconds
        self.seconds["prompt"] = self.seconds.get("prompt", 0.0) - seconds

    def note_first_word(self, seconds: float) -> None:
        """Note how long the model took until its first word; the first call of a turn counts."""
        self.seconds.setdefault("first word", seconds)

    @property
    def millis(self) -> dict[Phase, int]:
        """Return the milliseconds by phase."""
        return {name: max(0, round(1000 * seconds)) for name, seconds in self.seconds.items()}

    def result(self, attempts: int, channel: str, received: datetime) -> TurnTimes:
        """Return what is stored with the turn of a message. attempts: from 1."""
        return TurnTimes(channel, received, self.began, self.millis, self.retries + max(0, attempts - 1))
