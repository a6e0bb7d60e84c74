"""The client conforms to the protocol, by the suite of its authors."""

import sys
from pathlib import Path

import pytest

from tests.integration.mcp import suite_client
from tests.integration.mcp.suite import run_suite

pytestmark = pytest.mark.long

pytest.importorskip("mcp")

_ROOT = Path(__file__).resolve().parents[3]
_SCENARIOS = (
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
)


@pytest.mark.parametrize("scenario", _SCENARIOS)
async def test_the_client_conforms(scenario: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Left out: an id by an address of the client's own, of which it has none, and metadata under a false issuer."""
    monkeypatch.setenv("PYTHONPATH", str(_ROOT))
    command = f"{sys.executable} -m {suite_client.__name__}"
    told = await run_suite("client", "--command", command, "--scenario", scenario)
    assert "OVERALL: PASSED" in told, told
