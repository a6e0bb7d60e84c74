"""Change constants of the product for as long as a scene plays: limits that no setting changes."""

import importlib
import inspect
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar
from unittest.mock import patch

from pydantic import BaseModel

from kenobot.agent.intake_policy import IntakePolicy
from kenobot.agent.media.intake import MediaLimits
from kenobot.agent.prompt.prompt_context import PromptLimits
from kenobot.agent.turn.state_machine import TurnPolicy
from kenobot.agent.turn.task_run import TaskLimits
from kenobot.agent.turn.toolbox import ToolLimits
from kenobot.agent.turn.turn_services import TurnServices
from kenobot.app import wiring
from kenobot.app.watch import probes
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.core.retry import RetryPolicy
from kenobot.ledger.model_router import ModelRouter
from kenobot.providers.anthropic import AnthropicSettings
from kenobot_http.settings import HttpSettings

_CLASSES = {
    each.__name__: each
    for each in (
        *(IntakePolicy, MediaLimits, ModelRouter, PromptLimits, RetryPolicy, TaskLimits, ToolLimits, TurnPolicy),
        *(TurnServices, AnthropicSettings, HttpSettings, TelegramSettings),
    )
}
_MODULES = {"wiring": wiring, "probes": probes}
_LATE = {"EmailSettings": "kenobot_email.settings", "MatrixSettings": "kenobot_matrix.settings"}
_VARIABLE = "TEST_CONSTANTS"
_CHANGES = ExitStack()  # of this process, as long as it lives
ModelT = TypeVar("ModelT", bound=BaseModel)


def is_constant(name: str) -> bool:
    """Return whether a name means a constant: `PromptLimits.history_min`, `wiring.TURN_SECONDS`."""
    return name.partition(".")[0] in {*_CLASSES, *_MODULES, *_LATE}


@contextmanager
def constants_changed(values: Mapping[str, object]) -> Iterator[None]:
    """Hold other values of constants, by name."""
    with ExitStack() as stack:
        for name, value in values.items():
            owner, _, attribute = name.partition(".")
            if owner in _MODULES:
                stack.enter_context(patch.object(_MODULES[owner], attribute, value))
            elif attribute in getattr(_find_class(owner), "__class_vars__", ()):
                stack.enter_context(patch.object(_find_class(owner), attribute, value))
            else:
                init: Any = vars(_CLASSES[owner])["__init__"]
                stack.enter_context(_default_changed(init, attribute, value))
        yield


def _find_class(name: str) -> type[Any]:
    """Return a class by its name; one of a distribution of its own is imported only now."""
    return getattr(importlib.import_module(_LATE[name]), name) if name in _LATE else _CLASSES[name]


def with_constants(model: type[ModelT], /, **given: object) -> ModelT:
    """Build settings of which those that are constants have other values in this object alone."""
    constants = {name: value for name, value in given.items() if name in model.__class_vars__}
    others = {name: value for name, value in given.items() if name not in constants}
    return model.model_validate(others).model_copy(update=constants)


def write_variable(values: Mapping[str, object]) -> dict[str, str]:
    """Return the environment with which a process of the tests changes constants."""
    return {_VARIABLE: json.dumps(dict(values))} if values else {}


def change_by_variable() -> None:
    """Change the constants that the environment names, as long as this process lives."""
    _CHANGES.enter_context(constants_changed(json.loads(os.environ.get(_VARIABLE, "{}"))))


@contextmanager
def _default_changed(function: Callable[..., object], name: str, value: object) -> Iterator[None]:
    """Hold another default of a parameter."""
    changed: Any = function
    of_keywords = dict(changed.__kwdefaults__ or {})
    if name in of_keywords:
        with patch.object(changed, "__kwdefaults__", of_keywords | {name: value}):
            yield
        return
    with_defaults = [
        each.name
        for each in inspect.signature(changed).parameters.values()
        if each.default is not each.empty and each.kind is not each.KEYWORD_ONLY
    ]
    values = dict(zip(with_defaults, changed.__defaults__, strict=True))
    assert name in values
    with patch.object(changed, "__defaults__", tuple((values | {name: value}).values())):
        yield
