"""Addresses are checked by themselves, before a name is looked up."""

from ipaddress import ip_address

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.tools.web.address import AddressRefused, Reach, check_url, is_public
from tests.cases import each

HOSTILE = {
    "scheme": """file:///etc/passwd ftp://example.com/ gopher://example.com/_x javascript:alert(1) data:text/html,x
        //example.com/ example.com ws://example.com/ unix:///run/docker.sock dict://example.com:11211/""",
    "host": """http://localhost/ http://LOCALHOST:8080/ http://localhost./ http://a.localhost/ http://printer/
        http://nas.local/ http://router.lan/ http://metadata.google.internal/computeMetadata/v1/ http://x.home.arpa/
        http://127.0.0.1/ http://127.1/ http://127.0.1/ http://2130706433/ http://0x7f000001/ http://0x7f.1/
        http://0x7f.0.0.0x1/ http://017700000001/ http://127.0.0.1./ http://127。0。0。1/ http://127.0.0。1/
        http://0/ http://0.0.0.0/ http://0x0/ http://10.0.0.1/ http://172.16.0.1/ http://192.168.1.1/ http://3232235777/
        http://169.254.169.254/latest/meta-data http://169.254.43518/ http://2852039166/ http://100.64.0.1/
        http://100.100.100.200/ http://168.63.129.16/ http://192.0.0.192/ http://198.18.0.1/ http://224.0.0.1/
        http://255.255.255.255/ http://240.0.0.1/ http://[::1]/ http://[::]/ http://[0:0:0:0:0:0:0:1]/
        http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]/ http://[::ffff:169.254.169.254]/ http://[::127.0.0.1]/
        http://[64:ff9b::7f00:1]/ http://[64:ff9b::a9fe:a9fe]/ http://[64:ff9b:1::7f00:1]/ http://[2002:7f00:1::]/
        http://[2001:0:7f00:1::]/ http://[fe80::1]/ http://[fe80::1%25eth0]/ http://[2606:4700::1111%25eth0]/
        http://[fc00::1]/ http://[fd00:ec2::254]/ http://[fec0::1]/ http://[ff02::1]/ http://[2001:db8::1]/
        http://localhost%2e/ http://127.0.0.1%00.example.com/ http://ex%61mple.com/ http://a..example.com/ http://xn--/
        http:/127.0.0.1/ http:127.0.0.1 http:///etc/passwd http://0x/ http://1.2.3.4.5/ http://99999999999/""",
    "form": """http://user:pw@example.com/ http://@example.com/ http://example.com@127.0.0.1/ http://127.0.0.1@example.com/
        http://example.com\\@127.0.0.1/ http:\\\\127.0.0.1/ http://１２７.0.0.1/ http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/ http://0177.0.0.1/
        http://256.1.1.1/ http://[::1 http://example.com:80:80/ http://[1.2.3.4]/
        http://127.0.0.1\\.example.com/ http://example.com:8o/""",
    "port": """http://example.com:22/ http://example.com:8080/ http://example.com:443/ https://example.com:80/
        http://8.8.8.8:6379/ https://example.com:65535/ http://example.com:99999999/""",
}
HARMLESS = {
    "https://example.com": "example.com",
    "HTTPS://Example.COM:443/A?b=c#d": "example.com",
    "http://example.com:80": "example.com",
    "http://example.com./x": "example.com",
    "https://münchen.de/straße?q=käse und brot": "xn--mnchen-3ya.de",
    "https://日本語.jp/": "xn--wgv71a119e.jp",
    "https://localhost.example.com/": "localhost.example.com",
    "https://internal.example.com/127.0.0.1": "internal.example.com",
    "https://example.com/?to=http://user:pw@127.0.0.1/": "example.com",
    "https://example.com#@127.0.0.1/": "example.com",
    "https://my_host.example.com/~ana/": "my_host.example.com",
    "http://8.8.8.8/": "8.8.8.8",
    "https://[2606:4700:4700::1111]/": "2606:4700:4700::1111",
    "https://3d.0x0.st/": "3d.0x0.st",
    " https://example.com/a,b(c)\n": "example.com",
    "https://10.example.com/": "10.example.com",
}


@each(("fault", "url"), [(fault, url) for fault, urls in HOSTILE.items() for url in urls.split()])
def test_an_address_that_leads_elsewhere_than_to_the_public_web_is_refused(fault: str, url: str) -> None:
    """However it is spelt, and with the part that is wrong."""
    with pytest.raises(AddressRefused) as refusal:
        check_url(url, Reach())
    assert refusal.value.fault == fault


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1\t/", "http://exa\nmple.com/", "http://example.com/\r\nX: y", "", "\ud800"]
)
def test_control_characters_are_refused(url: str) -> None:
    """They end a line of a request, or are left out by other parsers."""
    with pytest.raises(AddressRefused):
        check_url(f"{url}x", Reach())


@pytest.mark.parametrize(("url", "host"), HARMLESS.items())
def test_an_address_of_the_public_web_passes(url: str, host: str) -> None:
    """Also one that has the looks of another kind."""
    assert check_url(url, Reach()).host == host


@pytest.mark.parametrize(
    ("url", "is_allowed"),
    [
        ("http://192.168.1.5/", True),
        ("http://192.168.1.5:8080/", False),
        ("http://wiki.home:8080/x", True),
        ("http://wiki.home/", False),
        ("https://wiki.home:8080/", True),
        ("http://WIKI.home.:8080/", True),
        ("http://other.wiki.home:8080/", False),
        ("http://[fd00::1]/", True),
        ("ftp://192.168.1.5/", False),
        ("http://u:p@192.168.1.5/", False),
    ],
)
def test_a_host_that_the_owner_named_may_be_on_a_network_of_its_own(url: str, is_allowed: bool) -> None:
    """It alone, at the port that is named."""
    reach = Reach(frozenset({"192.168.1.5", "wiki.home:8080", "fd00::1"}))
    try:
        assert check_url(url, reach).is_own and is_allowed
    except AddressRefused:
        assert not is_allowed


@given(st.ip_addresses())
def test_an_address_within_another_is_as_public_as_the_inner_one(address: object) -> None:
    """NAT64 translates to IPv4; mapped and compatible addresses are no addresses of the web."""
    ip = ip_address(str(address))
    if ip.version == 4:
        assert is_public(ip_address(f"64:ff9b::{ip}")) == is_public(ip)
        assert not is_public(ip_address(f"::ffff:{ip}"))
    if is_public(ip):
        assert ip.is_global and not (ip.is_private or ip.is_loopback or ip.is_link_local or ip.is_multicast)


@given(
    st.text(st.sampled_from("htps:/[]@.%?#a1x0é。日\\\n -"), max_size=24), st.sampled_from(["", "http://", "https://"])
)
def test_whatever_a_model_writes_is_refused_in_words_or_can_be_asked(text: str, scheme: str) -> None:
    """And the host that is asked is the host that was checked."""
    try:
        target = check_url(scheme + text, Reach())
    except AddressRefused as error:
        assert str(error)
        return
    assert target.url == httpx.URL(str(target.url))
    assert target.url.raw_host.decode().removesuffix(".") == target.host
