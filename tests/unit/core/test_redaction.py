"""Things that must never be written down."""

import importlib.util
import re

import pytest

from kenobot.core import redaction
from kenobot.core.redaction import REDACTED, Redactor, find_secret
from tests.cases import each
from tests.cost import assert_linear

_SECRETS = [
    ("123456789:AAFd3kq9ZxcVbnmAsdfGhjkLqwertyUiop0", "a Telegram bot token"),
    ("sk-ant-api03-abcdefghijklmnop", "an API key"),
    ("sk-proj-0123456789abcdefghij", "an API key"),
    ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "a GitHub token"),
    ("github_pat_0123456789abcdefghijABCDEFGHIJ", "a GitHub token"),
    ("AKIAIOSFODNN7EXAMPLE", "a cloud key"),
    ("AIzaSyA-1234567890abcdefghijklmnopqrstu", "a cloud key"),
    ("xoxb-123456789012-abcdefghij", "a Slack token"),
    ("-----BEGIN RSA PRIVATE KEY-----", "a private key"),
    ("-----BEGIN PRIVATE KEY-----", "a private key"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop", "a web token"),
    ("my password is hunter2", "a password"),
    ("password: s3cr3t!", "a password"),
    ("Mi contraseña es gato123", "a password"),
    ("la clave: perro99", "a password"),
    ("API_KEY=abc123def", "a password"),
    ("DB_PASSWORD=hunter2x1", "a password"),
    ("{'SMTP_PASSWORD': 'hunter2x1'}", "a password"),
    ("aws_secret_access_key = wJalrXUtnFEMI9", "a password"),
    ("The password for the office wifi is hunter2x1", "a password"),
    ("la clave del wifi es perro99", "a password"),
    ("la contraseña de la caja fuerte es gato123", "a password"),
    ("refresh_token=abc123def", "a password"),
    ("postgres://keno:s3cret@db.example/keno", "a password in an address"),
    ("redis://:s3cret@cache", "a password in an address"),
    ("Authorization: Bearer abcdefghij0123456789", "a bearer token"),
]


@each(("secret", "kind"), _SECRETS)
def test_a_secret_is_recognised_and_blotted_out(secret: str, kind: str) -> None:
    """Wherever it stands in a text."""
    for text in (secret, f"Please remember {secret} for me.", f"línea uno\n{secret}\nlínea tres"):
        assert find_secret(text) == kind
        assert secret not in Redactor()(text)
        assert REDACTED in Redactor()(text)


@pytest.mark.parametrize(
    "text",
    [
        "hunter2 is my password",
        "Girasol2024 es la clave del wifi",
        "abc-123-def is the new office wifi password, by the way",
        "Remember that gato1234 es mi contraseña",
    ],
)
def test_a_password_that_is_told_the_other_way_round_is_recognised(text: str) -> None:
    """Before it is said what it is."""
    assert find_secret(text) == "a password"


@each(
    "text",
    [
        "",
        "room123 is the room with the password on the wall",
        "1Password is my password manager",
        "MK2-lock is the key box; the password is long",
        "Apollo11 es la misión clave",
        "My favourite colour is blue",
        "I forgot my password",
        "the password is long",
        "the password for the wifi is on the fridge",
        "the password policy is strict since 2024",
        "the secret of good coffee is 92 degrees",
        "the secret of a long life is sleep",
        "la clave del éxito es la paciencia",
        "the bearer of this letter is Adrian",
        "https://example.org:8080/path?q=a@b",
        "write to adrian@example.org: he knows",
        "secretary: room123",
        "clavel=abc123def",
        "La clave es la paciencia",
        "call me at 123456789",
        "ask-me-anything-about-this-long-topic",
        "task-management-is-hard-to-do-well",
        "https://example.org/eyJ",
        "the meeting is at 10:30",
        "ratio 12:AAAA",
        "commit 5f3e2d1c0b9a8f7e6d5c4b3a29180706f5e4d3c2",
    ],
)
def test_plain_talk_is_not_a_secret(text: str) -> None:
    """People speak about passwords and keys without giving them away."""
    assert find_secret(text) is None
    assert Redactor()(text) == text


@pytest.mark.parametrize(
    ("text", "blotted"),
    [
        ("I'll remember: “My password is hunter2xyz”.", "I'll remember: “My [secret]”."),
        ("Lo recordaré: «Mi contraseña es hunter2xyz9».", "Lo recordaré: «Mi [secret]»."),
        ("My password is «hunter2xyz» ok", "My [secret] ok"),
        ("(password: hunter2xyz!), see", "([secret]), see"),
        ("password: hun)ter2xyz”x", "[secret]"),
    ],
)
def test_a_quote_around_a_secret_stays_closed(text: str, blotted: str) -> None:
    """What closes around the whole is no part of the secret; what closes around the secret alone goes with it."""
    assert Redactor([])(text) == blotted


def test_known_secrets_go_whatever_they_look_like() -> None:
    """The longest first, so that no half of one stays behind."""
    redact = Redactor(["hunter22", "hunter2233", "ñandú-key"])
    assert redact("hunter2233 and hunter22, ñandú-key") == f"{REDACTED} and {REDACTED}, {REDACTED}"
    assert redact.redact_known("hunter22 sk-ant-api03-abcdefghijklmnop") == f"{REDACTED} sk-ant-api03-abcdefghijklmnop"


def test_a_short_secret_would_blot_out_ordinary_words() -> None:
    """Values of less than six characters are not looked for."""
    assert Redactor(["", "a", "admin"])("an admin") == "an admin"


def test_the_body_of_a_private_key_goes_with_its_head() -> None:
    """However its lines are broken; what follows it stays."""
    lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2] * 12
    for separator in ("\n", "\r\n", "\\n"):
        key = separator.join(["-----BEGIN PRIVATE KEY-----", *lines, "dGFpbA==", "-----END PRIVATE KEY-----"])
        assert Redactor()(f"before {key} after") == f"before {REDACTED} after"
    assert Redactor()("-----BEGIN PRIVATE KEY----- is how it begins") == f"{REDACTED} is how it begins"


def test_a_known_secret_is_found_as_an_address_spells_it() -> None:
    """Percent signs do not hide it."""
    assert Redactor(["12345678:a/b+c"])("GET /bot12345678%3Aa%2Fb%2Bc/getMe") == f"GET /bot{REDACTED}/getMe"


def test_blotting_twice_is_blotting_once() -> None:
    """What is left holds no secret."""
    for secret, _ in _SECRETS:
        once = Redactor()(f"x {secret} y")
        assert Redactor()(once) == once
        assert find_secret(once) is None


@pytest.mark.parametrize(
    "text",
    [
        "-eyJaaaaaaaa" * 20_000,
        "password is " * 20_000,
        "password is aaaaaa" * 20_000,
        "sk-aaaaaaaaaaa " * 20_000,
        "-----BEGIN " * 20_000,
        "1" * 200_000,
        "clave:" + "1" * 200_000,
        "AKIA" * 50_000,
        "xoxb-" * 50_000,
        "-----BEGIN PRIVATE KEY-----\n" * 8_000,
        ("-----BEGIN PRIVATE KEY-----" + "\n" + "A" * 60) * 3_000,
        "password for a a a " * 12_000,
        "aa://" * 50_000,
        "aa://:aaa" * 25_000,
        "Bearer " * 30_000,
    ],
    ids=range(15),
)
def test_a_hostile_text_costs_linear_time(text: str) -> None:
    """Text that is made to confuse the patterns does not hold up the event loop."""
    assert_linear(find_secret, text[: len(text) // 5])


def test_no_kind_is_missing_while_another_thread_looks_for_the_first_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply that is measured meanwhile is held back by every kind."""
    spec = importlib.util.find_spec(redaction.__name__)
    assert spec is not None and spec.loader is not None
    fresh = importlib.util.module_from_spec(spec)  # as at the start of a process
    spec.loader.exec_module(fresh)
    of, lengths = fresh._OpenEnded.of, list[int]()

    def meanwhile(pattern: re.Pattern[str]) -> object:
        made = of(pattern)
        monkeypatch.setattr(fresh._OpenEnded, "of", of)
        lengths.append(fresh.measure_settled("The key: Bearer abcdefgh1") if len(lengths) else 0)
        if len(lengths) == 1:
            monkeypatch.setattr(fresh._OpenEnded, "of", meanwhile)
        return made

    monkeypatch.setattr(fresh._OpenEnded, "of", meanwhile)
    fresh.measure_settled("Hello")
    assert lengths == [0, len("The key: ")]
