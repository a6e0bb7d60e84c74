"""A whole KenoBot in a folder, in this process, with a scripted model and a channel that a test speaks through."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Self

from kenobot.app.app import App
from kenobot.app.plugin_instances import PluginInstances, load_plugins
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.core.i18n import Language
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.gateway.access import Roster
from kenobot.ports.channel import Capabilities, Sink
from kenobot.ports.clock import Clock
from kenobot.ports.embedder import Embedder, PreviousEmbedders
from kenobot.ports.messages import Inbound, MessagePart, Outbound
from kenobot.ports.provider import Provider
from kenobot.ports.tool import Tool
from kenobot.ports.transcriber import Transcriber
from kenobot.storage.shared_threads import SharedThreads
from kenobot_testing.clock import EagerClock
from kenobot_testing.provider import ScriptedProvider
from tests.constants import constants_changed, is_constant


class Chatter:
    """A channel for tests: `say` puts a message in; `texts` is what came back."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.capabilities = Capabilities()
        self.sent: list[Outbound] = []
        self.number = 0

    async def run(self, sink: Sink) -> None:
        await asyncio.Event().wait()

    def render(self, text: str) -> Sequence[MessagePart]:
        return (MessagePart(text),)

    async def send(self, outbound: Outbound) -> str:
        self.sent.append(outbound)
        return outbound.replaces or str(outbound.id)


class _OpenHouse(Roster):
    """Everybody may talk, for tests that are not about who may."""

    def allows(self, user: str, chat: str) -> bool:
        return True


class Scene:
    """Use as `async with Scene(folder, replies) as scene: await scene.say("hello")`.

    extraction: what was said is also read for memories; without it a scene remembers by tags alone. embedder: places
    memory by its meaning; without one it is found by words. environ: also constants by name, such as
    `PromptLimits.history_min`: see `tests.constants`.
    """

    def __init__(
        self,
        folder: Path,
        replies: Sequence[object] = (),
        *,
        provider: Provider | None = None,
        fallbacks: Sequence[Provider] = (),
        clock: Clock | None = None,
        files: Mapping[str, str] | None = None,
        environ: Mapping[str, object] | None = None,
        channel: str = "telegram",
        owners: Sequence[str] = ("1",),
        roster: Roster | None = None,
        bootstrap: bool = False,
        extraction: bool = False,
        embedder: Embedder | None = None,
        formers: PreviousEmbedders | None = None,
        transcriber: Transcriber | None = None,
        tools: Sequence[Tool[Any]] = (),
        default_language: Language = "en",
        shared: SharedThreads | None = None,
    ) -> None:
        self._shared = shared
        self.home = Home(folder / "home")
        self.clock = clock or EagerClock()
        self.provider = provider or ScriptedProvider(list(replies), repeat_last=True)  # type: ignore[arg-type]
        self.channel = Chatter(channel)
        self.inbounds: list[Inbound] = []
        self.app: App
        self._fallbacks = fallbacks
        self._embedder, self._formers = embedder, formers
        self._transcriber = transcriber
        self._tools = tools
        self._default_language = default_language
        self._roster = roster or _OpenHouse.of(owners)
        self._files = dict(files or {})
        given = environ or {}
        self._constants = constants_changed({name: value for name, value in given.items() if is_constant(name)})
        self._environ = {
            "KENOBOT_EXTRACTION__ENABLED": str(extraction).lower(),
            "KENOBOT_MEMORY__EMBEDDER": "none",
            **{name: str(value) for name, value in given.items() if not is_constant(name)},
        }
        self._bootstrap = bootstrap

    async def __aenter__(self) -> Self:
        self._constants.__enter__()
        fresh = not self.home.database.exists()
        self.home.prepare()
        self.home.seed_identity()
        if fresh and not self._bootstrap:
            (self.home.identity / "BOOTSTRAP.md").unlink()
        for name, text in self._files.items():
            path = self.home.memory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        loaded = load_settings(self.home, self._environ)
        parts = load_plugins(self.home, loaded, self.clock, ["console"])
        given = replace(
            parts,
            provider=self.provider,
            fallbacks=self._fallbacks,
            channels={self.channel.name: self.channel},
            access_lists={self.channel.name: self._roster},
            embedder=self._embedder or parts.embedder,
            previous_embedders=self._formers,
            transcriber=self._transcriber,
            tools=self._tools,
        )
        assert isinstance(given, PluginInstances)
        self.app = App(self.home, loaded, self.clock, given, Random(7), self._default_language, self._shared)
        await self.app.start()
        await self.app.memory_files.wait_caught_up()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.app.stop()
        finally:
            self._constants.__exit__(None, None, None)

    @property
    def requests(self) -> list[str]:
        """The prompts the scripted model saw, each as one text."""
        assert isinstance(self.provider, ScriptedProvider)
        return [
            "\n\n".join([*(block.text for block in request.system), *(message.text for message in request.messages)])
            for request in self.provider.requests
        ]

    @property
    def texts(self) -> list[str]:
        """What people got, in order."""
        return [outbound.part.text for outbound in self.channel.sent]

    async def put(self, text: str, chat: str = "1", user: str | None = None, **more: object) -> bool:
        """Hand a message in and return at once."""
        self.channel.number += 1
        inbound = Inbound(self.channel.name, str(self.channel.number), chat, user or chat, text, self.clock.now())
        self.inbounds.append(replace(inbound, **more))  # type: ignore[arg-type]
        return await self.app.loop(self.inbounds[-1])

    @property
    def memory_files(self) -> MemoryFiles:
        """The files of the bot's memory."""
        files = self.app.memory_files
        assert isinstance(files, MemoryFiles)
        return files

    async def say(self, text: str, chat: str = "1", user: str | None = None, **more: object) -> str:
        """Hand a message in, wait until everything it set off is over, and return the answer."""
        before = len(self.channel.sent)
        await self.put(text, chat, user, **more)
        await self.app.wait_drained()
        await self.app.background.extraction.wait_idle()
        await self.app.background.compaction.wait_idle()
        return "\n".join(self.texts[before:])

    @property
    def buttons(self) -> dict[str, str]:
        """The values of the buttons below the last message, by their labels."""
        return {button.label: button.value for row in self.channel.sent[-1].part.buttons for button in row}

    async def press(self, label: str, chat: str = "1", user: str | None = None, **more: object) -> str:
        """Press a button below the last message; returns what takes its place."""
        below = self.channel.sent[-1]
        target = below.replaces or str(below.id)
        return await self.say("", chat, user, kind="action", target=target, value=self.buttons[label], **more)

    def read(self, name: str) -> str:
        """A file of the memory folder."""
        return (self.home.memory / name).read_text("utf-8")

    async def rows(self, sql: str) -> list[tuple[object, ...]]:
        """What the database says."""
        found: list[tuple[object, ...]] = await self.app.database.read(lambda c: c.execute(sql).fetchall())
        return found
