"""Words that tell the model of a call that was not run, or broken off, and why. No tool says them: see `ToolStage`."""

from typing import Final

HELD_BACK: Final = (
    "Not run yet, for safety: private memory and words of others are both on show, and it could carry memory out. The "
    "owner is asked below your answer whether it may run with exactly these arguments; after a yes it is run. "
    "Say why you want it, and end your answer."
)
ASKS_FIRST: Final = (
    "Not run yet, for safety: words of others are on show, and may have talked you into it. The owner is asked below "
    "your answer whether it may run with exactly these arguments; after a yes it is run. Say why you want it, "
    "and end your answer."
)
RULE_ASKS: Final = (
    "Not run yet: the owner's rules want them asked first. They are asked below your answer whether it may run with "
    "exactly these arguments, and it is run once they say yes. Say why you want it, and end your answer."
)
HELD: Final = (HELD_BACK, ASKS_FIRST, RULE_ASKS)
"""Of calls that the owner is asked about."""

NO_WAY_OUT: Final = (
    "Not run, for safety: this conversation shows words of others beside private memory, and the tool could carry "
    "memory out. Tell the person what you wanted to do, and that it can be asked for in a new conversation."
)
DENIED: Final = "Not run: the owner's rules do not allow this call. Tell the person."
CANNOT_ASK: Final = (
    "Not run: the owner would have to be asked first. That is possible alone with them, and in a group by buttons, if "
    "the owner speaks and nothing private was read for it; and for a call that is short enough to be shown whole. Tell "
    "the person."
)
NOT_RUN: Final = frozenset((DENIED, CANNOT_ASK, NO_WAY_OUT, *HELD))
"""All of them."""

INTERRUPTED: Final = (
    "The bot was stopped while this ran: it is not known whether it happened. It was not run again. Tell the person."
)
