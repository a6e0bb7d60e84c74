"""Compile what orders about reminders are recognised by, before a message needs it: else that holds up every chat."""

from datetime import datetime

from kenobot.agent.commands.reminder_orders import match_order
from kenobot.core import pacing

_ORDERS = (
    "Remember that the garden gate is green.",
    "Remind me tomorrow at 9 to call Ana, please.",
    "Remind me every Monday at 9 to run.",
    "In 20 minutes remind me to eat.",
    "Remind me next week to pay the rent.",
    "Remind me on 12 May at 5 pm of the party.",
    "Recuérdame el viernes a las 9 llamar a Ana.",
    "Recuérdame todos los martes a las 10 regar las plantas.",
    "Move the reminder about Ana to Friday at 10.",
)


def rehearse_orders(now: datetime) -> None:
    """Match made-up orders. Blocks for some tenths of a second; for a thread that may rest between them.

    now: in the owner's zone, as its clocks show it.
    """
    for text in _ORDERS:
        pacing.step()
        match_order(text, now)
