"""Hold the enabled tools: offer them to a model, validate what it gives them, and run each within bounds."""

import asyncio
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from kenobot.agent.turn.more_tools import MOST_TOKENS, CallTool, FindTool, count_tokens
from kenobot.core import lazy
from kenobot.core.containment import contain
from kenobot.core.json_limits import find_excess
from kenobot.core.left_out import cut_text
from kenobot.core.time_limit import LimitedSteps, TookTooLong
from kenobot.ports.errors import Fenced, PluginError, RemoteError, ToolFailed
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Principal
from kenobot.ports.provider import ToolCall, ToolResult, ToolSpec
from kenobot.ports.tool import Tool, ToolContext, ToolEffects, ToolSource
from kenobot.ports.tool_input import InputWanted
from kenobot.storage.connection import make_storable

_log = logging.getLogger(__name__)

_NAME = lazy.regex(r"[a-zA-Z0-9_-]{1,64}")
_STEP_SECONDS = 10.0  # for which a tool may keep every chat waiting
_GRACE_SECONDS = 1.0  # for a tool to end once it is cancelled
_MOST_MISTAKES = 5
_LONGEST_MISTAKE = 300  # characters: it names keys that a model invented

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """Limits of the tools of one turn.

    rounds: replies that may call tools. calls: of one reply. seconds: of one call. total_seconds: of all of a turn.
    calls_a_day: of everybody.
    result_chars: of one result that the model is shown.
    """

    rounds: int = 8
    calls: int = 16
    seconds: float = 30.0
    total_seconds: float = 120.0
    result_chars: int = 8000
    calls_a_day: int = 500


@dataclass(frozen=True, slots=True)
class PreparedTool:
    """A tool, and what models are told of it. tokens: that this takes in a prompt."""

    tool: Tool[BaseModel]
    spec: ToolSpec
    effects: ToolEffects
    tokens: int

    @classmethod
    def of(cls, tool: Tool[BaseModel]) -> "PreparedTool":
        """Read a tool's declarations. Raises PluginError when they cannot be used."""
        try:
            name, description, effects = tool.name, tool.description, tool.effects
            schema = tool.arguments.model_json_schema()
        except Exception as error:  # a plugin is somebody else's code
            raise PluginError("tools.unusable", kind=type(tool).__name__, reason=error) from error
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise PluginError("tools.bad_name", name=name)
        if not isinstance(description, str) or not description.strip() or not isinstance(effects, ToolEffects):
            raise PluginError("tools.incomplete", name=name)
        if schema.get("type") != "object":
            raise PluginError("tools.bad_arguments", name=name)
        spec = ToolSpec(name, description, schema)
        tokens = count_tokens(spec)
        return cls(tool, replace(spec, tokens=tokens), effects, tokens)


class Toolbox:
    """The enabled tools by name."""

    def __init__(
        self, tools: Iterable[Tool[BaseModel]], limits: ToolLimits, sources: Sequence[ToolSource] = ()
    ) -> None:
        """Prepare the tools. One that cannot be used is left out and logged. sources: of more, which may change."""
        self.limits = limits
        self._fixed = _prepare(tools, {})
        self._sources = sources
        self._known = self._fixed
        more: tuple[Tool[Any], ...] = FindTool(self._list_rest), CallTool()
        self._more = _prepare(more, {})
        self._revisions: tuple[int, ...] = ()
        self._offers: Mapping[str, PreparedTool] = {}  # bounded: the tools; process
        self._offered: dict[bool, tuple[ToolSpec, ...]] = {}  # bounded: whether the owner speaks; process

    @property
    def own_names(self) -> tuple[str, ...]:
        """Return the names of the tools that are of no source."""
        return tuple(self._fixed)

    @property
    def effects(self) -> Mapping[str, ToolEffects]:
        """Return the effects of each tool by its name."""
        return {name: each.effects for name, each in {**self._tools, **self._more}.items()}

    def list_offered(self, principal: Principal) -> tuple[ToolSpec, ...]:
        """Return the tools that a turn of this speaker offers, always in the same order: prompts are cached by it.

        Where all of them would take too many tokens, the first ones and those by which the others are found and called.
        """
        tools, is_owner = self._tools, principal.role == "owner"
        if self._offers is not tools:
            self._offers, self._offered = tools, {}
        if is_owner not in self._offered:
            offered, rest = self._divide(principal)
            more = self._more.values() if rest else ()
            self._offered[is_owner] = tuple(each.spec for each in (*offered, *more))
        return self._offered[is_owner]

    def find(self, name: str, principal: Principal) -> PreparedTool | None:
        """Return the tool of a name if the speaker's turns may call it."""
        found = self._tools.get(name) or self._more.get(name)
        return found if found is not None and self._may_call(principal, found) else None

    def _divide(self, principal: Principal) -> tuple[list[PreparedTool], list[PreparedTool]]:
        """Divide the tools that a speaker may call into those that are offered and the rest."""
        callable_ = [each for each in self._tools.values() if self._may_call(principal, each)]
        if sum(each.tokens for each in callable_) <= MOST_TOKENS:
            return callable_, []
        room = MOST_TOKENS - sum(each.tokens for each in self._more.values())
        offered: list[PreparedTool] = []
        rest: list[PreparedTool] = []
        for each in callable_:
            room -= each.tokens
            (offered if room >= 0 else rest).append(each)
        return offered, rest

    def _list_rest(self, principal: Principal) -> list[ToolSpec]:
        """List the tools that a speaker may call and that are not offered."""
        return [each.spec for each in self._divide(principal)[1]]

    @property
    def _tools(self) -> Mapping[str, PreparedTool]:
        """Return the tools there are now, prepared anew where a source has changed its list."""
        revisions = tuple(source.revision for source in self._sources)
        if revisions != self._revisions:
            self._revisions, known = revisions, self._fixed
            for source in self._sources:
                known = _prepare(source.list_tools(known.keys()), known)
            self._known = known
        return self._known

    async def run(
        self, prepared: PreparedTool, arguments: BaseModel, context: ToolContext, seconds: float
    ) -> ToolResult:
        """Run a tool for at most so many seconds; whatever it does, there is a result. Raises InputWanted, Fenced."""
        try:
            text = await _wait_within(seconds, asyncio.ensure_future(_run_contained(prepared, arguments, context)))
            if not isinstance(text, str):
                raise TypeError(f"it returned a {type(text).__name__}")
        except TimeoutError:
            return make_failure(context.call, f"It took longer than {seconds:.3g} seconds and was broken off.")
        except TookTooLong:
            _log.warning("the tool %s kept everything waiting for %.0f seconds", prepared.spec.name, _STEP_SECONDS)
            return make_failure(context.call, "It kept everything else waiting and was broken off.")
        except InputWanted as wanting:
            if not context.may_ask:
                return make_failure(context.call, self._bound_text(str(wanting)))
            raise
        except (ToolFailed, RemoteError) as error:
            return make_failure(context.call, self._bound_text(str(error)))
        except Fenced:  # the turn is another's, or begins anew
            raise
        except Exception:
            _log.warning("the tool %s broke", prepared.spec.name, exc_info=True)
            return make_failure(context.call, "The tool broke. Calling it again will hardly help.")
        return ToolResult(context.call, self._bound_text(text) or "(nothing)")

    def _bound_text(self, text: str) -> str:
        return cut_text(make_storable(text), self.limits.result_chars)

    @staticmethod
    def _may_call(principal: Principal, each: PreparedTool) -> bool:
        """Keep what changes something or leads out for the owner alone."""
        return principal.role == "owner" or not (each.effects.changes_outside or each.effects.way_out)


def _prepare(tools: Iterable[Tool[BaseModel]], others: Mapping[str, PreparedTool]) -> dict[str, PreparedTool]:
    """Return `others` and those of the tools that can be used, by name."""
    found = dict(others)
    for tool in tools:
        try:
            prepared = PreparedTool.of(tool)
            if prepared.spec.name in found:
                raise PluginError("tools.name_twice", name=prepared.spec.name)
        except PluginError as error:
            _log.error("%s KenoBot runs without it.", error)
        else:
            found[prepared.spec.name] = prepared
    return found


def make_failure(call: str, text: str) -> ToolResult:
    """Tell the model why a call brought nothing."""
    return ToolResult(call, text, failed=True)


def bound_call(call: ToolCall) -> ToolCall:
    """Return a call as it is, or without its arguments and with why, where these are too deep, too large or no text."""
    excess = find_excess(dict(call.arguments)) or _find_half_letter(call)
    problem = call.problem or f"The arguments are refused: {excess}. Call the tool again with simpler ones."
    return replace(call, arguments={}, problem=problem) if excess else call


def _find_half_letter(call: ToolCall) -> str:
    """Return in words that arguments hold what has no UTF-8, and so can neither be stored nor sent; "" where not."""
    try:
        json.dumps(dict(call.arguments), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "they hold half a letter (a lone surrogate)"
    return ""


def validate_arguments(prepared: PreparedTool, call: ToolCall) -> BaseModel | str:
    """Return the arguments of a call, or what is wrong with them in words for the model."""
    try:
        with contain():  # a validator is the plugin's own code
            return prepared.tool.arguments.model_validate(dict(call.arguments))
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        lines = [f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in details]
        shown = "\n".join(line[:_LONGEST_MISTAKE] for line in lines[:_MOST_MISTAKES])
        return f"The arguments are wrong; call it again with others.\n{shown}"
    except Exception:
        _log.warning("the tool %s broke over its arguments", prepared.spec.name, exc_info=True)
        return "The tool broke over these arguments. Call it with others, or do without it."


async def _run_contained(prepared: PreparedTool, arguments: BaseModel, context: ToolContext) -> str:
    """Run a tool; one that wants to end the process ends only itself."""
    with contain():
        return await LimitedSteps(lambda: prepared.tool.run(arguments, context), _STEP_SECONDS)


async def _wait_within(seconds: float, task: "asyncio.Future[T]") -> T:
    """Wait for a tool; one that does not even end when it is cancelled is left behind."""
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        await _cancel_task(task)
        raise
    if task.cancelled():
        raise RuntimeError("it cancelled itself")  # the turn goes on
    if done:
        return task.result()
    await _cancel_task(task)
    raise TimeoutError


async def _cancel_task(task: "asyncio.Future[T]") -> None:
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=_GRACE_SECONDS)
    if not done:
        _log.warning("a tool goes on after it was cancelled")
        task.add_done_callback(lambda left: left.cancelled() or left.exception())
    elif not task.cancelled():
        task.exception()
