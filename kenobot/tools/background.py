"""Have the request of a turn done as a task in the background."""

from pydantic import BaseModel, Field

from kenobot.ports.plugin import Plugin
from kenobot.ports.tool import BACKGROUND, ToolArguments, ToolContext, ToolEffects


class BackgroundSettings(BaseModel, extra="forbid"):
    minutes: float = Field(30, ge=0.1, le=600, allow_inf_nan=False)


class NoArguments(ToolArguments):
    pass  # a docstring would be a part of the schema


class Background:
    """Begins a task, which goes on from what the turn has found out; the core begins it when the answer is given."""

    name = BACKGROUND
    description = "Do long work in the background; the result is sent to this chat."
    arguments = NoArguments
    effects = ToolEffects(reads_private=False, brings_untrusted=False, way_out=False, changes_outside=False)

    def __init__(self, settings: BackgroundSettings) -> None:
        self.settings = settings

    async def run(self, arguments: NoArguments, turn: ToolContext) -> str:
        """Tell the model how to end its answer."""
        return (
            "It begins as a task once your answer is given. End your answer now: say in one sentence that you do this "
            "in the background and write here when it is done."
        )


plugin = Plugin(settings=BackgroundSettings, build=lambda settings, _context: Background(settings))
