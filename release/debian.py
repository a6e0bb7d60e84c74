"""A fresh Debian with nothing but Python follows docs/getting-started.md: `python -m release.debian`, as root.

The root file system is made by debootstrap and booted by systemd-nspawn, with systemd as its first process. A person
there types what the page says; Telegram and the model are stand-ins on this machine's loopback. It ends with a service
that answers, that comes back when it is killed or restarted, and whose journal has no errors. Needs root, debootstrap,
systemd-container, a Debian mirror and a package index; exit code 1 when something of the page does not hold, 3 without
root or one of these programs.
"""

import argparse
import asyncio
import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from release.page import PAGE, ROOT, commands, reason_to_skip
from release.say import NOT_HERE, NotSo, answers, answers_what_waited, run, tell
from tests.integration.providers.anthropic_standin import StandIn
from tests.integration.stand_in import KEY, OWNER, TOKEN, Telegram

MIRROR = "http://deb.debian.org/debian"
PACKAGES = "python3,python3-venv,ca-certificates,sudo,systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd"
PERSON = "ana"
_HOME = f"home/{PERSON}"
_BOOT_SECONDS, _COMMAND_SECONDS = 120, 900
_TREE = (*(ROOT / name for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE")),)
_ROOMS = ("kenobot", "packages")
_NETWORK = (
    "PIP_CERT",
    "SSL_CERT_FILE",
    "PIP_INDEX_URL",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "PIP_DEFAULT_TIMEOUT",
)
"""How this machine reaches the package index; the one in the trial reaches it the same way."""


@dataclass
class Machine:
    """The booted system. leader: the process, out here, that is its first one."""

    root: Path
    leader: int

    async def run(self, *command: str, check: bool = True) -> str:
        """Run a command as root and return what it printed. Raises NotSo when it fails."""
        inside = ["nsenter", "--target", str(self.leader), "--mount", "--uts", "--ipc", "--pid", "--root", "--wd=/"]
        clean = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
        return await run(*inside, *command, check=check, seconds=_COMMAND_SECONDS, environ=clean)

    async def type(self, line: str, check: bool = True) -> str:
        """Have the person type a line in a login shell, in the folder of the sources."""
        return await self.run("runuser", "-l", PERSON, "-c", f"cd kenobot && {line}", check=check)


def make_root(base: Path, suite: str) -> None:
    """Make a root file system with Python and systemd in `base`, once."""
    if (base / "usr" / "bin" / "python3").exists():
        return
    print(f"debootstrap {suite} …", flush=True)
    command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite, str(base), MIRROR]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def furnish(root: Path) -> None:
    """Add a person with the sources in their home, and the way to the package index."""
    subprocess.run(["chroot", root, "useradd", "--create-home", "--shell", "/bin/bash", PERSON], check=True)
    with (root / "etc" / "hosts").open("a") as hosts:
        hosts.write(f"127.0.0.1 localhost {os.uname().nodename}\n")
    (root / "etc" / "sudoers.d" / PERSON).write_text(f"{PERSON} ALL=(ALL) NOPASSWD: ALL\n")
    tree = root / _HOME / "kenobot"
    tree.mkdir()
    for path in _TREE:
        shutil.copy2(path, tree)
    for room in _ROOMS:
        shutil.copytree(ROOT / room, tree / room, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in {"token": TOKEN, "key": KEY}.items():
        (tree / name).write_text(f"{text}\n")
    shutil.copy2("/etc/resolv.conf", root / "etc" / "resolv.conf")
    certificates = os.environ.get("SSL_CERT_FILE") or "/etc/ssl/certs/ca-certificates.crt"
    inside = "/etc/ssl/certs/ca-certificates.crt"
    shutil.copy2(certificates, root / inside.lstrip("/"))
    known = {
        name: inside if name.endswith(("CERT", "FILE")) else os.environ[name] for name in _NETWORK if name in os.environ
    }
    lines = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in known.items())
    (root / "etc" / "profile.d" / "index.sh").write_text(lines)


def point_at_stand_ins(root: Path, telegram: str, model: str) -> None:
    """Write where Telegram and the model are, which is all that this home has before `kenobot setup`."""
    home = root / _HOME / ".kenobot"
    home.mkdir(mode=0o700)
    settings = home / "kenobot.toml"
    settings.write_text(f"[channels.telegram]\nbase_url = '{telegram}'\n[providers.anthropic]\nbase_url = '{model}'\n")
    settings.chmod(0o600)
    subprocess.run(["chroot", root, "chown", "-R", f"{PERSON}:{PERSON}", f"/{_HOME}"], check=True)


@contextlib.asynccontextmanager
async def booted(root: Path) -> AsyncIterator[Machine]:
    """Boot the system, which shares this machine's network, and shut it down at the end."""
    command = ["systemd-nspawn", "--quiet", "--directory", str(root), "--boot", "--resolv-conf=off", "--register=no"]
    log = (root.parent / "console.log").open("wb")
    process = await asyncio.create_subprocess_exec(
        *command, "--keep-unit", stdout=log, stderr=log, stdin=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(_BOOT_SECONDS):
            machine = Machine(root, await _leader(process))
            while "running" not in (state := await machine.run("systemctl", "is-system-running", check=False)):
                if "degraded" in state:
                    print("Some unit of Debian's failed:", await machine.run("systemctl", "--failed", "--no-legend"))
                    break
                await asyncio.sleep(0.5)
        yield machine
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()  # nspawn shuts the system down in order
            async with asyncio.timeout(60):
                await process.wait()
        log.close()


async def _leader(process: asyncio.subprocess.Process) -> int:
    while process.returncode is None:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        if children and Path(f"/proc/{children[0]}/comm").read_text().strip() == "systemd":
            return int(children[0])
        await asyncio.sleep(0.2)
    raise NotSo(f"systemd-nspawn ended with {process.returncode}")


async def follow_page(machine: Machine, page: str) -> None:
    """Type every command of the page that somebody with a token and a key would type."""
    for line in commands(page):
        if reason := reason_to_skip(line):
            print(f"  – {line}   ({reason})")
            continue
        said = await machine.type(re.sub(r"\b123456789\b", OWNER, line))
        tell(f"{line}")
        for printed in said.strip().splitlines()[-3:]:
            print(f"      {printed[:150]}")


async def live(machine: Machine, telegram: Telegram) -> None:
    """The service answers, comes back by itself, loses nothing while it is stopped, and its journal is clean."""
    await machine.type("kenobot setup --yes --service")
    await answers(telegram, "after the page")
    await machine.type("kenobot service restart")
    await answers(telegram, "after a restart")
    await machine.type("systemctl --user kill --signal=KILL kenobot")
    await answers(telegram, "after kill -9")
    await answers_what_waited(
        telegram, lambda: machine.type("kenobot service stop"), lambda: machine.type("kenobot service start")
    )
    await clean_journal(machine, "_SYSTEMD_USER_UNIT=kenobot.service", "+", "USER_UNIT=kenobot.service")


async def live_for_the_machine(machine: Machine, telegram: Telegram) -> None:
    """The same as a service of the whole machine, hardened further, as the page has it for root."""
    await machine.type("kenobot service uninstall")
    await machine.type(f"sudo $(command -v kenobot) service install --machine --user {PERSON}")
    await answers(telegram, "as a service of the machine")
    await machine.run("systemctl", "kill", "--signal=KILL", "kenobot")
    await answers(telegram, "after the machine's service was killed")
    said = await machine.run("systemd-analyze", "security", "--no-pager", "kenobot.service")
    tell(said.strip().splitlines()[-1])
    await clean_journal(machine, "--unit=kenobot.service")


async def clean_journal(machine: Machine, *match: str) -> None:
    """Fail when the bot complained, or systemd of the bot; or when neither said anything, for nothing was seen then."""
    journal = await machine.run("journalctl", "--no-pager", "--quiet", "--output=cat", *match)
    if not journal.strip():
        raise NotSo("the journal has nothing of the bot")
    wrong = re.compile(r"Traceback|ERROR|ermission denied|not permitted|Failed to")
    bad = [line for line in journal.splitlines() if wrong.search(line)]
    if bad:
        raise NotSo("the journal has errors:\n" + "\n".join(bad[:20]))
    tell(f"its journal has {len(journal.splitlines())} lines and no errors")


async def trial(base: Path, work: Path) -> None:
    """Copy the base, boot it and follow the page to the end. Raises NotSo."""
    root = work / "root"
    subprocess.run(["cp", "-a", str(base), str(root)], check=True)
    furnish(root)
    async with Telegram() as telegram, StandIn() as model, contextlib.AsyncExitStack() as stack:
        point_at_stand_ins(root, telegram.base_url, model.url)
        machine = await stack.enter_async_context(booted(root))
        print(
            (await machine.run("cat", "/etc/debian_version")).strip(),
            (await machine.run("python3", "--version")).strip(),
        )
        try:
            await follow_page(machine, PAGE.read_text("utf-8"))
            await live(machine, telegram)
            await live_for_the_machine(machine, telegram)
        except (NotSo, TimeoutError):
            print((await machine.run("journalctl", "--no-pager", "--lines=60", check=False)), file=sys.stderr)
            raise


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m release.debian", description=__doc__)
    parser.add_argument("--suite", default="bookworm", help="which Debian (bookworm)")
    parser.add_argument("--base", type=Path, help="keep the fresh root file system here, for the next run")
    args = parser.parse_args(arguments)
    missing = [each for each in ("debootstrap", "systemd-nspawn", "nsenter") if shutil.which(each) is None]
    if os.geteuid() or missing:
        print(f"This needs root, and {', '.join(missing) or 'nothing else'} installed.", file=sys.stderr)
        return NOT_HERE
    with tempfile.TemporaryDirectory(prefix="kenobot-debian-", dir=args.base.parent if args.base else None) as folder:
        base = args.base or Path(folder) / "base"
        make_root(base, args.suite)
        try:
            asyncio.run(trial(base, Path(folder)))
        except (NotSo, TimeoutError) as error:
            print(f"\n{error or 'Nothing came in time.'}", file=sys.stderr)
            return 1
    print("\nThe page holds.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
