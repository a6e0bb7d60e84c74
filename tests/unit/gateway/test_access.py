"""Who may read and write what."""

import itertools

import pytest

from kenobot.gateway.access import Access, Roster
from kenobot.ports.identity import OWNER_SCOPE, chat_scope, user_scope
from tests.samples import inbound

_ACCESS = Access({"fake": Roster.of(["1", "one"]), "other": Roster.of(["7"])})


def test_the_owner_in_private_reads_and_writes_the_owners_memory() -> None:
    """And what belongs to this chat."""
    rights = _ACCESS.principal(inbound(user="1", chat="1"))
    assert rights.role == "owner"
    assert rights.read_scopes == (OWNER_SCOPE, chat_scope("fake-1"))
    assert (rights.write_scope, rights.trust) == (OWNER_SCOPE, "owner")


def test_the_owner_has_several_accounts() -> None:
    """Each listed id counts, in its own channel only."""
    assert _ACCESS.is_owner("fake", "one")
    assert _ACCESS.is_owner("other", "7")
    assert not _ACCESS.is_owner("fake", "7")
    assert not _ACCESS.is_owner("other", "1")
    assert not _ACCESS.is_owner("unknown", "1")


@pytest.mark.parametrize("user", ["1", "2"])
def test_in_a_group_there_is_only_the_groups_memory(user: str) -> None:
    """Whoever speaks, the owner included: everybody reads along."""
    rights = _ACCESS.principal(inbound(user=user, chat="-100", private=False))
    assert rights.read_scopes == (chat_scope("fake--100"),)
    assert rights.write_scope == chat_scope("fake--100")
    assert (rights.role, rights.trust) == (("owner", "owner") if user == "1" else ("guest", "guest"))


def test_a_guest_has_a_memory_of_their_own() -> None:
    """They read and write it in private, and nobody else's."""
    rights = _ACCESS.principal(inbound(user="2", chat="2"))
    assert rights.read_scopes == (user_scope("fake", "2"), chat_scope("fake-2"))
    assert (rights.role, rights.write_scope, rights.trust) == ("guest", user_scope("fake", "2"), "guest")


@pytest.mark.parametrize("user", ["1", "2"])
@pytest.mark.parametrize("private", [True, False])
def test_a_forwarded_message_is_nobodys_word(user: str, private: bool) -> None:
    """What was written by somebody else is not trusted, whoever passes it on."""
    assert _ACCESS.principal(inbound(user=user, private=private, forwarded=True)).trust == "forward"


def test_only_the_owner_in_private_ever_reads_the_owners_memory() -> None:
    """Of all combinations of channel, sender, kind of chat and forwarding."""
    users = ["1", "one", "7", "2", "", "owner", "chat:owner", " 1", "1\n", "١"]
    for channel, user, private, forwarded in itertools.product(
        ["fake", "other", "x"], users, [True, False], [True, False]
    ):
        rights = _ACCESS.principal(inbound(channel=channel, user=user, private=private, forwarded=forwarded))
        mine = private and (channel, user) in {("fake", "1"), ("fake", "one"), ("other", "7")}
        assert (OWNER_SCOPE in rights.read_scopes) == (rights.write_scope == OWNER_SCOPE) == mine
        assert rights.write_scope in rights.read_scopes


def test_without_owners_there_is_no_owner() -> None:
    """Deny by default."""
    access = Access({"fake": Roster()})
    assert not access.is_owner("fake", "")
    assert access.principal(inbound()).role == "guest"


def test_no_two_people_share_a_memory() -> None:
    """Whatever their ids are made of."""
    ids = ["2", "02", "2 ", "../2", "..-2", "a/b", "a_b", "ñ", "", "-", "owner"]
    scopes = {_ACCESS.principal(inbound(user=user)).write_scope for user in ids}
    assert len(scopes) == len(ids)
