"""An inspircd that keeps what is said in channels, and has the modes +c and +g."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.integration.channels.processes import answers, free_port, program, running

_MODULES = ("blockcolor", "callerid", "cap", "chanhistory", "ircv3_servertime")
_CONFIG = """
<server name="irc.example.org" description="a test" network="Test" id="1TE">
<admin name="a" nick="a" email="a@example.org">
<bind address="127.0.0.1" port="{port}" type="clients">
<connect allow="*" timeout="60" fakelag="yes" threshold="10" commandrate="1000" localmax="100" globalmax="100"
  resolvehostnames="no">
<pid file="{folder}/pid">
<options casemapping="{casemapping}" nouserdns="yes">
<security runasuser="" runasgroup="">
<chanhistory maxlines="50" prefixmsg="no">
<log method="file" type="* -USERINPUT -USEROUTPUT" level="default" target="{folder}/log">
{modules}
"""


@contextmanager
def inspircd(folder: Path, *more: str, casemapping: str = "rfc1459") -> Iterator[int]:
    port = free_port()
    modules = "\n".join(f'<module name="{each}">' for each in (*_MODULES, *more))
    config = folder / "inspircd.conf"
    config.write_text(_CONFIG.format(port=port, folder=folder, casemapping=casemapping, modules=modules))
    command = [program("inspircd"), "--config", str(config), "--nofork", "--runasroot"]
    with running(command, folder, lambda: answers(port)):
        yield port
