"""An embedder that remembers on disk what it was asked, so that a second run on the same data costs no model."""

import sqlite3
from array import array
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from kenobot.ports.embedder import Embedder, EmbedKind

_BUSY_SECONDS = 60.0  # another run may write to the same file


class CachingEmbedder:
    """`embedder`, with its answers kept in the file `path`. Use it from one thread, and `aclose` it."""

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self._embedder = embedder
        self._file = sqlite3.connect(path, check_same_thread=False, timeout=_BUSY_SECONDS)
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS row (model TEXT, kind TEXT, text BLOB, vector BLOB, "
            "PRIMARY KEY (model, kind, text))"
        )

    @property
    def model_id(self) -> str:
        return self._embedder.model_id

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str], kind: EmbedKind = "passage") -> Sequence[Sequence[float]]:
        found: dict[str, array[float]] = {}
        for text in texts:
            row = self._load_known(text, kind)
            if row is not None:
                found[text] = row
        fresh = [text for text in dict.fromkeys(texts) if text not in found]
        if fresh:
            rows = await self._embedder.embed(fresh, kind)
            for text, numbers in zip(fresh, rows, strict=True):
                found[text] = array("f", numbers)
                values = (self.model_id, kind, _hash(text), found[text].tobytes())
                self._file.execute("INSERT OR REPLACE INTO row VALUES (?, ?, ?, ?)", values)
            self._file.commit()
        return [found[text] for text in texts]

    async def aclose(self) -> None:
        """Close the file, and the embedder behind it."""
        self._file.close()
        close = getattr(self._embedder, "aclose", None)
        if close is not None:
            await close()

    def _load_known(self, text: str, kind: EmbedKind) -> "array[float] | None":
        row = self._file.execute(
            "SELECT vector FROM row WHERE model = ? AND kind = ? AND text = ?", (self.model_id, kind, _hash(text))
        ).fetchone()
        return array("f", row[0]) if row else None


def _hash(text: str) -> bytes:
    """Hash a text, so that no text is kept beside its vector."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
