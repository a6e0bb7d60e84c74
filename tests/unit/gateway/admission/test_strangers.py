"""Who is let in, what strangers get, and what they cost."""

import pytest

from kenobot.gateway import pairing
from kenobot.ports.errors import StoreFull
from kenobot.ports.messages import Inbound
from kenobot.storage.database import Database
from kenobot_testing.clock import ManualClock
from tests.samples import inbound, rows, scalar
from tests.unit.gateway.admission.house import CODE, House


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
    assert house.access.access_level(message) == standing
    assert await house.door.admits(message) == (standing != "stranger")


async def test_a_stranger_in_a_group_gets_silence(house: House) -> None:
    """No notice, no code, no row: only a line in the audit."""
    assert not await house.door.admits(inbound(user="9", chat="-7", private=False))
    assert (house.sent, await rows(house.database, "SELECT * FROM pairing")) == ([], [])
    assert house.signals == [
        ("message:refused", {"reason": "a stranger", "channel": "fake", "chat": "-7", "user": "9"})
    ]


async def test_a_stranger_in_private_gets_a_code_and_the_owner_hears_of_it(house: House) -> None:
    """In the language they write, to be copied with one touch; the signal has a cleaned name and not the code."""
    assert await house.stranger(text="Hola, ¿quién eres?")
    [notice] = house.sent
    assert notice.part.text.startswith("Solo hablo con las personas que mi dueño admite")
    [span] = notice.part.entities
    assert CODE.fullmatch(notice.part.text[span.offset : span.offset + span.length])
    assert house.named("pairing:requested") == [{"channel": "fake", "user": "9", "name": "user 9"}]
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
    one, other = (pairing.new_code(lambda bound: 0 if bound < 256 else next(numbers)) for _ in range(2))
    assert one.code == other.code
    assert one.digest != other.digest


def test_codes_have_no_letters_that_look_alike() -> None:
    """Eight of an alphabet in which no two are taken for each other."""
    for alike in ("0OQ", "1IL", "2Z", "5S", "6G", "8B", "UV"):
        assert len(set(alike) & set(pairing.ALPHABET)) <= 1
    assert pairing.new_code(lambda bound: bound - 1).code == pairing.ALPHABET[-1] * 8
    assert pairing.new_code(lambda bound: 0).code == pairing.ALPHABET[0] * 8


async def test_one_notice_an_hour(house: House) -> None:
    """However often a stranger writes, and after a restart too; then they may ask again."""
    assert await house.stranger()
    for _ in range(50):
        assert not await house.stranger()
    later = House(house.database, house.clock)
    await later.door.refresh()
    assert not await later.stranger()
    assert (len(house.named("message:refused")), len(house.named("pairing:requested"))) == (1, 1)
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
        assert not await house.door.admits(inbound(user=f"u{number}", chat="-7", private=False))
    assert len(house.named("message:refused")) == 500
    assert not await house.door.admits(inbound(user="u1", chat="-7", private=False))
    assert len(house.signals) == 500
    house.clock.advance(3600)
    assert not await house.door.admits(inbound(user="u1", chat="-7", private=False))
    assert len(house.signals) == 501


async def test_silence_in_a_group_does_not_use_up_the_notice(house: House) -> None:
    """Who wrote in a group first still gets a code in private."""
    assert not await house.door.admits(inbound(user="9", chat="-7", private=False))
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
    assert not await house.door.admits(inbound(user="9", chat="9"))
    assert await house.door.admits(inbound(user="1", chat="1"))
    assert house.sent == []
    assert "could not be given a code" in caplog.text
