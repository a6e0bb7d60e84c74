"""Addresses and proxies are checked before anything is built with them."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.core.network import building_client, check_address, check_environment
from kenobot.ports.errors import ConfigError

TEXTS = st.text(st.sampled_from("htps:/[]@.%?#a1é 日\\\n"), max_size=30) | st.text(max_size=30)


@given(TEXTS, st.sampled_from(["", "http://", "https://"]))
def test_an_address_that_passes_can_be_asked(text: str, scheme: str) -> None:
    """Whatever a person writes, an HTTP client makes a request of what was let through."""
    try:
        address = check_address(scheme + text)
    except ValueError:
        return
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL as error:
        assert "IDNA" in str(error)  # letters that no name of a host has: the look-up says so
    else:
        assert url.scheme in ("http", "https") and url.host


@pytest.mark.parametrize(
    "address",
    [
        "https://api.telegram.org/bot",
        "http://127.0.0.1:8081/bot",
        "http://[::1]:8081",
        "http://bücher.example",
        "http://my_host",
    ],
)
def test_addresses_that_there_are_pass(address: str) -> None:
    """By name, by number, in any script."""
    assert check_address(address) == address


@given(TEXTS, st.sampled_from(["", "http://", "socks5://", "socks5h://"]))
def test_a_proxy_that_passes_makes_a_client(text: str, scheme: str) -> None:
    """Otherwise the start is refused by ConfigError, which holds nothing of the value."""
    environ = {"ALL_PROXY": scheme + text}
    with pytest.MonkeyPatch.context() as patch:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
            patch.delenv(name, raising=False)
        if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            return
        patch.setenv("ALL_PROXY", environ["ALL_PROXY"])
        try:
            with building_client():
                httpx.AsyncClient()
        except ConfigError as error:
            assert "ALL_PROXY" in str(error)


def test_a_password_of_a_proxy_is_not_repeated() -> None:
    """The line names the variable alone."""
    with pytest.raises(ConfigError) as caught:
        check_environment({"https_proxy": "ftp://user:sesame@host:1"})
    assert "sesame" not in str(caught.value) and "https_proxy" in str(caught.value)


def test_the_lower_case_spelling_counts() -> None:
    """As it does for the clients."""
    check_environment({"https_proxy": "http://host:1", "HTTPS_PROXY": "no proxy at all"})
    check_environment({"ALL_PROXY": "", "all_proxy": ""})
