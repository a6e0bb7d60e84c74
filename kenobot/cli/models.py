"""`kenobot models`: list what the configured services offer, and try a model."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kenobot.app.wiring import TURN_SECONDS
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.counted_model import counted_model
from kenobot.cli.language import say, translate, word_error
from kenobot.cli.model_trials import TrialResult, ask, store_picture, trials
from kenobot.cli.table import print_table
from kenobot.core import plugins
from kenobot.ports.errors import ConfigError, RemoteError, Unavailable
from kenobot.ports.provider import ListsModels, Provider

_GROUP: plugins.PluginGroup = "kenobot.providers"
_ANY = "any"  # a service is asked for its models before one of them is chosen
_LIST_SECONDS = 30.0


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
    for name in [wanted] if wanted else _list_configured(context):
        try:
            found = asyncio.run(_list_models(context, name))
        except ConfigError:
            if wanted:
                raise
            continue
        except RemoteError as error:
            options.print_failure(f"{name}: {word_error(error)}", options.FAILED)
            continue
        reached = True
        chosen = _choose(context, name)
        rows += [{"provider": name, "model": model, "configured": model == chosen} for model in found]
    if context.args.json:
        for row in rows:
            print(json.dumps(row))
    elif rows:
        marked = [(row["provider"], "*" if row["configured"] else "", row["model"]) for row in rows]
        print_table(("provider", "", "model"), marked)
    elif reached or not wanted:
        raise options.NothingFound("models.nothing_listed")
    return 0 if reached else options.FAILED


def _list_configured(context: CommandContext) -> list[str]:
    settings = context.loaded.settings
    return list(dict.fromkeys((*settings.list_enabled_plugins(_GROUP), *settings.plugin_tables(_GROUP))))


def _choose(context: CommandContext, name: str) -> str:
    settings = context.loaded.plugin_settings(_GROUP, name, context.loaded.catalogue.load(_GROUP, name).settings)
    return str(getattr(settings, "model", ""))


async def _list_models(context: CommandContext, name: str) -> tuple[str, ...]:
    async with _provider(context, name, _ANY) as provider:
        if not isinstance(provider, ListsModels):
            raise ConfigError("models.no_choice", name=name)
        try:
            async with asyncio.timeout(_LIST_SECONDS):
                return await provider.models()
        except TimeoutError:
            raise Unavailable("models.listing_late", seconds=f"{_LIST_SECONDS:.0f}") from None


@asynccontextmanager
async def _provider(
    context: CommandContext, name: str, model: str, home: Path | None = None
) -> AsyncIterator[Provider]:
    """Build a provider, and close it. home: where its pictures are, if elsewhere. Raises ConfigError."""
    surroundings = replace(context.plugin_context, home=home) if home else context.plugin_context
    fields = context.loaded.catalogue.load(_GROUP, name).settings.model_fields
    named = model if "model" in fields else ""
    provider: Provider = context.loaded.build_plugin(_GROUP, name, surroundings, named, "models")
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
    return options.FAILED if any(result.problem and result.needed for result in results) else 0


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
    settings = context.loaded.settings
    seconds = TURN_SECONDS
    with tempfile.TemporaryDirectory(prefix="kenobot-") as folder:
        picture = store_picture(Path(folder))
        async with (
            _provider(context, name, model, Path(folder)) as provider,
            counted_model(context, settings, provider, Path(folder), seconds) as counted,
        ):
            return [await ask(counted, trial, seconds) for trial in trials(picture)]
