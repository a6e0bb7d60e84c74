#!/bin/sh
# The MCP SDK's OAuth client takes tokens out of its storage for good however old they are: `expires_in` is counted only
# from an answer of this process. So after a restart an expired access token is sent, and on the 401 a person is sent to
# the browser again (RFC 6749, 1.5 has the client refresh then), though a refresh token is there that the server takes.
# Exits 0 while that is so, 1 once it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check mcp==2.3.0
cd "$folder"
"$folder/venv/bin/python" - <<'END'
import asyncio
import logging
import sys
from importlib.metadata import version

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)
base = "http://127.0.0.1:1"
back = "http://127.0.0.1:2/callback"
metadata = OAuthClientMetadata(redirect_uris=[back], token_endpoint_auth_method="none")
asked = []


class Storage:
    """What an earlier process stored an hour ago: an access token for a minute, and a refresh token."""

    async def get_tokens(self):
        return OAuthToken(access_token="old", refresh_token="good", expires_in=60)

    async def set_tokens(self, tokens):
        pass

    async def get_client_info(self):
        return OAuthClientInformationFull(client_id="c", redirect_uris=[back], token_endpoint_auth_method="none")

    async def set_client_info(self, client_info):
        pass


def serve(request):
    """A server that refreshes, and takes the new token alone."""
    path = request.url.path
    asked.append(f"{request.method} {path}")
    if path == "/token" and b"refresh_token=good" in request.content:
        return httpx2.Response(200, json={"access_token": "new", "token_type": "Bearer", "expires_in": 60})
    if path == "/.well-known/oauth-authorization-server":
        ends = {"authorization_endpoint": f"{base}/authorize", "token_endpoint": f"{base}/token"}
        return httpx2.Response(200, json={"issuer": base, "response_types_supported": ["code"], **ends})
    if path == "/mcp":
        return httpx2.Response(200 if request.headers.get("authorization") == "Bearer new" else 401)
    return httpx2.Response(404)


class SentToBrowser(Exception):
    pass


async def redirect(address):
    raise SentToBrowser


async def wait_for_code():
    raise AssertionError("nobody was sent anywhere")


async def main():
    auth = OAuthClientProvider(f"{base}/mcp", metadata, Storage(), redirect, wait_for_code)
    async with httpx2.AsyncClient(auth=auth, transport=httpx2.MockTransport(serve)) as client:
        try:
            return (await client.post(f"{base}/mcp")).status_code
        except SentToBrowser:
            return "the person is sent to the browser"


end = asyncio.run(main())
print("mcp", version("mcp"), "-", end, "- requests:", asked)
sys.exit(not (end == "the person is sent to the browser" and "POST /token" not in asked))
END
