"""A door with somebody to watch it."""

import re
from collections.abc import Sequence

from kenobot.core.bus import Bus
from kenobot.gateway import pairing
from kenobot.gateway.access import Access, Roster
from kenobot.gateway.admission import AdmissionControl
from kenobot.gateway.delivery import Delivery
from kenobot.ports.messages import Outbound
from kenobot.ports.signals import MESSAGE_REFUSED, PAIRING_CLOSED, PAIRING_REQUESTED, Envelope
from kenobot.storage.database import Database
from kenobot_testing.clock import ManualClock
from tests.samples import inbound

CODE = re.compile(r"[A-Z2-9]{4}-[A-Z2-9]{4}")


class _Sending(Delivery):
    """Note what would be sent."""

    def __init__(self, house: "House") -> None:
        self._house = house

    def dispatch(self, parts: Sequence[Outbound]) -> None:
        self._house.sent.extend(parts)

    async def sweep(self) -> None:
        self._house.looks += 1


class House:
    """A door with somebody to watch it. `sent`: notices; `signals`: what was fired."""

    def __init__(self, database: Database, clock: ManualClock, *, pairs: bool = True) -> None:
        self.database = database
        self.clock = clock
        self.sent: list[Outbound] = []
        self.looks = 0
        self.signals: list[tuple[str, dict[str, object]]] = []
        self.access = Access({"fake": Roster.of(["1"], ["2"], ["-100"])})
        bus = Bus(clock)
        for signal in (MESSAGE_REFUSED, PAIRING_REQUESTED, PAIRING_CLOSED):
            bus.wake_on(signal, self._note)
        self._count = 0
        self.door = AdmissionControl(
            self.access,
            database,
            bus,
            clock,
            _Sending(self),
            pairing_enabled=pairs,
            random_below=self._below,
        )

    def _note(self, envelope: Envelope) -> None:
        self.signals.append((envelope.signal.name, dict(envelope.payload)))

    def _below(self, bound: int) -> int:
        """Numbers that differ from code to code, and that a test can foretell."""
        self._count += 1
        return self._count * 7919 % bound

    def named(self, name: str) -> list[dict[str, object]]:
        return [payload for signal, payload in self.signals if signal == name]

    async def stranger(self, user: str = "9", text: str = "hello") -> str:
        """A stranger's private message; returns the code that they got, or nothing."""
        before = len(self.sent)
        assert not await self.door.admits(inbound(text, user=user, chat=user))
        return "".join(match[0] for out in self.sent[before:] if (match := CODE.search(out.part.text)))

    async def approve(self, code: str) -> pairing.PairingResult:
        """The owner's side, as a command in chat has it."""
        at = self.clock.now()
        verdict = await self.database.write(lambda c: pairing.approve(c, code, at, self.access.is_owner))
        self.door.note_command({"people"})
        await self.door.wait_refreshed()
        return verdict
