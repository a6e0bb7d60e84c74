"""What IRC's servers and bouncers take for one name, and for a person."""

import pytest

from kenobot.ports.messages import MessagePart, TextEntity
from kenobot_irc.settings import IrcSettings
from kenobot_irc.wire import fold, is_person, protocol_lines, room_for_text, strip_formatting


@pytest.mark.parametrize(
    ("casemapping", "one", "other"),
    [
        ("", "#Home[1]\\~", "#home{1}|^"),
        ("rfc1459", "[~Ana~]", "{^ana^}"),
        ("strict-rfc1459", "#A[~", "#a{~"),
        ("ascii", "#HOME[1]", "#home[1]"),
        ("rfc8265", "#ÉCOLE", "#école"),
    ],
)
def test_a_server_says_which_letters_are_the_same(casemapping: str, one: str, other: str) -> None:
    """CASEMAPPING of RPL_ISUPPORT, draft-hardy-irc-isupport-00; without it, RFC 1459's."""
    assert fold(one, casemapping) == fold(other, casemapping)


@pytest.mark.parametrize(
    ("casemapping", "one", "other"),
    [("ascii", "#home[1]", "#home{1}"), ("strict-rfc1459", "a~", "a^"), ("rfc1459", "#É", "#é"), ("", "#a-", "#a_")],
)
def test_other_letters_are_not(casemapping: str, one: str, other: str) -> None:
    """draft-hardy-irc-isupport-00; ngircd 26.1 is one with ascii."""
    assert fold(one, casemapping) != fold(other, casemapping)


def test_a_room_in_the_settings_keeps_the_letters_that_servers_tell_apart() -> None:
    """Under another name it would be another room: ngircd 26.1 with CASEMAPPING=ascii."""
    assert IrcSettings.model_validate({"join": ["#ÉCOLE"]}).join == ["#École"]


@pytest.mark.parametrize("source", ["ana!a@b", "[ana]!a@b", "_ana!~a@b", "`a!a@b", "7of9!a@b", "ñandú!a@b", "🦉!a@b"])
def test_whoever_has_a_nick_may_be_a_person(source: str) -> None:
    """RFC 2812, 2.3.1, and what servers take beside that."""
    assert is_person(source)


@pytest.mark.parametrize(
    "source",
    [
        "*status!znc@znc.in",
        "*playback!znc@znc.in",
        "***!znc@znc.in",
        "zstatus!znc@znc.in",
        "-psyBNC!psyBNC@lam3rz.de",
        "irc.example.org",
        "",
    ],
)
def test_a_bouncer_and_a_server_are_none(source: str) -> None:
    """ZNC 1.8.2, with StatusPrefix as it comes, and as an owner sets it; psyBNC 2.4."""
    assert not is_person(source)


def test_the_mask_and_the_target_take_room_from_the_text() -> None:
    """RFC 2812, 2.3: 512 bytes in all, with the end of the line; in a script of several bytes, too."""
    mask, target = f"{'k' * 30}!~{'k' * 10}@{'h' * 64}", f"#{'r' * 199}"
    room = room_for_text(mask, target)
    lines = protocol_lines(MessagePart("ñ" * 400, (TextEntity("bold", 0, 400),)), room)
    assert "".join(strip_formatting(line) for line in lines) == "ñ" * 400
    assert max(len(f":{mask} PRIVMSG {target} :{line}\r\n".encode()) for line in lines) <= 512
    assert room_for_text("k!k@h", "#r") == 360
