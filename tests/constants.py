"""Change constants of the product for as long as a scene plays: limits that no setting changes."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from kenobot.agent.media.intake import MediaLimits
from kenobot.agent.prompt.context_builder import PromptLimits
from kenobot.agent.turn.state_machine import TurnPolicy
from kenobot.agent.turn.toolbox import ToolLimits
from kenobot.agent.turn.turn_services import TurnServices
from kenobot.app import wiring
from kenobot.app.watch import probes
from kenobot.core.retry import RetryPolicy
from kenobot.ledger.model_router import ModelRouter

_CLASSES = {
    each.__name__: each
    for each in (MediaLimits, ModelRouter, PromptLimits, RetryPolicy, ToolLimits, TurnPolicy, TurnServices)
}
_MODULES = {"wiring": wiring, "probes": probes}


def is_constant(name: str) -> bool:
    """Return whether a name means a constant: `PromptLimits.history_min`, `wiring.TURN_SECONDS`."""
    return name.partition(".")[0] in {*_CLASSES, *_MODULES}


@contextmanager
def constants_changed(values: Mapping[str, object]) -> Iterator[None]:
    """Hold other values of constants, by name."""
    with ExitStack() as stack:
        for name, value in values.items():
            owner, _, attribute = name.partition(".")
            if owner in _MODULES:
                stack.enter_context(patch.object(_MODULES[owner], attribute, value))
            else:
                init: Any = vars(_CLASSES[owner])["__init__"]
                stack.enter_context(_default_changed(init, attribute, value))
        yield


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
