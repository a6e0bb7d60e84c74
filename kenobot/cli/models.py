"""`kenobot models`: list what the configured services offer, and try a model."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say, translate
from kenobot.cli.table import print_table
from kenobot.core import plugins
from kenobot.ports.errors import ConfigError, KenobotError, RemoteError, Unavailable
from kenobot.ports.provider import Block, Delta, ListsModels, Message, Provider, Reply, Request, Usage

_GROUP: plugins.PluginGroup = "kenobot.providers"
_ANY = "any"  # a service is asked for its models before one of them is chosen
_LIST_SECONDS = 30.0
_LINES = 60


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing that a model is asked for. check: names the fault of a whole answer; "" when there is none."""

    name: str
    request: Request
    check: Callable[[str], str] = lambda text: ""

    def judge(self, reply: Reply) -> str:
        """Return the reason for which the reply will not do; "" when it does."""
        if not reply.whole:
            return f"it ended early ({reply.stop_reason})"
        if not reply.text.strip():
            return "it is empty"
        return self.check(reply.text)


@dataclass(frozen=True, slots=True)
class TrialResult:
    """Figures of one trial. first: seconds until the first text; seconds: until the end. problem: "" when it passed."""

    trial: str
    problem: str
    first: float = 0.0
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0


def models(context: CommandContext) -> int:
    words: Sequence[str] = context.args.words
    if words[:1] == ["test"]:
        return _test(context, words[1:])
    if len(words) > 1:
        return options.print_failure("Write `kenobot models`, `models NAME` or `models test NAME`.")
    return _list(context, words[0] if words else "")


def _list(context: CommandContext, wanted: str) -> int:
    """Print the models of one service, or of each that is configured. Fails when none could be asked."""
    rows: list[dict[str, Any]] = []
    reached = False
    for name in [wanted] if wanted else _configured(context):
        try:
            found = asyncio.run(_models_of(context, name))
        except ConfigError:
            if wanted:
                raise
            continue
        except RemoteError as error:
            options.print_failure(f"{name}: {translate(str(error))}", options.FAILED)
            continue
        reached = True
        chosen = _chosen(context, name)
        rows += [{"provider": name, "model": model, "configured": model == chosen} for model in found]
    if context.args.json:
        for row in rows:
            print(json.dumps(row))
    elif rows:
        marked = [(row["provider"], "*" if row["configured"] else "", row["model"]) for row in rows]
        print_table(("provider", "", "model"), marked)
    elif reached or not wanted:
        raise options.NothingFound("No configured service lists models: name one, such as `kenobot models ollama`.")
    return 0 if reached else options.FAILED


def _configured(context: CommandContext) -> list[str]:
    settings = context.loaded.settings
    return list(dict.fromkeys((*settings.enabled_plugins(_GROUP), *settings.plugin_tables(_GROUP))))


def _chosen(context: CommandContext, name: str) -> str:
    settings = context.loaded.plugin_settings(_GROUP, name, plugins.load(_GROUP, name).settings)
    return str(getattr(settings, "model", ""))


async def _models_of(context: CommandContext, name: str) -> tuple[str, ...]:
    async with _provider(context, name, _ANY) as provider:
        if not isinstance(provider, ListsModels):
            raise ConfigError(f"The provider {name} has no models to choose from.")
        try:
            async with asyncio.timeout(_LIST_SECONDS):
                return await provider.models()
        except TimeoutError:
            raise Unavailable(f"It took longer than {_LIST_SECONDS:.0f} seconds to list its models.") from None


@asynccontextmanager
async def _provider(context: CommandContext, name: str, model: str) -> AsyncIterator[Provider]:
    """Build a provider, and close it. Raises ConfigError."""
    fields = plugins.load(_GROUP, name).settings.model_fields
    named = model if "model" in fields else ""
    provider: Provider = context.loaded.build_plugin(_GROUP, name, context.plugin_context, named, "models")
    try:
        yield provider
    finally:
        await plugins.close([provider])


def _test(context: CommandContext, words: Sequence[str]) -> int:
    """Ask a model for each trial, one after the other, and print what came. Fails when one of them does."""
    if len(words) > 1:
        return options.print_failure("Write `kenobot models test`, `models test NAME` or `models test NAME:MODEL`.")
    name, _, model = (words[0] if words else context.loaded.settings.provider.name).partition(":")
    results = asyncio.run(_try_out(context, name, model))
    if context.args.json:
        for result in results:
            print(json.dumps(asdict(result)))
    else:
        heads = ("asked for", "first text, s", "all, s", "tokens in", "tokens out", "result")
        print_table(heads, [_row(result) for result in results])
    return options.FAILED if any(result.problem for result in results) else 0


def _row(result: TrialResult) -> tuple[object, ...]:
    return (
        say(result.trial),
        f"{result.first:.1f}",
        f"{result.seconds:.1f}",
        result.input_tokens,
        result.output_tokens,
        translate(result.problem) if result.problem else say("good"),
    )


async def _try_out(context: CommandContext, name: str, model: str) -> list[TrialResult]:
    seconds = context.loaded.settings.loop.turn_seconds
    async with _provider(context, name, model) as provider:
        return [await _ask(provider, trial, seconds) for trial in trials()]


def trials() -> tuple[Trial, ...]:
    """Return what a model is asked for: a sentence, a fact to be remembered, and a long answer."""
    instructions = resources.files("kenobot.agent.prompt").joinpath("tag_instructions.md").read_text("utf-8")
    return (
        Trial("one sentence", _asking("Say hello in one short sentence.")),
        Trial(
            "memory",
            _asking("Please remember for good: the boiler was serviced on 3 May.", instructions),
            _lacks_the_fact,
        ),
        Trial(
            "long answer",
            _asking(f"Write the numbers from 1 to {_LINES} as words, one a line, and nothing else."),
            _is_short,
        ),
    )


def _lacks_the_fact(text: str) -> str:
    return "" if "<memory>" in text else "the fact was not put between <memory> tags, as KenoBot's instructions ask"


def _is_short(text: str) -> str:
    return "it is much shorter than what was asked for" if len(text.split()) < _LINES else ""


def _asking(text: str, system: str = "You are a helpful assistant.") -> Request:
    return Request((Block(system),), (Message("user", (Block(text),)),), max_tokens=2048)


async def _ask(provider: Provider, trial: Trial, seconds: float) -> TrialResult:
    texts: list[str] = []
    last, first, began = Delta(), 0.0, time.monotonic()
    try:
        async with asyncio.timeout(seconds):
            async for delta in provider.stream(trial.request):
                if delta.text and not first:
                    first = time.monotonic() - began
                texts.append(delta.text)
                last = delta
    except TimeoutError:
        return TrialResult(trial.name, "it took too long", first, time.monotonic() - began)
    except KenobotError as error:
        return TrialResult(trial.name, str(error), first, time.monotonic() - began)
    usage = last.usage or Usage()
    read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    problem = trial.judge(Reply("".join(texts), last.stop_reason or "", last.model))
    return TrialResult(trial.name, problem, first, time.monotonic() - began, read, usage.output_tokens)
