"""A prosody with the accounts that are needed, and people who talk on it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import slixmpp

from tests.integration.channels.processes import answers, free_port, program, running

PASSWORD = "hunter2"
_CONFIG = """
run_as_root = true
pidfile = "{folder}/prosody.pid"
data_path = "{folder}/data"
plugin_paths = {{}}
interfaces = {{ "127.0.0.1" }}
c2s_ports = {{ {port} }}
s2s_ports = {{ }}
s2s_require_encryption = false
modules_enabled = {{
  "roster", "saslauth", "disco", "ping", "smacks", "offline", "presence", "message", "iq", "c2s", "s2s"{more}
}}
c2s_require_encryption = false
allow_unencrypted_plain_auth = true
authentication = "internal_plain"
smacks_hibernation_time = 1
log = {{ {{ levels = {{ min = "info" }}, to = "console" }} }}
VirtualHost "localhost"
Component "rooms.localhost" "muc"
  restrict_room_creation = false
  muc_room_locking = false
"""


@contextmanager
def prosody(folder: Path, *names: str, archives: bool = False) -> Iterator[int]:
    """A server with accounts of these names; yields its port. archives: it keeps messages, under ids of its own."""
    port, accounts = free_port(), folder / "data" / "localhost" / "accounts"
    accounts.mkdir(parents=True)
    for name in names:
        (accounts / f"{name}.dat").write_text(f'return {{ ["password"] = "{PASSWORD}" }};\n')
    config = folder / "prosody.cfg.lua"
    config.write_text(_CONFIG.format(folder=folder, port=port, more=', "mam"' if archives else ""))
    with running([program("prosody"), "-F", "--config", str(config)], folder, lambda: answers(port)):
        yield port


class Person:
    """Writes, and keeps what arrives."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.heard: asyncio.Queue[Any] = asyncio.Queue()
        client.add_event_handler("message", self._hear)

    def _hear(self, message: Any) -> None:
        if message["body"]:
            self.heard.put_nowait(message)

    def say(self, to: str, text: str, kind: str = "chat", number: str = "") -> None:
        """Send a message. number: its id, in place of one that no other message has."""
        message = self.client.make_message(mto=to, mbody=text, mtype=kind)
        message["id"] = number or message["id"]
        message.send()


@asynccontextmanager
async def person(port: int, name: str = "ana", room: str = "", resource: str = "") -> AsyncIterator[Person]:
    """A person who is there. resource: the name of their program, in place of one that the server gives."""
    login = {"feature_mechanisms": {"unencrypted_plain": True, "unencrypted_scram": True}}
    address = f"{name}@localhost" + (f"/{resource}" if resource else "")
    client = slixmpp.ClientXMPP(address, PASSWORD, plugin_config=login)
    client.enable_plaintext, client.enable_starttls, client.enable_direct_tls = True, False, False
    client.register_plugin("xep_0045")
    client.register_plugin("xep_0199")
    client.register_plugin("xep_0308")
    begun = asyncio.Event()
    client.add_event_handler("session_start", lambda _: begun.set())
    someone = Person(client)
    client.connect("127.0.0.1", port)
    async with asyncio.timeout(60):
        await begun.wait()
        await client.get_roster()
        client.send_presence()
        if room:
            await client.plugin["xep_0045"].join_muc_wait(slixmpp.JID(room), name, maxstanzas=0)
        await client.plugin["xep_0199"].send_ping(slixmpp.JID("localhost"))
    try:
        yield someone
    finally:
        await client.disconnect(wait=0.5, ignore_send_queue=True)
        client.abort()
