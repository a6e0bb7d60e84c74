"""A ZNC, which stays on a server for the bot, and tells it later what was said there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.integration.channels.processes import answers, free_port, program, running

USER, PASSWORD = "keno/home", "hunter2"
_CONFIG = """
Version = 1.8.2
ConnectDelay = 1
ServerThrottle = 1
<Listener l>
  Port = {port}
  Host = 127.0.0.1
  IPv4 = true
  IPv6 = false
  SSL = false
</Listener>
<User keno>
  Pass = plain#{password}
  Nick = kenobot
  Ident = kenobot
  RealName = kenobot
  AutoClearChanBuffer = false
  AutoClearQueryBuffer = false
  <Network home>
    Server = 127.0.0.1 {server}
    <Chan #home>
    </Chan>
  </Network>
</User>
"""


@contextmanager
def znc(folder: Path, server: int) -> Iterator[int]:
    """A bouncer on the server at that port, whose buffers are kept; yields its own port."""
    port = free_port()
    (folder / "configs").mkdir()
    (folder / "configs" / "znc.conf").write_text(_CONFIG.format(port=port, server=server, password=PASSWORD))
    with running([program("znc"), "-f", "-r", "-d", str(folder)], folder, lambda: answers(port)):
        yield port
