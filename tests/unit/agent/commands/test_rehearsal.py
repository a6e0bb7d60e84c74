"""The rehearsal of orders about reminders."""

from kenobot.agent.commands import rehearsal
from kenobot.agent.commands.reminder_orders import match_order
from kenobot_testing.clock import START


def test_made_up_orders_are_orders() -> None:
    """All but the first, which begins like one: so each compiles what an order goes through, in both languages."""
    now = START.replace(tzinfo=None)
    rehearsal.rehearse_orders(now)
    found = [match_order(text, now) for text in rehearsal._ORDERS]
    assert found[0] is None
    assert [order is not None for order in found[1:]] == [True] * (len(found) - 1)
    assert {order.language for order in found if order is not None} == {"en", "es"}
