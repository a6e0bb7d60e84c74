"""The servers that nobody here wrote."""

from collections.abc import Iterator

import pytest

from tests.integration.providers import aimock as server
from tests.integration.providers.aimock import AiMock


@pytest.fixture(scope="session")
def aimock_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AiMock]:
    """One for all tests: it takes half a second to start."""
    if reason := server.missing():
        pytest.skip(f"aimock: {reason}")
    with server.running(tmp_path_factory.mktemp("aimock")) as running:
        yield running


@pytest.fixture
def aimock(aimock_server: AiMock) -> Iterator[AiMock]:
    """The server, whole again afterwards."""
    yield aimock_server
    aimock_server.mend()
