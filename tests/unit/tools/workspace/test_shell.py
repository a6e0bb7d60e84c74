"""Commands run in a sandbox: they see the workspace and the machine's programs, and nothing outlives them."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest

from kenobot.ports.provider import Reply, ToolCall
from kenobot.tools.workspace import confined_runner, sandbox
from kenobot.tools.workspace.run import Printed
from kenobot.tools.workspace.sandbox import Bubblewrap, Sandlock, find_sandbox
from tests.scene import Scene
from tests.unit.tools.workspace.desk import SECRET, Desk, no_bubblewrap, require_sandbox
from tests.waiting import until

pytestmark = no_bubblewrap


@pytest.fixture(autouse=True)
async def _sandbox(tmp_path: Path) -> None:
    await require_sandbox(tmp_path)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("echo hi", "[exit status 0]\nhi"),
        ("true", "[exit status 0]\n(it printed nothing)"),
        ("echo out; echo err >&2; exit 3", "[exit status 3]\nout\n[standard error]\nerr"),
        ("pwd; ls", "[exit status 0]\n/work\na.txt"),
        ("cat a.txt | tr a-z A-Z", "[exit status 0]\nHELLO"),
        ("printf 'one\\rtwo\\n\\033[31mred\\033[0m\\a'", "[exit status 0]\ntwo\nred\\x07"),
        ("printf '\\377\\n'", "[exit status 0]\n\ufffd"),
        ("kill -9 $$", "[exit status 137]\n(it printed nothing)"),
        ("cat", "[exit status 0]\n(it printed nothing)"),
        ("echo $HOME $TMPDIR; cd; touch x && ls", "[exit status 0]\n/tmp /tmp\nx"),
    ],
)
async def test_a_command_is_told_as_it_ended(desk: Desk, command: str, told: str) -> None:
    """Its status, what it printed and what it complained of, without what only a terminal understands."""
    (desk.work / "a.txt").write_text("hello")
    assert await desk.call("shell", command=command) == told


HOSTILE = [
    "cat {home}/kenobot.toml",
    "cat /proc/*/environ",
    "cat /proc/$PPID/environ /proc/1/environ | tr '\\0' '\\n'",
    "cat /proc/*/root{home}/kenobot.toml /proc/*/cwd/../home/kenobot.toml",
    "timeout 0.2 cat /proc/1/fd/* </dev/null",
    "cat ../home/kenobot.toml ../../*/kenobot.toml",
    "ln -s {home} l && cat l/kenobot.toml",
    "ln {home}/kenobot.toml l && cat l",
    "find / -xdev -name kenobot.toml -exec cat {} +",
    "grep -rsi OF-THE-BOT /etc /home /opt /root /srv /tmp /var /work",
    "env; set; export",
    "cat /etc/shadow /etc/passwd /root/.ssh/* /var/log/*",
    "mount --bind / /tmp && cat /tmp{home}/kenobot.toml",
    "mount -t proc proc /tmp; mount -o remount,rw /; mount -t tmpfs x /work",
    "unshare -Urm sh -c 'mount --bind / /tmp; cat /tmp{home}/kenobot.toml'",
    "nsenter -t 1 -a cat {home}/kenobot.toml",
    "chroot /proc/1/root cat {home}/kenobot.toml",
    "mknod d b 8 0 && cat d; mknod m c 1 1 && cat m",
    "same=$(cat /proc/sys/kernel/core_pattern); echo $same > /proc/sys/kernel/core_pattern && echo changed",
    "same=$(cat /proc/sys/vm/swappiness); echo $same > /proc/sys/vm/swappiness && echo changed",
    "echo h > /proc/sysrq-trigger && echo changed",
    "echo x > /usr/bin/owned && echo changed; echo x > /owned && echo changed; echo x > /dev/owned && echo changed",
    "echo x > /proc/1/mem && echo changed; echo x > /proc/1/comm && cat /proc/1/mem",
    "kill -9 {pid} && echo changed; kill -9 -{pid} && echo changed; cat /proc/{pid}/environ",
    "head -c 100 /dev/mem /dev/kmem /dev/sda /dev/vda /proc/kcore /proc/kmsg",
    "ls /run/user /var/run/docker.sock /run/systemd && echo changed",
    'python3 -c \'import socket; socket.create_connection(("127.0.0.1", {port}), 2); print("changed")\'',
    'python3 -c \'import socket; socket.socket(socket.AF_UNIX).connect("\\0{abstract}"); print("changed")\'',
    'python3 -c \'import fcntl, termios; fcntl.ioctl(0, termios.TIOCSTI, b"x"); print("changed")\'',
    'python3 -c \'import os; os.setuid(0); os.setgid(0); os.chroot("/proc/1/root"); print("changed")\'',
    "timeout 0.2 cat /dev/tty /dev/console /dev/pts/*; echo x > /dev/tty && echo changed",
    "sudo -n cat {home}/kenobot.toml; su -c id; pkexec id",
    "timeout 0.2 gdb -p 1; timeout 0.2 strace -p 1; cat /proc/1/maps /proc/1/mem | head -c 10",
    "ip addr add 10.0.0.1/8 dev lo && echo changed",
    "git -C {home} status; tar c {home} | head -c 100",
]


@pytest.mark.parametrize("command", HOSTILE)
async def test_no_command_reaches_out(desk: Desk, command: str) -> None:
    """Neither the bot's secrets, its process, its machine's network nor anything outside the workspace."""
    abstract = f"kenobot-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(f"\0{abstract}")
        local.listen()
        for part, value in {
            "{home}": desk.home,
            "{pid}": os.getpid(),
            "{port}": server.getsockname()[1],
            "{abstract}": abstract,
        }.items():
            command = command.replace(part, str(value))
        said = await desk.call("shell", desk.tool("shell", seconds=10), command=command)
    assert said.startswith("[exit status "), said
    for word in (SECRET, "\nchanged", "root:x", "PYTEST_CURRENT_TEST"):
        assert word not in said
    assert (desk.home / "kenobot.toml").read_text() == SECRET
    assert not Path("/usr/bin/owned").exists()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("sleep 60", "it took longer than 0.5 seconds"),
        ("trap '' TERM INT HUP; while :; do :; done", "it took longer than 0.5 seconds"),
        ("exec >&- 2>&-; sleep 60", "it took longer than 0.5 seconds"),
        ("setsid sleep 60 & wait", "it took longer than 0.5 seconds"),
        ("kill -STOP $$", "it took longer than 0.5 seconds"),
    ],
)
async def test_a_command_is_ended_at_its_time(desk: Desk, command: str, told: str) -> None:
    """With all that it started, however it resists."""
    said = await desk.call("shell", desk.tool("shell", seconds=0.5), command=f"echo begun; {command}")
    assert said.startswith(f"[ended: {told}]")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("yes", "[ended: it printed more than 50 MB]"),
        ("yes >&2", "[ended: it printed more than 50 MB]"),
        ("i=0; while [ $i -lt 40 ]; do sleep 9 & i=$((i+1)); done; wait", "[ended: it started more than 20 processes]"),
        ("f() { [ $1 -le 0 ] || (f $(($1-1)) & f $(($1-1))) & sleep 9; }; f 5", "[ended: it started more than 20"),
        ("python3 -c 'bytearray(10**9)'", "exit status 1"),
        ("head -c 5000000 /dev/zero > big", "exit status 1"),
        ("head -c 500M /dev/zero > /tmp/big || ls -s /tmp", "exit status 0"),
    ],
)
async def test_what_a_command_takes_is_bounded(desk: Desk, command: str, told: str) -> None:
    """Output, processes, memory, files: too much of them fails or ends the command, and nothing else."""
    small = desk.tool("shell", seconds=10, processes=20, memory_mb=100, file_mb=1)
    said = await desk.call("shell", small, command=command)
    assert told in said or "Cannot fork" in said or "Resource temporarily" in said, said
    assert sum(each.stat().st_size for each in desk.work.iterdir()) <= 1_000_000


async def test_nothing_outlives_a_command(desk: Desk) -> None:
    """A daemon that detaches from everything ends with the command that started it."""
    mark = f"{os.getpid()}.5"
    said = await desk.call("shell", command=f"setsid nohup sleep 9{mark} >/dev/null 2>&1 & echo gone")
    assert said == "[exit status 0]\ngone"
    await until(lambda: not _running(f"9{mark}"))


async def test_a_call_that_is_cancelled_ends_its_command(desk: Desk) -> None:
    """At once, daemons and all; nothing goes on behind the turn."""
    mark = f"8{os.getpid()}.5"
    running = asyncio.ensure_future(desk.call("shell", command=f"setsid sleep {mark} & sleep {mark}"))
    await until(lambda: len(_running(mark)) > 1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, 60)
    await until(lambda: not _running(mark))


async def test_a_bot_that_is_killed_takes_its_command_with_it(desk: Desk) -> None:
    """`kill -9` of the bot leaves no command behind that goes on without anybody who reads it."""
    mark = f"7{os.getpid()}.5"
    program = f"""
        import asyncio
        from pathlib import Path
        from tests.unit.tools.workspace.desk import Desk
        from kenobot.ports.plugin import PluginContext
        from kenobot.ports.workspace import Workspace
        from kenobot_testing.clock import ManualClock
        work, home = Path({str(desk.work)!r}), Path({str(desk.home)!r})
        context = PluginContext(home, ManualClock(), "K", workspaces=(Workspace("desk", work),))
        asyncio.run(Desk(work, home, context).call("shell", command="setsid sleep {mark} & sleep {mark}"))
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)]) as bot:
        await until(lambda: len(_running(mark)) > 1)
        bot.send_signal(signal.SIGKILL)
    await until(lambda: not _running(mark))


async def test_a_command_is_not_run_twice_after_a_crash(tmp_path: Path) -> None:
    """One that a crash broke off is told as unknown, and not run again."""
    folder = tmp_path / "scene"
    (tmp_path / "desk").mkdir()
    desk = Desk.make(tmp_path / "desk")
    (folder / "home").mkdir(parents=True, mode=0o700)
    (folder / "home" / "kenobot.toml").write_text('[[tools.rules]]\ntool = "shell"\ndecision = "allow"\n')
    call = ToolCall("c1", "shell", {"command": "echo run >> log; sleep 20"})
    async with Scene(folder, [Reply("", "tool_use", calls=(call,))], tools=[desk.tool("shell")]) as scene:
        await scene.put("go")
        await until((desk.work / "log").exists)
        await scene.app.loop.stop(0.0)
    async with Scene(folder, ["I do not know whether that ran."], tools=[desk.tool("shell")]) as scene:
        await scene.app.wait_drained()
        assert scene.texts[0].startswith("I do not know whether that ran.\n\n(I was stopped while this ran: shell.")
    assert (desk.work / "log").read_text() == "run\n"


async def test_a_workspace_for_reading_is_not_written(tmp_path: Path) -> None:
    """The sandbox shows it as such: nothing has to be believed of the command."""
    desk = Desk.make(tmp_path, read_only=True)
    (desk.work / "a").write_text("kept")
    said = await desk.call("shell", command="echo x > a; rm a; touch b; mv a c; cat a")
    assert "Read-only file system" in said
    assert [(each.name, each.read_text()) for each in desk.work.iterdir()] == [("a", "kept")]


async def test_the_network_is_there_where_it_is_named(desk: Desk) -> None:
    """That of the machine, servers on it included, as the settings say."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = f'python3 -c \'import socket; socket.create_connection(("127.0.0.1", {port}), 2); print("there")\''
        assert "there" in await desk.call("shell", desk.tool("shell", network=True), command=command)


async def test_a_home_among_the_programs_is_covered(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home below /usr is not shown with it."""
    monkeypatch.setattr(sandbox, "_PROGRAMS", ("/usr", str(desk.home.parent), *sandbox._PROGRAMS[2:]))
    said = await desk.call("shell", command=f"ls {desk.home.parent}; cat {desk.home}/*")
    assert SECRET not in said
    assert "home" in said


@pytest.mark.parametrize("command", ["echo \0 x", "echo \ud800", "", "x" * 10_001])
async def test_what_no_program_can_be_given_is_refused(desk: Desk, command: str) -> None:
    """In words, as a mistake of the model's."""
    assert (await desk.call("shell", command=command)).startswith("failed: ")


async def test_nothing_is_run_bare(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without anything that confines, as in most containers, a command is refused, and it is said why."""
    monkeypatch.setattr(sandbox, "_candidates", lambda: [Bubblewrap("/bin/false", True, True)])
    said = await desk.call("shell", command="touch ran")
    assert said.startswith("failed: Commands are not run here")
    assert list(desk.work.iterdir()) == []


async def test_what_the_machine_can_do_is_tried_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second command does not look for a sandbox again."""
    tried = []

    async def find(folder: Path) -> sandbox.Sandbox:
        tried.append(folder)
        return await find_sandbox(folder)

    monkeypatch.setattr(confined_runner, "find_sandbox", find)
    tool = desk.tool("shell")
    await desk.call("shell", tool, command="true")
    await desk.call("shell", tool, command="true")
    assert len(tried) == 1


def test_long_output_is_shown_from_both_ends() -> None:
    """The middle is left out, and how much it is is said."""
    printed = Printed()
    for number in range(100_000):
        printed.add(b"%d\n" % number)
    shown = printed.show()
    assert shown.startswith("0\n1\n2\n")
    assert shown.endswith("99998\n99999")
    assert "[… 582,890 bytes are left out here …]" in shown
    assert len(shown) < 6100


# ── without namespaces ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(find_spec("sandlock") is None, reason="sandlock is not installed")
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("echo hi; pwd; echo x > made; exit 3", "exit status 3"),
        ("cat {home}/kenobot.toml", "Permission denied"),
        ("cat /proc/$PPID/environ /proc/1/environ", "Permission denied"),
        ("echo x > {home}/made", "Permission denied"),
        ("kill -9 {pid}", "not permitted"),
        ("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 9), 2)'", "Permission denied"),
        ("setsid nohup sleep 9{pid}.25 >/dev/null 2>&1 & echo gone", "gone"),
        ("setsid sleep 9{pid}.25 & sleep 9{pid}.25", "took longer than"),
        ("bomb() { bomb | bomb & }; bomb; sleep 9", "ended: "),
    ],
)
async def test_sandlock_confines_where_there_are_no_namespaces(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, command: str, told: str
) -> None:
    """The same holds by Landlock and seccomp."""
    monkeypatch.setattr(sandbox, "_candidates", lambda: [Sandlock()])
    given = command.replace("{home}", str(desk.home)).replace("{pid}", str(os.getpid()))
    said = await desk.call("shell", desk.tool("shell", seconds=2, processes=20), command=given)
    if said.startswith("failed: Commands are not run here"):
        pytest.skip("this kernel has no Landlock as sandlock needs it")
    assert told in said
    assert SECRET not in said
    assert [each.name for each in desk.home.iterdir()] == ["kenobot.toml"]
    await until(lambda: not _running(f"9{os.getpid()}.25"))


def _running(mark: str) -> list[str]:
    """Return the processes of this machine, as `ps` tells them, that have `mark` as an argument."""
    found = list[str]()
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            arguments = each.read_bytes().decode(errors="replace").split("\0")
            if mark in arguments and "sleep" in arguments[0]:
                found.append(each.parent.name)
    return found
