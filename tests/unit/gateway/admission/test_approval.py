"""Who is approved, who is revoked, and what wrong codes and other processes do."""

import asyncio
import hmac
import json
import logging
from pathlib import Path

import pytest

from kenobot.gateway import pairing
from kenobot.gateway.access import Roster
from kenobot.ports.errors import StoreError
from kenobot.ports.names import sanitize_name
from kenobot.storage import approved_people
from kenobot.storage.connection import Connection, connect
from tests.samples import inbound, rows, scalar
from tests.unit.gateway.admission.house import House


@pytest.mark.parametrize("dress", ["{}", "  {} ", "‐{}", "`{}`"])
async def test_who_is_approved_is_let_in_and_told(house: House, dress: str) -> None:
    """At once, in private and in groups, and after a restart; case, blanks and hyphens are forgiven."""
    code = await house.stranger(text="Hola, ¿qué tal?")
    verdict = await house.approve(dress.format(code.lower()))
    assert (verdict.kind, verdict.person and verdict.person.account) == ("approved", ("fake", "9"))
    assert await house.door.admits(inbound(user="9", chat="9"))
    assert await house.door.admits(inbound(user="9", chat="-7", private=False))
    assert not await house.door.admits(inbound(user="9", chat="-7", channel="other", private=False))
    assert await rows(house.database, "SELECT chat, text FROM outbox ORDER BY id DESC LIMIT 1") == [
        ("9", "Mi dueño te ha admitido: ya podemos hablar.")
    ]
    assert house.looks == 1
    assert house.named("pairing:closed") == [{"reason": "approved", "channel": "fake", "user": "9"}]
    again = House(house.database, house.clock)
    await again.door.refresh()
    assert await again.door.admits(inbound(user="9", chat="9"))


async def test_a_code_works_once_and_for_an_hour(house: House) -> None:
    """Neither after its approval nor after its hour."""
    code = await house.stranger()
    assert (await house.approve(code)).kind == "approved"
    assert (await house.approve(code)).kind == "nothing"
    late = await house.stranger("10")
    house.clock.advance(3600)
    assert (await house.approve(late)).kind == "nothing"
    assert not await house.door.admits(inbound(user="10", chat="10"))


async def test_five_wrong_codes_shut_pairing_for_an_hour(house: House) -> None:
    """Every open code is void, a right one does not open it, strangers get silence; also after a restart."""
    code = await house.stranger()
    assert [(await house.approve("WRNG-WRNG")).tries_left for _ in range(4)] == [4, 3, 2, 1]
    assert (await house.approve("WRNG-WRNG")).kind == "locked"
    assert await scalar(house.database, "SELECT count(*) FROM pairing") == 0
    assert (await house.approve(code)).kind == "locked"
    assert not await house.stranger("10")
    assert [ended["reason"] for ended in house.named("pairing:closed")] == ["too many wrong codes"]
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
    assert (await house.approve("WRNG-WRNG")).tries_left == 4
    house.clock.advance(3600)
    await house.stranger("11")
    assert (await house.approve("WRNG-WRNG")).tries_left == 4


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
    assert await rows(house.database, "SELECT * FROM approved_person") == []


async def test_who_is_revoked_is_a_stranger_at_once(house: House) -> None:
    """The very next message is turned away; with a new code they may be let in again."""
    await house.approve(await house.stranger())
    assert await house.door.admits(inbound(user="9", chat="9"))

    def revoke(connection: Connection) -> None:
        assert approved_people.revoke_person(connection, "fake", "9")

    await house.database.write(revoke)
    house.door.note_command({"people"})
    code = await house.stranger()
    assert code
    assert house.named("pairing:closed")[-1] == {"reason": "revoked", "channel": "fake", "user": "9"}
    assert (await house.approve(code)).kind == "approved"
    assert await house.door.admits(inbound(user="9", chat="9"))


async def test_what_is_undone_lets_nobody_in(house: House) -> None:
    """The turn's transaction failed after the approval: the stranger stays one."""
    code = await house.stranger()

    def fails(connection: Connection) -> None:
        pairing.approve(connection, code, house.clock.now(), house.access.is_owner)
        raise ValueError("the rest of the turn")

    with pytest.raises(ValueError, match="the rest"):
        await house.database.write(fails)
    house.door.note_command({"people"})
    await house.door.wait_refreshed()
    assert not await house.door.admits(inbound(user="9", chat="9"))
    assert house.named("pairing:closed") == []


async def test_another_process_is_noticed(house: House, tmp_path: Path) -> None:
    """The command line writes beside the running bot, which then looks again and sends what was said."""
    code = await house.stranger()
    assert await house.database.has_changed_elsewhere()
    assert not await house.database.has_changed_elsewhere()
    connection = connect(tmp_path / "kenobot.db")
    connection.execute("BEGIN IMMEDIATE")
    assert pairing.approve(connection, code, house.clock.now(), house.access.is_owner).kind == "approved"
    connection.execute("COMMIT")
    connection.close()
    assert await house.database.has_changed_elsewhere()
    await house.door.refresh()
    assert await house.door.admits(inbound(user="9", chat="9"))
    assert house.looks == 1


async def test_a_failed_look_is_due_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it is known who is let in, the door stays as it was and says that it is behind."""

    async def broken(*_: object) -> None:
        raise StoreError("no")

    with monkeypatch.context() as patch:
        patch.setattr(house.database, "write", broken)
        house.door.note_command({"people"})
        await asyncio.sleep(0)
        await house.door.wait_refreshed()
        assert house.door.stale
        assert await house.door.admits(inbound(user="1", chat="1"))
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
    assert sanitize_name(name) == shown


async def test_the_log_does_not_tell_the_code(house: House, caplog: pytest.LogCaptureFixture) -> None:
    """Neither the log nor a signal holds the code or what the stranger wrote."""
    with caplog.at_level(logging.DEBUG):
        code = await house.stranger(text="canary words")
        await house.approve(code)
    for text in (caplog.text, json.dumps(house.signals)):
        assert code not in text
        assert code.replace("-", "") not in text
        assert "canary" not in text
