"""Texts as they are embedded, their hashes, and where a vector belongs."""

from hashlib import blake2b

from kenobot.cognitive.policy.recall import MeaningPolicy
from kenobot.ports.frozen import dataclass

_END = 1 / 3  # of what counts of a long message is its end: people say what it is about at either


@dataclass(frozen=True, slots=True)
class VectorKey:
    """The record or message of a vector, by number. live: False for a superseded record."""

    number: int
    scope: str
    subject: str = ""
    live: bool = True


@dataclass(frozen=True, slots=True)
class StoredVector:
    """A stored vector, as bytes of floats, and the text of its record. model: "" where there is no vector."""

    key: VectorKey
    text: str = ""
    model: str = ""
    embedding: bytes = b""


@dataclass(frozen=True, slots=True)
class PendingText:
    """A record or message to be embedded. is_new: it came since the worker began."""

    key: VectorKey
    text: str
    is_turn: bool
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """A record or message with its vector and the hash of its passage, as they are stored."""

    item: PendingText
    hash: bytes
    embedding: bytes


def passage_text(text: str, policy: MeaningPolicy) -> str:
    """Cut a text to what is embedded as a passage."""
    return " ".join(text[: 2 * policy.passage_chars].split())[: policy.passage_chars]


def query_text(text: str, policy: MeaningPolicy) -> str:
    """Cut a message to what is embedded as a query: of a long one its beginning and its end."""
    said = " ".join(text.split())
    if len(said) <= policy.query_chars:
        return said
    end = int(policy.query_chars * _END)
    return f"{said[: policy.query_chars - end]} … {said[-end:]}"


def text_hash(text: str) -> bytes:
    """Hash a text, so that no text is stored beside its vector."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
