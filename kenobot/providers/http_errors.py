"""Translate the refusals of a server behind HTTP into RemoteErrors. Pure."""

from collections.abc import Mapping
from math import isfinite

from kenobot.ports.errors import AnswerLost, RateLimited, Rejected, RemoteError, Unavailable

_LONGEST_PAUSE = 3600.0  # seconds


def refusal(server: str, model: str, status: int, headers: Mapping[str, str]) -> RemoteError:
    """Translate an answer that is none. server: its name at the beginning of a sentence."""
    mark = f" ({status})"
    if status == 429:
        return RateLimited(f"{server} asks for a pause: its rate limit is reached.{mark}", _pause(headers))
    if status >= 500 or status in (408, 409):
        return Unavailable(f"{server} cannot answer right now.{mark}", _pause(headers))
    if status in (401, 403):
        return Rejected(f"{server} refused the API key.{mark}")
    if status == 404:
        return Rejected(f"{server} does not know the model {model} or this address.{mark}")
    return Rejected(f"{server} refused the request, and asking again will not help.{mark}")


def broken_connection(server: str, error: Exception) -> RemoteError:
    """Translate an error of the HTTP library, by its name: its classes have no useful base in common.

    What broke while the answer was read had been taken in, and may be charged for.
    """
    name = type(error).__name__
    lost = name.startswith(("Read", "RemoteProtocol", "Decoding"))
    return (AnswerLost if lost else Unavailable)(f"The connection to {server} failed ({name}).")


def _pause(headers: Mapping[str, str]) -> float | None:
    """Parse the pause that a server asks for, in seconds; None when there is none, or as a date."""
    try:
        seconds = float(headers.get("retry-after") or "")
    except ValueError:
        return None
    return min(seconds, _LONGEST_PAUSE) if isfinite(seconds) and seconds >= 0 else None
