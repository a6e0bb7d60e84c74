"""An inspircd as networks run it: with penalties, with a history in each channel, with the modes +c and +g."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.integration.channels.processes import answers, free_port, program, running

_MODULES = ("blockcolor", "callerid", "cap", "chanhistory", "cloaking", "conn_umodes", "ircv3_servertime", "md5")
_CONFIG = """
<server name="irc.example.org" description="a test" network="Test" id="1TE">
<admin name="a" nick="a" email="a@example.org">
<bind address="127.0.0.1" port="{port}" type="clients">
<connect allow="*" timeout="60" fakelag="yes" threshold="20" commandrate="200000" modes="{modes}" resolvehostnames="no"
  localmax="100" globalmax="100">
<pid file="{folder}/pid">
<options casemapping="{casemapping}" defaultmodes="notH 20:1h">
<security runasuser="" runasgroup="">
<chanhistory maxlines="50" prefixmsg="no">
<cloak mode="full" key="0123456789012345678901234567890123456789" suffix=".{suffix}">
<log method="file" type="*" level="default" target="{folder}/log">
{modules}
"""


@contextmanager
def inspircd(
    folder: Path, *more: str, modes: str = "", suffix: str = "ip", casemapping: str = "rfc1459"
) -> Iterator[int]:
    """A server with further modules; yields its port. modes: of everybody who connects. suffix: of cloaked hosts."""
    port, config = free_port(), folder / "inspircd.conf"
    modules = "\n".join(f'<module name="{each}">' for each in (*_MODULES, *more))
    values = {"modes": modes, "suffix": suffix, "casemapping": casemapping, "modules": modules}
    config.write_text(_CONFIG.format(port=port, folder=folder, **values))
    command = [program("inspircd"), "--config", str(config), "--nofork", "--runasroot"]
    with running(command, folder, lambda: answers(port)):
        yield port
