"""A prosody with the accounts that are needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
modules_enabled = {{ "roster", "saslauth", "disco", "ping", "smacks", "offline", "presence", "message", "iq", "c2s" }}
modules_disabled = {{ "s2s" }}
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
def prosody(folder: Path, *names: str) -> Iterator[int]:
    """A server with accounts of these names; yields its port."""
    port, accounts = free_port(), folder / "data" / "localhost" / "accounts"
    accounts.mkdir(parents=True)
    for name in names:
        (accounts / f"{name}.dat").write_text(f'return {{ ["password"] = "{PASSWORD}" }};\n')
    config = folder / "prosody.cfg.lua"
    config.write_text(_CONFIG.format(folder=folder, port=port))
    with running([program("prosody"), "-F", "--config", str(config)], folder, lambda: answers(port)):
        yield port
