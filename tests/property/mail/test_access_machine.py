"""Who is let in, whatever strangers, the owner, the clock and the power supply do, in whatever order."""

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kenobot.core.bus import Bus
from kenobot.gateway import pairing
from kenobot.gateway.access import Access, Roster
from kenobot.gateway.admission import AdmissionControl
from kenobot.gateway.delivery import Delivery
from kenobot.ports.identity import Account
from kenobot.ports.messages import Outbound
from kenobot.storage import approved_people
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot_testing.clock import ManualClock
from tests.property.effort import effort
from tests.samples import inbound
from tests.scratch import scratch_root

T = TypeVar("T")

_HOUR = timedelta(hours=1)
_ACCOUNTS = st.tuples(st.sampled_from(["fake", "other"]), st.sampled_from(["11", "12", "13", "14", "15"]))
_ROSTERS = {channel: Roster.of(["1"], ["2"]) for channel in ("fake", "other")}


class _Sending(Delivery):
    """Note what would be sent."""

    def __init__(self, sent: list[Outbound]) -> None:
        self._sent = sent

    def dispatch(self, parts: Sequence[Outbound]) -> None:
        self._sent.extend(parts)

    async def sweep(self) -> None: ...


class PowerCut(Exception):
    """What ends a transaction in the middle."""


class AccessMachine(RuleBasedStateMachine):
    """A house and its door beside a model of them: `open`, `people`, `noticed`, `wrong` are what should be so."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=scratch_root()))
        self.runner = asyncio.Runner()
        self.clock = ManualClock()
        self.random = Random(1)
        self.open: dict[Account, tuple[str, datetime]] = {}
        self.people: set[Account] = set()
        self.noticed: dict[Account, datetime] = {}
        self.wrong, self.until = 0, self.clock.now()
        self.codes: list[str] = []
        self.sent: list[Outbound] = []

    @initialize()
    def start(self) -> None:
        self.run(self._start())

    async def _start(self) -> None:
        self.database = Database.open(self.folder / "kenobot.db", self.folder / "backups")
        self.access = Access(_ROSTERS)
        self.door = AdmissionControl(
            self.access,
            self.database,
            Bus(self.clock),
            self.clock,
            _Sending(self.sent),
            pairing_enabled=True,
            random_below=self.random.randrange,
        )
        await self.door.refresh()
        self.noticed.clear()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def teardown(self) -> None:
        if hasattr(self, "database"):
            self.run(self.database.close())
        self.runner.close()
        shutil.rmtree(self.folder)

    # ── what the model says ──────────────────────────────────────────────────────────────────────────────────────

    @property
    def now(self) -> datetime:
        return self.clock.now()

    @property
    def locked(self) -> bool:
        return self.wrong >= pairing.MAX_WRONG_CODES and self.now < self.until

    def expire(self) -> None:
        self.open = {account: (code, end) for account, (code, end) in self.open.items() if self.now < end}
        self.noticed = {account: at for account, at in self.noticed.items() if self.now - at < _HOUR}
        if self.now >= self.until:
            self.wrong = 0

    def judge(self, code: str) -> str:
        """What should come of `code`, and the model after it."""
        self.expire()
        if self.locked:
            return "locked"
        if not self.open:
            return "nothing"
        fitting = [account for account, (open_code, _) in self.open.items() if open_code == code]
        if fitting:
            del self.open[fitting[0]]
            self.people.add(fitting[0])
            self.noticed.pop(fitting[0], None)
            self.wrong = 0
            return "approved"
        self.wrong, self.until = self.wrong + 1, self.now + _HOUR
        if self.wrong < pairing.MAX_WRONG_CODES:
            return "wrong"
        self.open.clear()
        return "locked"

    # ── what happens ─────────────────────────────────────────────────────────────────────────────────────────────

    @rule(account=_ACCOUNTS)
    def write(self, account: Account) -> None:
        self.knock(account)

    def knock(self, account: Account) -> None:
        """Somebody writes in private: let in, given a code, or met with silence."""
        self.expire()
        channel, user = account
        full = sum(other == channel for other, _ in self.open) >= pairing.MAX_OPEN_CODES
        notice = not (account in self.people or account in self.noticed or account in self.open or full or self.locked)
        before = len(self.sent)
        assert self.run(self.door.admits(inbound(channel=channel, user=user, chat=user))) == (account in self.people)
        assert len(self.sent) - before == notice
        if account not in self.people:
            self.noticed.setdefault(account, self.now)
        if notice:
            span = self.sent[-1].part.entities[0]
            code = self.sent[-1].part.text[span.offset : span.offset + span.length]
            self.codes.append(code)
            self.open[account] = (code, self.now + pairing.CODE_LIFETIME)

    @rule(channel=st.sampled_from(["fake", "other"]))
    def crowd(self, channel: str) -> None:
        """More strangers at once than may have a code."""
        for user in ("11", "12", "13", "14", "15"):
            self.knock((channel, user))

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def let_somebody_in(self, data: st.DataObject) -> None:
        """A code that was open a moment ago at least."""
        code, _ = self.open[data.draw(st.sampled_from(sorted(self.open)))]
        assert self.run(self._approve(code)) == self.judge(code)

    @precondition(lambda self: self.codes)
    @rule(data=st.data(), dress=st.sampled_from([str, str.lower, lambda code: f" {code.replace('-', '  ')} "]))
    def approve(self, data: st.DataObject, dress: Callable[[str], str]) -> None:
        """A code that was handed out once: open, used, expired or void."""
        code = data.draw(st.sampled_from(self.codes))
        assert self.run(self._approve(dress(code))) == self.judge(code)

    @rule(times=st.integers(1, 6))
    def approve_wrongly(self, times: int) -> None:
        """A code that nobody was given."""
        for _ in range(times):
            assert self.run(self._approve("WRNG-WRNG")) == self.judge("WRNG-WRNG")

    async def _approve(self, code: str) -> str:
        def work(connection: Connection) -> str:
            verdict = pairing.approve(connection, code, self.clock.now(), self.access.is_owner)
            return verdict.kind

        kind = await self.database.write(work)
        self.door.note_command({"people"})
        await self.door.wait_refreshed()
        return kind

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def put_somebody_out(self, data: st.DataObject) -> None:
        self.dismiss(data.draw(st.sampled_from(sorted(self.people))))

    @rule(account=_ACCOUNTS)
    def revoke(self, account: Account) -> None:
        self.dismiss(account)

    def dismiss(self, account: Account) -> None:
        """Whoever was let in is not any more; nobody else changes."""

        async def work() -> bool:
            def put_out(connection: Connection) -> bool:
                return approved_people.revoke_person(connection, *account)

            gone = await self.database.write(put_out)
            self.door.note_command({"people"})
            await self.door.wait_refreshed()
            return gone

        assert self.run(work()) == (account in self.people)
        if account in self.people:
            self.people.discard(account)
            self.noticed.pop(account, None)

    @rule(minutes=st.sampled_from([1, 29, 59, 60, 61, 600]))
    def wait(self, minutes: int) -> None:
        self.clock.advance(60 * minutes)

    @rule()
    def restart(self) -> None:
        """Only what is on disk is left."""
        self.run(self._restart())

    async def _restart(self) -> None:
        await self.database.close()
        await self._start()

    @rule(account=_ACCOUNTS, data=st.data())
    def crash(self, account: Account, data: st.DataObject) -> None:
        """The power fails while an approval, a wrong code, a revocation or a question is being written: it was not."""
        code = data.draw(st.sampled_from([*self.codes, "WRNG-WRNG"]))
        what = data.draw(st.sampled_from(["approve", "revoke", "ask"]))

        def work(connection: Connection) -> None:
            at = self.clock.now()
            if what == "approve":
                pairing.approve(connection, code, at, self.access.is_owner)
            elif what == "revoke":
                approved_people.revoke_person(connection, *account)
            else:
                stranger = pairing.Stranger(*account, chat=account[1], name="", language="en")
                pairing.request_pairing(connection, stranger, pairing.new_code(self.random.randrange), at)
            raise PowerCut

        async def fail() -> None:
            try:
                await self.database.write(work)
            except PowerCut:
                await self._restart()

        self.run(fail())

    # ── what always holds ────────────────────────────────────────────────────────────────────────────────────────

    @invariant()
    def nobody_is_let_in_without_approval(self) -> None:
        if not hasattr(self, "access"):
            return
        for channel in ("fake", "other"):
            for user in ("11", "12", "13", "14", "15", "99", ""):
                standing = self.access.access_level(inbound(channel=channel, user=user, chat=user))
                assert standing == ("guest" if (channel, user) in self.people else "stranger")

    @invariant()
    def the_owner_is_never_locked_out(self) -> None:
        if hasattr(self, "door"):
            assert self.run(self.door.admits(inbound(user="1", chat="1")))
            assert self.run(self.door.admits(inbound(user="2", chat="2")))

    @invariant()
    def at_most_three_codes_a_channel_are_open(self) -> None:
        if not hasattr(self, "database"):
            return
        self.expire()
        found = self.run(self.database.read(lambda c: pairing.open_pairings(c, self.clock.now())))
        assert {(item.channel, item.user) for item in found} == set(self.open)
        for channel in ("fake", "other"):
            assert sum(item.channel == channel for item in found) <= pairing.MAX_OPEN_CODES
        assert not (self.locked and found)

    @invariant()
    def everybody_let_in_stands_in_the_table(self) -> None:
        if hasattr(self, "database"):
            known = self.run(self.database.read(approved_people.list_people))
            assert {person.account for person in known} == self.people


TestAccess = AccessMachine.TestCase
TestAccess.settings = effort(8, 30)
