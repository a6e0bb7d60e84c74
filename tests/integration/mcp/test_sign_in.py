"""A server that wants a sign-in gets one from its owner, and tokens that are renewed; nobody sees them."""

import asyncio
import json
import logging
import secrets
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kenobot.core.redaction import REDACTED
from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.errors import ToolFailed
from kenobot.tools.mcp.connection import Hooks, connect
from kenobot.tools.mcp.servers import McpServers
from kenobot.tools.mcp.token_file import TokenFile
from tests.integration.mcp.servers import QuickClock, ask, call, reach
from tests.integration.mcp.test_eras import port

pytestmark = pytest.mark.long

pytest.importorskip("mcp")
uvicorn = pytest.importorskip("uvicorn")

if TYPE_CHECKING:
    from mcp.server.auth.provider import AuthorizationParams
    from mcp.shared.auth import OAuthClientInformationFull

__all__ = ["port"]
_ROOT = Path(__file__).resolve().parents[3]


class Authority:
    """An authorization server that lets in whoever asks. valid: its tokens that count."""

    def __init__(self) -> None:
        self.clients: dict[str, Any] = {}
        self.codes: dict[str, Any] = {}
        self.valid: set[str] = set()
        self.refreshes = 0

    async def get_client(self, client_id: str) -> Any:
        return self.clients.get(client_id)

    async def register_client(self, client_info: "OAuthClientInformationFull") -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: "OAuthClientInformationFull", params: "AuthorizationParams") -> str:
        from mcp.server.auth.provider import AuthorizationCode, construct_redirect_uri

        code = AuthorizationCode(
            code=secrets.token_hex(16),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, _client: object, authorization_code: str) -> Any:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, _client: object, authorization_code: Any) -> Any:
        del self.codes[authorization_code.code]
        return self._issue()

    async def load_refresh_token(self, client: "OAuthClientInformationFull", refresh_token: str) -> Any:
        from mcp.server.auth.provider import RefreshToken

        known = refresh_token in self.valid
        return RefreshToken(token=refresh_token, client_id=client.client_id, scopes=[]) if known else None

    async def exchange_refresh_token(self, _client: object, refresh_token: Any, _scopes: object) -> Any:
        self.valid.discard(refresh_token.token)
        self.refreshes += 1
        return self._issue()

    async def load_access_token(self, token: str) -> Any:
        from mcp.server.auth.provider import AccessToken

        return AccessToken(token=token, client_id="c", scopes=[]) if token in self.valid else None

    async def revoke_token(self, token: Any) -> None:
        self.valid.discard(token.token)

    async def exchange_identity_assertion(self, *_: object) -> Any:
        raise NotImplementedError

    def _issue(self) -> Any:
        from mcp.shared.auth import OAuthToken

        access, refresh = f"access-{secrets.token_hex(16)}", f"refresh-{secrets.token_hex(16)}"
        self.valid |= {access, refresh}
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=3600)


@asynccontextmanager
async def serve(authority: Authority, port: int) -> AsyncIterator[None]:
    """Serve a tool behind an authorization server, both made by others."""
    from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
    from mcp.server.mcpserver import Context, MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.shared.exceptions import MCPError
    from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
    from pydantic import AnyHttpUrl

    base = f"http://127.0.0.1:{port}"
    auth = AuthSettings(
        issuer_url=AnyHttpUrl(base),
        resource_server_url=AnyHttpUrl(f"{base}/mcp"),
        client_registration_options=ClientRegistrationOptions(enabled=True),
        validate_token_resource=False,
    )
    server = MCPServer("house", auth_server_provider=authority, auth=auth)

    def find_token(ctx: Context) -> str:
        assert ctx.headers is not None
        return ctx.headers["authorization"]

    @server.tool()
    def tell(ctx: Context) -> str:
        """Tell what the request came with."""
        return f"you came with {find_token(ctx)}"

    @server.tool()
    def fail(ctx: Context) -> str:
        """Fail for what the request came with."""
        raise ToolError(f"you came with {find_token(ctx)}")

    @server.tool()
    def refuse(ctx: Context) -> str:
        """Refuse the request, in a text that is cut within the token."""
        raise MCPError(-32050, f"{'x' * 150} {find_token(ctx)}")

    @server.tool()
    def ask(ctx: Context) -> str | InputRequiredResult:
        """Ask about what the request came with."""
        schema = {"type": "object", "properties": {"text": {"type": "string"}}}
        params = ElicitRequestFormParams(message=f"you came with {find_token(ctx)}", requested_schema=schema)
        return InputRequiredResult(input_requests={"a": ElicitRequest(params=params)}, request_state="s")

    runner = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), port=port, log_level="error", lifespan="on"))
    task = asyncio.create_task(runner.serve())
    try:
        while not runner.started:
            await asyncio.sleep(0.005)
        yield
    finally:
        runner.should_exit = True
        await task


async def browse(address: str) -> str:
    """Sign in at an address, as a browser would; returns where that ended."""
    import httpx2

    async with httpx2.AsyncClient(trust_env=False) as web:
        answer = await web.get(address)
        assert answer.status_code == 302, answer.text
        return str(answer.headers["location"])


async def sign_in(settings: McpServerSettings, file: TokenFile) -> None:
    """Sign in as `kenobot mcp login` does."""
    from kenobot.tools.mcp.sign_in import StoredSignIn

    ended: list[str] = []

    async def show(address: str) -> None:
        ended.append(await browse(address))

    async def hear() -> str:
        return ended[0]

    async with connect(settings, Hooks(), StoredSignIn(settings.url, file, show=show, hear=hear)) as connection:
        assert "tell" in [tool["name"] for tool in await connection.list_tools()]  # type: ignore[index]


@asynccontextmanager
async def running(settings: McpServerSettings, home: Path) -> AsyncIterator[McpServers]:
    """Have the server connected, as the bot has."""
    servers = McpServers({"house": settings}, home / "cache", home / "mcp", QuickClock(), home)
    servers.begin()
    try:
        yield servers
    finally:
        await servers.aclose()


async def test_tokens_are_kept_used_and_renewed(tmp_path: Path, port: int, caplog: pytest.LogCaptureFixture) -> None:
    """One that has expired is renewed, also after a restart; once that is refused, the owner is told what to do."""
    caplog.set_level(logging.DEBUG)
    settings = McpServerSettings(url=f"http://127.0.0.1:{port}/mcp", seconds=5)
    file, authority = TokenFile(tmp_path, "house", settings.url), Authority()
    async with serve(authority, port):
        async with running(settings, tmp_path) as servers:
            await reach(servers, "down")
            assert servers.states[0].reason == "it wants you to sign in: run `kenobot mcp login house`"
        await sign_in(settings, file)
        assert file.path.stat().st_mode & 0o777 == 0o600
        assert file.path.read_text().count("\n") == 1
        stored = json.loads(file.path.read_text())
        file.save(stored, -1)
        async with running(settings, tmp_path) as servers:
            await reach(servers, "up")
            told = await call(servers, "house_tell")
        assert "you came with Bearer" in told
        assert authority.refreshes == 1
        tokens = json.loads(file.path.read_text())["tokens"]
        authority.valid.clear()
        async with running(settings, tmp_path) as servers:
            await reach(servers, "down")
            with pytest.raises(ToolFailed, match="run `kenobot mcp login house`"):
                await call(servers, "house_tell")
        assert not [each for each in (tokens["access_token"], tokens["refresh_token"]) if each in caplog.text + told]


async def test_a_server_that_tells_its_token_shows_it_to_nobody(tmp_path: Path, port: int) -> None:
    """Not in a result, a failure, a refusal or a question, whole or cut: prompts and replies are made of these."""
    settings = McpServerSettings(url=f"http://127.0.0.1:{port}/mcp", seconds=5)
    file = TokenFile(tmp_path, "house", settings.url)
    async with serve(Authority(), port):
        await sign_in(settings, file)
        token = json.loads(file.path.read_text())["tokens"]["access_token"]
        async with running(settings, tmp_path) as servers:
            await reach(servers, "up")
            told = [await call(servers, "house_tell")]
            for name in ("house_fail", "house_refuse"):
                with pytest.raises(ToolFailed) as failed:
                    await call(servers, name)
                told.append(str(failed.value))
            wanted = await ask(servers, "house_ask")
            told.append(" ".join(field.message for field in wanted.fields))
    assert [each for each in told if token[:12] in each] == []
    assert [REDACTED in each for each in told] == [True] * 4


async def test_the_tokens_of_another_address_are_not_sent(tmp_path: Path) -> None:
    """The settings may lead elsewhere since."""
    TokenFile(tmp_path, "house", "https://a.example.org/mcp").save({"tokens": {"access_token": "x"}}, None)
    assert TokenFile(tmp_path, "house", "https://b.example.org/mcp").load() == {}
    assert TokenFile(tmp_path, "house", "https://a.example.org/mcp").load()["tokens"] == {"access_token": "x"}


async def test_the_command_signs_in_by_a_browser(tmp_path: Path, port: int) -> None:
    """It shows the address, waits for the browser to come back, and shows no token."""
    import httpx2

    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "kenobot.toml").write_text(f'[mcp.house]\nurl = "http://127.0.0.1:{port}/mcp"\n')
    async with serve(Authority(), port):
        login = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "kenobot", "mcp", "login", "house", "--home", str(home)),
            cwd=_ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert login.stderr is not None
        seen = ""
        async with asyncio.timeout(60):
            while not (line := (await login.stderr.readline()).decode()).startswith("http"):
                assert line, seen
                seen += line
            ended = await browse(line.strip())
            async with httpx2.AsyncClient(trust_env=False) as web:
                assert "You can close this window" in (await web.get(ended)).text
            out, more = await login.communicate()
        assert (login.returncode, b"Signed in with house" in out) == (0, True), more
        tokens = json.loads((home / "credentials" / "mcp.house.oauth").read_text())["tokens"]
        assert tokens["access_token"].encode() not in out + more + seen.encode()


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/x", "http://169.254.169.254/latest", "https://[::1]/x"])
async def test_a_server_of_the_web_names_no_private_address_to_sign_in(address: str) -> None:
    """Nothing is sent there; a server of this machine may name others of it, as those of these tests do."""
    import httpx2

    from kenobot.tools.mcp.http import _LimitedTransport

    async with httpx2.AsyncClient(transport=_LimitedTransport("https://8.8.8.8/mcp")) as client:
        with pytest.raises(httpx2.ConnectError, match="private network"):
            await client.get(address)
