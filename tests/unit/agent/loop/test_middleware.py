"""AgentLoop: what receivers of a message may do to it before its turn."""

from dataclasses import replace

from kenobot.ports.signals import Envelope
from tests.samples import rows
from tests.unit.agent.loop.house import House


async def test_middleware_may_enrich_what_is_stored(house: House) -> None:
    """The enriched text is what gets its turn and what the inbox holds; other changes do not move the message."""

    async def enrich(envelope: Envelope) -> Envelope:
        text = f"{envelope.payload['text']} [seen]"
        return replace(envelope, payload={**envelope.payload, "text": text, "session": "fake-elsewhere"})

    house.bus.add_middleware(enrich)
    for number in range(3):
        await house.say(str(number), number)
    await house.loop.wait_idle()
    assert house.texts() == ["0 [seen]", "1 [seen]", "2 [seen]"]
    assert {pending.session for pending in house.turns} == {"fake-1"}
    assert house.most_in_a_chat == 1


async def test_middleware_that_drops_the_payload_costs_nothing(house: House) -> None:
    """The message is stored as it was written."""

    async def careless(envelope: Envelope) -> Envelope:
        return replace(envelope, payload={})

    house.bus.add_middleware(careless)
    assert await house.say("hello", 1)
    await house.loop.wait_idle()
    assert house.texts() == ["hello"]


async def test_middleware_may_stop_a_message(house: House) -> None:
    """It gets no turn, and is known when it comes again."""

    async def stop(envelope: Envelope) -> None:
        return None

    house.bus.add_middleware(stop)
    assert await house.say("spam", 1)
    assert not await house.say("spam", 1)
    await house.loop.wait_idle()
    assert (house.turns, house.loop.unfinished_count) == ([], 0)
    assert await rows(house.database, "SELECT state, reason FROM inbox") == [("dropped", "stopped by middleware")]
