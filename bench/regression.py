"""Logistic regressions for the trainers of recall: by projected gradients with bounds, and by Newton's method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS, _STEP = 3000, 0.05
_NEWTON_STEPS = 12
_PULL = 0.003  # towards nothing


@dataclass(frozen=True, slots=True)
class Example:
    """A question, or a note found for it: its features, whether it is answered, and what it was asked of."""

    features: tuple[float, ...]
    answered: bool
    source: str


def fit_weights(examples: Sequence[Example], share: Floats, names: Sequence[str], rises: Mapping[str, int]) -> Floats:
    """The weights of features, in log-odds: by projected gradients. share: how much each example counts."""
    rows = np.array([(*each.features, 1.0) for each in examples])
    truth = np.array([each.answered for each in examples], np.float64)
    low = np.array([0.0 if rises.get(name) == 1 else -np.inf for name in names])
    high = np.array([0.0 if rises.get(name) == -1 else np.inf for name in names])
    found = np.clip(np.zeros(len(low)), low, high)
    speed, spread = np.zeros_like(found), np.zeros_like(found)
    for step in range(1, _STEPS + 1):
        odds = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (share * (odds - truth)) + _PULL * np.append(found[:-1], 0.0)
        speed, spread = 0.9 * speed + 0.1 * slope, 0.999 * spread + 0.001 * slope * slope
        found -= _STEP * (speed / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-8)
        found = np.clip(found, low, high)
    return np.asarray(found)


def fit_by_newton(rows: Floats, truth: Floats, share: Floats, pull: float) -> tuple[Floats, float]:
    """The weights of features, a column each, and of "always", in log-odds, by Newton's method; no bounds.

    share: how much each row counts. pull: towards nothing, of features in units of their spread.
    """
    mean, spread = rows.mean(0), rows.std(0)
    spread[spread < 1e-6] = 1e6
    table = np.hstack([(rows - mean) / spread, np.ones((len(rows), 1))])
    pulls = np.append(np.full(table.shape[1] - 1, pull), 1e-6)
    weights = np.zeros(table.shape[1])
    for _ in range(_NEWTON_STEPS):
        likely = 1 / (1 + np.exp(-np.clip(table @ weights, -30, 30)))
        slope = table.T @ (share * (likely - truth)) + pulls * weights
        bend = (table * (share * likely * (1 - likely) + 1e-9)[:, None]).T @ table + np.diag(pulls)
        weights -= np.linalg.solve(bend, slope)
    plain = weights[:-1] / spread
    return plain, float(weights[-1] - plain @ mean)
