"""The XMPP channel on a prosody that keeps messages, under ids of its own (XEP-0313, XEP-0359)."""

from collections.abc import Iterator

import pytest

pytest.importorskip("slixmpp")

from tests.integration.channels import test_xmpp
from tests.integration.channels.prosody import prosody


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """One server for all tests of this file."""
    with prosody(tmp_path_factory.mktemp("prosody"), "ana", *test_xmpp.BOTS, archives=True) as port:
        yield port


@pytest.mark.slow
class TestXmppWithArchive(test_xmpp.TestXmpp):
    """The suite."""
