"""Who is let in, what strangers get, and what they cost."""

import asyncio
import hmac
import json
import logging
import re
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import pytest

from kenobot import pairing, people
from kenobot.access import Access, Roster
from kenobot.bus import Bus
from kenobot.db import Connection, Database, connect
from kenobot.door import Door, Post
from kenobot.errors import StoreError, StoreFull
from kenobot.names import plain_name
from kenobot.ports import Inbound, Outbound
from kenobot.signals import Envelope
from kenobot.testing.clock import ManualClock
from tests.samples import inbound, rows, scalar

CODE = re.compile(r"[A-Z2-9]{4}-[A-Z2-9]{4}")


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
        bus.tap(self._note)
        self._count = 0
        self.door = Door(
            self.access, database, bus, clock, Post(self.sent.extend, self._look), self._below, pairs=pairs
        )

    def _note(self, envelope: Envelope) -> None:
        self.signals.append((envelope.signal.name, dict(envelope.payload)))

    async def _look(self) -> None:
        self.looks += 1

    def _below(self, bound: int) -> int:
        """Numbers that differ from code to code, and that a test can foretell."""
        self._count += 1
        return self._count * 7919 % bound

    def named(self, name: str) -> list[dict[str, object]]:
        return [payload for signal, payload in self.signals if signal == name]

    async def stranger(self, user: str = "9", text: str = "hello") -> str:
        """A stranger's private message; returns the code that they got, or nothing."""
        before = len(self.sent)
        assert not await self.door(inbound(text, user=user, chat=user))
        return "".join(match[0] for out in self.sent[before:] if (match := CODE.search(out.part.text)))

    async def approve(self, code: str) -> pairing.Verdict:
        """The owner's side, as a command in chat has it."""
        at = self.clock.now()
        verdict = await self.database.write(lambda c: self._approve_in(c, code, at))
        await self.door.settle()
        return verdict

    def _approve_in(self, connection: Connection, code: str, at: datetime) -> pairing.Verdict:
        verdict = pairing.approve(connection, code, at, self.access.is_owner)
        self.door.changed()
        return verdict


@pytest.fixture
async def house(database: Database, clock: ManualClock) -> AsyncIterator[House]:
    made = House(database, clock)
    await made.door.refresh()
    yield made


@pytest.mark.parametrize(
    ("message", "standing"),
    [
        (inbound(user="1", chat="1"), "owner"),
        (inbound(user="1", chat="-7", private=False), "owner"),
        (inbound(user="2", chat="2"), "guest"),
        (inbound(user="2", chat="-7", private=False), "guest"),
        (inbound(user="9", chat="-100", private=False), "guest"),
        (inbound(user="9", chat="9"), "stranger"),
        (inbound(user="9", chat="-7", private=False), "stranger"),
        (inbound(user="1", chat="1", channel="other"), "stranger"),
        (inbound(user="", chat=""), "stranger"),
        (inbound(user=" 1", chat="1"), "stranger"),
    ],
)
async def test_who_is_named_in_the_configuration_is_let_in(house: House, message: Inbound, standing: str) -> None:
    """Owners and users anywhere on their channel, anybody in a listed chat, and nobody else."""
    assert house.access.standing(message) == standing
    assert await house.door(message) == (standing != "stranger")


async def test_a_stranger_in_a_group_gets_silence(house: House) -> None:
    """No notice, no code, no row: only a line in the audit."""
    assert not await house.door(inbound(user="9", chat="-7", private=False))
    assert (house.sent, await rows(house.database, "SELECT * FROM pairing")) == ([], [])
    assert house.signals == [
        ("message:refused", {"reason": "a stranger", "channel": "fake", "chat": "-7", "user": "9"})
    ]


async def test_a_stranger_in_private_gets_a_code_and_the_owner_hears_of_it(house: House) -> None:
    """In the language they write, to be copied with one touch; the signal has a cleaned name and not the code."""
    assert await house.stranger(text="Hola, ¿quién eres?")
    [notice] = house.sent
    assert notice.part.text.startswith("Solo hablo con quien mi dueño ha dejado pasar")
    [span] = notice.part.spans
    assert CODE.fullmatch(notice.part.text[span.offset : span.offset + span.length])
    assert house.named("pairing:asked") == [{"channel": "fake", "user": "9", "name": "user 9"}]
    assert await rows(house.database, "SELECT chat, text, inbox_id, state FROM outbox") == [
        ("9", notice.part.text, None, "pending")
    ]


async def test_the_code_is_kept_as_a_salted_digest(house: House) -> None:
    """The table holds nothing that the code could be read from, and the same code twice looks different."""
    code = (await house.stranger()).replace("-", "")
    [(salt, digest)] = await rows(house.database, "SELECT salt, digest FROM pairing")
    stored = str(await rows(house.database, "SELECT * FROM pairing"))
    assert code not in stored
    assert isinstance(salt, bytes)
    assert isinstance(digest, bytes)
    assert (len(salt), len(digest)) == (16, 32)
    numbers = iter(range(10_000))
    one, other = (pairing.ticket(lambda bound: 0 if bound < 256 else next(numbers)) for _ in range(2))
    assert one.code == other.code
    assert one.digest != other.digest


def test_codes_have_no_letters_that_look_alike() -> None:
    """Eight of an alphabet in which no two are taken for each other."""
    for alike in ("0OQ", "1IL", "2Z", "5S", "6G", "8B", "UV"):
        assert len(set(alike) & set(pairing.ALPHABET)) <= 1
    assert pairing.ticket(lambda bound: bound - 1).code == pairing.ALPHABET[-1] * 8
    assert pairing.ticket(lambda bound: 0).code == pairing.ALPHABET[0] * 8


async def test_one_notice_an_hour(house: House) -> None:
    """However often a stranger writes, and after a restart too; then they may ask again."""
    assert await house.stranger()
    for _ in range(50):
        assert not await house.stranger()
    later = House(house.database, house.clock)
    await later.door.refresh()
    assert not await later.stranger()
    assert (len(house.named("message:refused")), len(house.named("pairing:asked"))) == (1, 1)
    house.clock.advance(3600)
    assert await house.stranger()


async def test_three_codes_a_channel(house: House) -> None:
    """A fourth stranger gets silence, until a code has expired."""
    codes = [await house.stranger(str(user)) for user in range(11, 16)]
    assert [bool(code) for code in codes] == [True, True, True, False, False]
    house.clock.advance(3600)
    assert await house.stranger("15")
    assert await scalar(house.database, "SELECT count(*) FROM pairing") == 1


async def test_a_flood_of_strangers_is_bounded(house: House) -> None:
    """A thousand strangers cost at most 500 lines in the audit and three codes, and no more memory than that."""
    for number in range(1000):
        assert not await house.door(inbound(user=f"u{number}", chat="-7", private=False))
    assert len(house.named("message:refused")) == 500
    assert not await house.door(inbound(user="u1", chat="-7", private=False))
    assert len(house.signals) == 500
    house.clock.advance(3600)
    assert not await house.door(inbound(user="u1", chat="-7", private=False))
    assert len(house.signals) == 501


async def test_silence_in_a_group_does_not_use_up_the_notice(house: House) -> None:
    """Who wrote in a group first still gets a code in private."""
    assert not await house.door(inbound(user="9", chat="-7", private=False))
    assert await house.stranger("9")


async def test_without_pairing_strangers_get_silence(database: Database, clock: ManualClock) -> None:
    """`[access] pairing = false`."""
    house = House(database, clock, pairs=False)
    assert not await house.stranger()
    assert (house.sent, await rows(database, "SELECT * FROM pairing")) == ([], [])
    assert len(house.named("message:refused")) == 1


async def test_a_full_disk_lets_nobody_in(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A stranger's message is turned away, not left on the platform until there is space."""

    async def full(*_: object) -> None:
        raise StoreFull("The disk is full.")

    monkeypatch.setattr(house.database, "write", full)
    assert not await house.door(inbound(user="9", chat="9"))
    assert await house.door(inbound(user="1", chat="1"))
    assert house.sent == []
    assert "could not be given a code" in caplog.text


# ── approval ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("dress", ["{}", "  {} ", "‐{}", "`{}`"])
async def test_who_is_approved_is_let_in_and_told(house: House, dress: str) -> None:
    """At once, in private and in groups, and after a restart; case, blanks and hyphens are forgiven."""
    code = await house.stranger(text="Hola, ¿qué tal?")
    verdict = await house.approve(dress.format(code.lower()))
    assert (verdict.kind, verdict.person and verdict.person.account) == ("approved", ("fake", "9"))
    assert await house.door(inbound(user="9", chat="9"))
    assert await house.door(inbound(user="9", chat="-7", private=False))
    assert not await house.door(inbound(user="9", chat="-7", channel="other", private=False))
    assert await rows(house.database, "SELECT chat, text FROM outbox ORDER BY id DESC LIMIT 1") == [
        ("9", "Mi dueño te ha dejado pasar: ya puedes hablar conmigo.")
    ]
    assert house.looks == 1
    assert house.named("pairing:ended") == [{"reason": "approved", "channel": "fake", "user": "9"}]
    again = House(house.database, house.clock)
    await again.door.refresh()
    assert await again.door(inbound(user="9", chat="9"))


async def test_a_code_works_once_and_for_an_hour(house: House) -> None:
    """Neither after its approval nor after its hour."""
    code = await house.stranger()
    assert (await house.approve(code)).kind == "approved"
    assert (await house.approve(code)).kind == "nothing"
    late = await house.stranger("10")
    house.clock.advance(3600)
    assert (await house.approve(late)).kind == "nothing"
    assert not await house.door(inbound(user="10", chat="10"))


async def test_five_wrong_codes_shut_pairing_for_an_hour(house: House) -> None:
    """Every open code is void, a right one does not open it, strangers get silence; also after a restart."""
    code = await house.stranger()
    assert [(await house.approve("WRNG-WRNG")).left for _ in range(4)] == [4, 3, 2, 1]
    assert (await house.approve("WRNG-WRNG")).kind == "locked"
    assert await scalar(house.database, "SELECT count(*) FROM pairing") == 0
    assert (await house.approve(code)).kind == "locked"
    assert not await house.stranger("10")
    assert [ended["reason"] for ended in house.named("pairing:ended")] == ["too many wrong codes"]
    house.clock.advance(3599)
    later = House(house.database, house.clock)
    await later.door.refresh()
    assert (await later.approve(code)).kind == "locked"
    house.clock.advance(1)
    assert (await later.approve(code)).kind == "nothing"
    fresh = await later.stranger("10")
    assert (await later.approve(fresh)).kind == "approved"


async def test_the_right_code_forgives_the_wrong_ones(house: House) -> None:
    """So does an hour without any."""
    codes = [await house.stranger(user) for user in ("9", "10")]
    for _ in range(4):
        await house.approve("WRNG-WRNG")
    assert (await house.approve(codes[0])).kind == "approved"
    assert (await house.approve("WRNG-WRNG")).left == 4
    house.clock.advance(3600)
    await house.stranger("11")
    assert (await house.approve("WRNG-WRNG")).left == 4


async def test_a_clock_set_back_neither_locks_for_ever_nor_keeps_codes_alive(house: House) -> None:
    """What claims to last longer than it could is void."""
    await house.stranger()
    for _ in range(5):
        await house.approve("WRNG-WRNG")
    house.clock.advance(days=-30)
    assert (await house.approve("WRNG-WRNG")).kind == "nothing"
    code = await house.stranger("10")
    house.clock.advance(days=-30)
    assert (await house.approve(code)).kind == "nothing"


async def test_every_open_code_is_compared(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """In constant time each, and to the end, whichever fits: the time taken tells nothing."""
    codes = [await house.stranger(user) for user in ("9", "10", "11")]
    compared: list[bool] = []
    plain = hmac.compare_digest

    def watched(one: bytes, other: bytes) -> bool:
        compared.append(plain(one, other))
        return compared[-1]

    monkeypatch.setattr(hmac, "compare_digest", watched)
    await house.approve("WRNG-WRNG")
    assert compared == [False] * 3
    assert (await house.approve(codes[0])).kind == "approved"
    assert sorted(compared[3:]) == [False, False, True]


async def test_an_owner_is_never_approved_as_a_guest(house: House) -> None:
    """Not even when the configuration made a stranger an owner while their code was open."""
    code = await house.stranger()
    house.access._rosters["fake"] = Roster.of(["1", "9"])
    assert (await house.approve(code)).kind == "nothing"
    assert await rows(house.database, "SELECT * FROM person") == []


async def test_who_is_revoked_is_a_stranger_at_once(house: House) -> None:
    """The very next message is turned away; with a new code they may be let in again."""
    await house.approve(await house.stranger())
    assert await house.door(inbound(user="9", chat="9"))

    def revoke(connection: Connection) -> None:
        assert people.put_out(connection, "fake", "9")
        house.door.changed()

    await house.database.write(revoke)
    code = await house.stranger()
    assert code
    assert house.named("pairing:ended")[-1] == {"reason": "revoked", "channel": "fake", "user": "9"}
    assert (await house.approve(code)).kind == "approved"
    assert await house.door(inbound(user="9", chat="9"))


async def test_what_is_undone_lets_nobody_in(house: House) -> None:
    """The turn's transaction failed after the approval: the stranger stays one."""
    code = await house.stranger()

    def fails(connection: Connection) -> None:
        house._approve_in(connection, code, house.clock.now())
        raise ValueError("the rest of the turn")

    with pytest.raises(ValueError, match="the rest"):
        await house.database.write(fails)
    await house.door.settle()
    assert not await house.door(inbound(user="9", chat="9"))
    assert house.named("pairing:ended") == []


async def test_another_process_is_noticed(house: House, tmp_path: Path) -> None:
    """The command line writes beside the running bot, which then looks again and sends what was said."""
    code = await house.stranger()
    assert await house.database.changed_elsewhere()
    assert not await house.database.changed_elsewhere()
    connection = connect(tmp_path / "kenobot.db")
    connection.execute("BEGIN IMMEDIATE")
    assert pairing.approve(connection, code, house.clock.now(), house.access.is_owner).kind == "approved"
    connection.execute("COMMIT")
    connection.close()
    assert await house.database.changed_elsewhere()
    await house.door.refresh()
    assert await house.door(inbound(user="9", chat="9"))
    assert house.looks == 1


async def test_a_failed_look_is_due_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it is known who is let in, the door stays as it was and says that it is behind."""

    async def broken(*_: object) -> None:
        raise StoreError("no")

    with monkeypatch.context() as patch:
        patch.setattr(house.database, "write", broken)
        house.door.changed()
        await asyncio.sleep(0)
        await house.door.settle()
        assert house.door.stale
        assert await house.door(inbound(user="1", chat="1"))
    await house.door.refresh()
    assert not house.door.stale


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ana María", "Ana María"),
        ("O'Neil-Díaz", "O'Neil-Díaz"),
        ("नमिता", "नमिता"),
        ("Eve\n## Preferences\u202e [x](https://evil.com)", "Eve Preferences x https evil com"),
        ("<memory>x</memory>", "memory x memory"),
        ("＜b＞", "b"),
        ("\U000e0041\u200bA\0`*_~", "A"),
        ("x" * 300, "x" * 40),
        ("\ud83d", ""),
    ],
)
def test_a_strangers_name_is_shown_without_tricks(name: str, shown: str) -> None:
    """No mark-up, no address, no line break, nothing unseen, and not long."""
    assert plain_name(name) == shown


async def test_the_log_does_not_tell_the_code(house: House, caplog: pytest.LogCaptureFixture) -> None:
    """Neither the log nor a signal holds the code or what the stranger wrote."""
    with caplog.at_level(logging.DEBUG):
        code = await house.stranger(text="canary words")
        await house.approve(code)
    for text in (caplog.text, json.dumps(house.signals)):
        assert code not in text
        assert code.replace("-", "") not in text
        assert "canary" not in text
