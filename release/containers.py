"""The image and its Compose file, tried: `python -m release.containers`, by Docker, else by Podman and podman-compose.

Builds the image, sets it up as docker/compose.yml says, talks to it through stand-ins of Telegram and the model on this
machine's loopback, stops, kills and removes the container, and looks whether anything was lost. Exit code 1 when
something does not hold, 3 when no engine with Compose answers here.
"""

import argparse
import asyncio
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from release.page import ROOT
from release.say import NOT_HERE, NotSo, answers, answers_what_waited, run, tell
from tests.integration.providers.anthropic_standin import StandIn
from tests.integration.stand_in import KEY, OWNER, TOKEN, Telegram

_OVERRIDE = """services:
  kenobot:
    network_mode: host
    environment:
      KENOBOT_CHANNELS__TELEGRAM__BASE_URL: "{telegram}"
      KENOBOT_PROVIDERS__ANTHROPIC__BASE_URL: "{model}"
"""


_PROJECT = "kenobot-trial"
"""Beside a bot of one's own, whose volume stays. An option: old podman-compose knows no COMPOSE_PROJECT_NAME."""

_KNOWN = (("docker compose", "docker"), ("podman-compose", "podman"))
"""Compose programs, each with its engine, in the order in which they are tried."""


@dataclass(frozen=True)
class Compose:
    """A Compose program with its files, and the container engine below it."""

    program: Sequence[str]
    files: Sequence[Path]
    engine: Sequence[str]

    async def run(self, *arguments: str) -> str:
        """Run `compose ARGUMENTS`. Raises NotSo when it fails."""
        files = [part for file in self.files for part in ("-f", str(file))]
        return await run(*self.program, "-p", _PROJECT, *files, *arguments)

    async def container(self) -> str:
        """Return the id of the running container."""
        labels = ("label=com.docker.compose.service=kenobot", f"label=com.docker.compose.project={_PROJECT}")
        filters = [part for label in labels for part in ("--filter", label)]
        ids = (await run(*self.engine, "ps", "--quiet", *filters)).split()
        if len(ids) != 1:
            raise NotSo(f"{len(ids)} containers are running")
        return ids[0]

    async def inside(self, *command: str) -> str:
        """Run a command in the running container."""
        return await run(*self.engine, "exec", await self.container(), *command)


async def _built(compose: Compose) -> None:
    """Look for the image: podman-compose ends well when the build did not."""
    if not (await run(*compose.engine, "images", "--quiet", "kenobot")).strip():
        raise NotSo(f"there is no image: see why by `{shlex.join(compose.program)} -f docker/compose.yml build`")
    tell("the image is built")


async def _set_up(compose: Compose) -> None:
    """Look for the configuration in the volume, by a container of its own: podman-compose ends well in any case."""
    seen = await compose.run("run", "--rm", "-T", "kenobot", "config", "get", "provider.name")
    if "anthropic" not in seen.split():
        raise NotSo(
            f"it is not set up: see why by `{shlex.join(compose.program)} -f docker/compose.yml run kenobot setup`"
        )
    tell("it is set up")


async def _confined(compose: Compose) -> None:
    """Not root, nothing to write to but the home and /tmp, no capabilities; and the engine finds it well."""
    if (who := (await compose.inside("id", "-u")).strip()) != "10001":
        raise NotSo(f"it runs as user id {who}")
    program = "import os; print([p for p in ('/', '/usr', '/opt/kenobot', '/home/kenobot') if os.access(p, os.W_OK)])"
    if (written := (await compose.inside("python", "-c", program)).strip()) != "[]":
        raise NotSo(f"it can write to {written}")
    status = await compose.inside("grep", "-E", "^(CapEff|NoNewPrivs)", "/proc/1/status")
    if status.split() != ["CapEff:", "0000000000000000", "NoNewPrivs:", "1"]:
        raise NotSo(f"its rights are {status!r}")
    tell("it is user 10001, without capabilities, on a read-only root")


async def _healthy(compose: Compose) -> None:
    await run(*compose.engine, "healthcheck", "run", await compose.container())
    tell("its health check finds it well")


async def _survives(compose: Compose, telegram: Telegram) -> None:
    """Stopped, killed, removed and made anew: every message is answered once, and memory is there."""
    await answers_what_waited(telegram, lambda: compose.run("stop"), lambda: compose.run("start"))
    await compose.inside("kenobot", "memory", "remember", "The spare key is with Ana")
    await run(*compose.engine, "kill", await compose.container())
    await compose.run("down")
    await compose.run("up", "-d")
    await answers(telegram, "in a new container")
    if "spare key" not in await compose.inside("kenobot", "memory", "list"):
        raise NotSo("what was remembered is gone")
    twice = [text for (_, text), count in telegram.counted().items() if count > 1]
    if twice:
        raise NotSo(f"said twice: {twice}")
    tell("a killed and removed container's memory is in the next one; nothing was lost or said twice")


def reason_not_here(program: str, engine: str) -> str:
    """Return why nothing can be built and run by these two here; "" when it can."""
    for command in (f"{program} version", f"{engine} info"):
        try:
            subprocess.run(shlex.split(command), capture_output=True, text=True, check=True, timeout=60)
        except FileNotFoundError:
            return f"{shlex.split(command)[0]} is not installed"
        except subprocess.CalledProcessError as error:
            return f"`{command}` says: {(error.stderr or error.stdout).strip().splitlines()[0]}"
        except subprocess.TimeoutExpired:
            return f"`{command}` does not answer"
    return ""


async def trial(program: Sequence[str], engine: Sequence[str], build: bool) -> None:
    """Try the image. Raises NotSo."""
    with tempfile.TemporaryDirectory() as folder:
        override = Path(folder) / "override.yml"
        async with Telegram() as telegram, StandIn() as model:
            override.write_text(_OVERRIDE.format(telegram=telegram.base_url, model=model.url))
            compose = Compose(program, (ROOT / "docker" / "compose.yml", override), engine)
            if build:
                await compose.run("build")
                await _built(compose)
            secrets = ["-e", f"TELEGRAM_BOT_TOKEN={TOKEN}", "-e", f"ANTHROPIC_API_KEY={KEY}"]
            chosen = ["--provider", "anthropic", "--enable", "telegram", "--owner", OWNER]
            try:
                await compose.run("run", "--rm", "-T", *secrets, "kenobot", "setup", "--yes", *chosen)
                await _set_up(compose)
                await compose.run("up", "-d")
                await answers(telegram, "after the start")
                await _confined(compose)
                await _healthy(compose)
                await _survives(compose, telegram)
            finally:
                await compose.run("down", "--volumes")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m release.containers", description=__doc__)
    parser.add_argument("--compose", help="the Compose program (docker compose, else podman-compose)")
    parser.add_argument("--engine", help="the container engine below it (docker, or podman)")
    parser.add_argument("--no-build", action="store_true", help="the image `kenobot` is there already")
    args = parser.parse_args(arguments)
    os.environ.setdefault("BUILDAH_FORMAT", "docker")  # Podman's own has no health checks
    named = args.compose or args.engine
    pairs = ((args.compose or _KNOWN[0][0], args.engine or _KNOWN[0][1]),) if named else _KNOWN
    missing = {pair: reason_not_here(*pair) for pair in pairs}
    chosen = next((pair for pair in pairs if not missing[pair]), None)
    if chosen is None:
        print("\n".join(missing.values()), "Name others by --compose and --engine.", sep="\n", file=sys.stderr)
        return NOT_HERE
    try:
        asyncio.run(trial(shlex.split(chosen[0]), shlex.split(chosen[1]), not args.no_build))
    except (NotSo, TimeoutError, subprocess.SubprocessError, FileNotFoundError) as error:
        print(f"\n{error or 'Nothing came in time.'}", file=sys.stderr)
        return 1
    print("\nThe image holds.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
