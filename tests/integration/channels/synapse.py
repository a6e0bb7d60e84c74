"""A synapse, and people who talk on it."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from tests.integration.channels.mail_servers import Certificate
from tests.integration.channels.processes import answers, free_port, program, running

_CONFIG = """
server_name: example.org
pid_file: {folder}/pid
listeners:
  - {{port: {port}, type: http, tls: {tls}, bind_addresses: ["127.0.0.1"], resources: [{{names: [client, media]}}]}}
database: {{name: sqlite3, args: {{database: ":memory:"}}}}
media_store_path: {folder}/media
signing_key_path: {folder}/signing.key
report_stats: false
enable_registration: true
enable_registration_without_verification: true
macaroon_secret_key: x
form_secret: x
suppress_key_server_warning: true
trusted_key_servers: []
url_preview_enabled: false
bcrypt_rounds: 4
rc_message: &many {{per_second: 10000, burst_count: 10000}}
rc_registration: *many
rc_login: {{address: *many, account: *many, failed_attempts: *many}}
rc_joins: {{local: *many, remote: *many}}
rc_invites: {{per_room: *many, per_user: *many, per_issuer: *many}}
rc_room_creation: *many
"""
_LIMITS = httpx.Limits(max_keepalive_connections=0)  # nothing stays open
PASSWORD = "hunter2-hunter2"


@contextmanager
def synapse(folder: Path, certificate: Certificate | None = None) -> Iterator[str]:
    """A homeserver; yields its address. certificate: for `localhost`; it speaks TLS then."""
    port, config = free_port(), folder / "homeserver.yaml"
    text = _CONFIG.format(folder=folder, port=port, tls=str(certificate is not None).lower())
    if certificate is not None:
        text += f"tls_certificate_path: {certificate.file}\ntls_private_key_path: {certificate.key}\n"
    config.write_text(text)
    command = [program("synapse_homeserver", "SYNAPSE_HOMESERVER"), "-c", str(config)]
    key = b"ed25519 a_test 8cKyMiI0u6jqhrlTVb0Lg+YpQoGmHPjRDsTQNTkSQ0A\n"
    (folder / "signing.key").write_bytes(key)
    with running(command, folder, lambda: answers(port)):
        yield f"http://127.0.0.1:{port}" if certificate is None else f"https://localhost:{port}"


class Person:
    """An account, made anew."""

    _count = itertools.count()

    def __init__(self, address: str, name: str) -> None:
        self.http = httpx.Client(base_url=f"{address}/_matrix/client/v3", timeout=60, limits=_LIMITS)
        self.name = name
        body = {"username": name, "password": PASSWORD, "auth": {"type": "m.login.dummy"}}
        made = self.http.post("/register", json=body).raise_for_status().json()
        self.id = made["user_id"]
        self.http.headers["Authorization"] = f"Bearer {made['access_token']}"

    def room(self, *others: str, **more: object) -> str:
        """Make a room and invite others."""
        body = {"invite": list(others), "preset": "trusted_private_chat", **more}
        return str(self.http.post("/createRoom", json=body).raise_for_status().json()["room_id"])

    def say(self, room: str, text: str, **more: object) -> str:
        """Write into a room; returns the event's id."""
        return self.put(room, "m.room.message", {"msgtype": "m.text", "body": text, **more})

    def put(self, room: str, kind: str, content: object) -> str:
        """Send an event."""
        path = f"/rooms/{quote(room)}/send/{kind}/{next(self._count)}"
        return str(self.http.put(path, json=content).raise_for_status().json()["event_id"])

    def do(self, room: str, what: str, **body: object) -> None:
        """Join or leave a room, or invite into it."""
        self.http.post(f"/rooms/{quote(room)}/{what}", json=body).raise_for_status()

    def people(self, room: str) -> set[str]:
        """Who is in a room."""
        return set(self.http.get(f"/rooms/{quote(room)}/joined_members").raise_for_status().json()["joined"])

    def heard(self, room: str) -> list[dict[str, Any]]:
        """The contents of the messages in a room, oldest first."""
        query: dict[str, str | int] = {"dir": "b", "limit": 100}
        found = self.http.get(f"/rooms/{quote(room)}/messages", params=query).raise_for_status().json()["chunk"]
        return [event["content"] for event in found[::-1] if event["type"] in ("m.room.message", "m.reaction")]

    def heard_since(self, room: str, at: str = "") -> tuple[list[dict[str, Any]], str]:
        """The messages in a room after the place `at`, as events, oldest first; and the place to go on from."""
        query: dict[str, str | int] = {"dir": "f", "limit": 100, **({"from": at} if at else {})}
        found = self.http.get(f"/rooms/{quote(room)}/messages", params=query).raise_for_status().json()
        events = [event for event in found["chunk"] if event["type"] == "m.room.message"]
        return events, str(found.get("end", at))

    def upload(self, content: bytes) -> str:
        """Store a file; returns its address."""
        address = f"{str(self.http.base_url).partition('/_matrix')[0]}/_matrix/media/v3/upload"
        return str(self.http.post(address, content=content).raise_for_status().json()["content_uri"])
