"""Compute multilingual-e5-small: a BERT of 12 layers, by numpy, with weights of 8 bits and one core.

The 4-bit weights of the file are rounded to 8 bits with one scale for each output. Moving weights is most of the work
for a query: they are widened a part at a time into a buffer that stays in the processor's cache, and a part is three
panels of 64, small enough for OpenBLAS's kernel that copies nothing.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kenobot_local.e5_file import HEADS, HIDDEN, LAYERS, POSITIONS, ModelFile, QuantizedRows

Floats = NDArray[np.float32]

_PANEL, _PART = 64, 3  # numbers, and panels that are widened at a time
_HEAD = HIDDEN // HEADS
_PAIRS = _PANEL // _HEAD  # heads in a panel
_ROWS = 128  # tokens at a time where that makes no difference: it bounds what a long text takes
_MOST = 127  # of 8 bits
_LARGEST = 8  # of 4 bits
_CUBE = 0.044715  # of the GELU by tanh, Hendrycks and Gimpel 2016


class _Spreading:
    """A product with its outputs in panels: weights are (parts, panels, inputs, 64), of 8 bits."""

    def __init__(self, weights: "NDArray[np.int8]", scales: Floats, biases: Floats) -> None:
        parts = weights.reshape(-1, _PART, _PANEL, weights.shape[1]).swapaxes(2, 3)
        self._weights = np.ascontiguousarray(parts)
        self._scales, self._biases = scales.reshape(-1, 1, _PANEL), biases.reshape(-1, 1, _PANEL)

    def of(self, x: Floats, buffer: Floats) -> Floats:
        """Multiply (tokens, numbers) to (panels, tokens, 64)."""
        found = np.empty((*self._weights.shape[:2], len(x), _PANEL), np.float32)
        for wide, out in zip(_widen(self._weights, buffer), found, strict=True):
            np.matmul(x, wide, out=out)
        panels = found.reshape(-1, len(x), _PANEL)
        panels *= self._scales
        panels += self._biases
        return panels


class _Gathering:
    """A product with its inputs in panels: weights are (parts, panels, 64, outputs), of 8 bits."""

    def __init__(self, file: ModelFile, name: str) -> None:
        weights, self._scales = _round_tensor(file, name)
        parts = weights.reshape(HIDDEN, -1, _PART, _PANEL).transpose(1, 2, 3, 0)
        self._weights, self._biases = np.ascontiguousarray(parts), file.float_tensor(f"{name}.b")

    def of(self, panels: Floats, buffer: Floats) -> Floats:
        """Multiply (panels, tokens, 64) to (tokens, numbers)."""
        tokens = panels.shape[1]
        parts = panels.reshape(-1, _PART, tokens, _PANEL)
        found = np.empty((*parts.shape[:3], HIDDEN), np.float32)
        for part, wide, out in zip(parts, _widen(self._weights, buffer), found, strict=True):
            np.matmul(part, wide, out=out)
        x: Floats = np.add.reduce(found.reshape(-1, tokens, HIDDEN), 0)
        x *= self._scales
        x += self._biases
        return x


class _Norm:
    """A layer normalisation."""

    def __init__(self, file: ModelFile, name: str) -> None:
        self._weights, self._biases = file.float_tensor(f"{name}.w"), file.float_tensor(f"{name}.b")
        self._least = np.float32(file.norm_epsilon)

    def settle(self, x: Floats) -> None:
        """Normalise each token's numbers in place."""
        x -= np.add.reduce(x, 1, keepdims=True) / np.float32(HIDDEN)
        spread = np.einsum("ij,ij->i", x, x)
        x /= np.sqrt(spread / np.float32(HIDDEN) + self._least)[:, None]
        x *= self._weights
        x += self._biases


class _Layer:
    """Attention and two products, each with its normalisation."""

    def __init__(self, file: ModelFile, name: str) -> None:
        self.heads = _heads(file, name)  # queries, keys and values of all heads
        self.joined, self.after_heads = _Gathering(file, f"{name}ao"), _Norm(file, f"{name}aln")
        self.inner = _Spreading(*_round_tensor(file, f"{name}fi"), file.float_tensor(f"{name}fi.b"))
        self.outer, self.after = _Gathering(file, f"{name}fo"), _Norm(file, f"{name}oln")


class E5Network:
    """The network, for one thread at a time. Raises OSError and ValueError of the file."""

    def __init__(self, file: ModelFile) -> None:
        self._words = file.token_rows
        self._places = file.float_tensor("emb.pos").reshape(POSITIONS, HIDDEN) + file.float_tensor("emb.type")[:HIDDEN]
        self._first = _Norm(file, "emb.ln")
        self._layers = [_Layer(file, f"l{number}.") for number in range(LAYERS)]
        self._buffer = np.empty(_PART * _PANEL * HIDDEN, np.float32)

    def mean_pool(self, tokens: Sequence[int]) -> Floats:
        """Average the outputs for these tokens, 512 at most."""
        x = self._words(tokens)
        x += self._places[: len(tokens)]
        self._first.settle(x)
        with np.errstate(over="ignore"):  # in `_apply_gelu`, where division by infinity gives the right 0
            for layer in self._layers:
                self._pass(x, layer)
        found: Floats = x.mean(0)
        return found

    def _pass(self, x: Floats, layer: _Layer) -> None:
        """Apply a layer in place."""
        panels = layer.heads.of(x, self._buffer).reshape(3, -1, len(x), _PAIRS, _HEAD)
        queries, keys, values = panels.swapaxes(2, 3)
        keys = keys.swapaxes(-1, -2)
        for at in range(0, len(x), _ROWS):
            rows = x[at : at + _ROWS]
            seen = _attend(queries[:, :, at : at + _ROWS], keys, values)
            rows += layer.joined.of(seen, self._buffer)
            layer.after_heads.settle(rows)
            inner = layer.inner.of(rows, self._buffer)
            _apply_gelu(inner)
            rows += layer.outer.of(inner, self._buffer)
            layer.after.settle(rows)


def _widen(weights: "NDArray[np.int8]", buffer: Floats) -> Iterator[Floats]:
    """Widen each part to 32 bits, in one buffer that the next part overwrites."""
    wide = buffer.reshape(weights.shape[1:])
    for part in weights:
        np.copyto(wide, part)
        yield wide


def _attend(queries: Floats, keys: Floats, values: Floats) -> Floats:
    """Weigh the values by attention, as (panels, tokens, 64)."""
    shares = np.matmul(queries, keys)
    shares -= np.maximum.reduce(shares, -1, keepdims=True)
    np.exp(shares, out=shares)
    shares /= np.add.reduce(shares, -1, keepdims=True)
    panels, pairs, tokens, _ = queries.shape
    found = np.empty((panels, tokens, pairs, _HEAD), np.float32)
    np.matmul(shares, values, out=found.swapaxes(1, 2))
    return found.reshape(panels, tokens, _PANEL)


def _apply_gelu(x: Floats) -> None:
    """Apply GELU in place: x / (1 + exp(-√(8/π) (x + c x³)))."""
    slope = -((8 / np.pi) ** 0.5)
    odds = x * x
    odds *= np.float32(slope * _CUBE)
    odds += np.float32(slope)
    odds *= x
    np.exp(odds, out=odds)
    odds += np.float32(1)
    x /= odds


def _heads(file: ModelFile, name: str) -> _Spreading:
    """Join queries, keys and values; queries are divided by the root of a head's size."""
    weights, scales = zip(*[_round_tensor(file, f"{name}{which}") for which in "qkv"], strict=True)
    biases = np.concatenate([file.float_tensor(f"{name}{which}.b") for which in "qkv"])
    all_scales = np.concatenate(scales)
    for numbers in (all_scales, biases):
        numbers[:HIDDEN] /= np.float32(_HEAD**0.5)
    return _Spreading(np.concatenate(weights), all_scales, biases)


def _round_tensor(file: ModelFile, name: str) -> tuple["NDArray[np.int8]", Floats]:
    """Round a tensor to 8 bits: a row of weights for each output, and its scale."""
    blocks: QuantizedRows = file.read_quantized(f"{name}.w", len(file.float_tensor(f"{name}.b")))
    scales = np.abs(blocks.scales).max(1) * np.float32(_LARGEST / _MOST)
    scales[scales == 0] = 1
    numbers = blocks.numbers * (blocks.scales / scales[:, :, None])
    np.rint(numbers, out=numbers)
    return numbers.astype(np.int8).reshape(len(numbers), -1), scales[:, 0]
