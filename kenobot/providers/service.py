"""Name the failures of a model's service, and bind its client to its own address."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from math import inf, isfinite
from typing import TYPE_CHECKING, Protocol, TypeVar

from kenobot.core import lazy
from kenobot.ports.clock import Clock
from kenobot.ports.errors import (
    AccountRefused,
    AnswerLost,
    ConfigError,
    PromptTooLong,
    RateLimited,
    Rejected,
    RemoteError,
    Unavailable,
)
from kenobot.ports.frozen import dataclass
from kenobot.ports.provider import Delta

if TYPE_CHECKING:
    import httpx2

EventT = TypeVar("EventT")
_EventT_contra = TypeVar("_EventT_contra", contravariant=True)

_KEY_REFUSED = "providers.key_refused"
_MALFORMED = "providers.malformed"
_REFUSALS: dict[int, str] = {
    400: _MALFORMED,
    401: _KEY_REFUSED,
    402: "providers.unpaid",
    403: _KEY_REFUSED,
    404: "providers.no_such_model",
    413: "providers.too_long",
    422: _MALFORMED,
}
_ACCOUNT = (401, 402, 403)
_PASSING = (407, 408, 409, 423, 425)  # whoever stands between, or is busy with something, may let the next one through
_OWN = (401, 402, 408, 409, 413, 429)  # which say what they mean, whoever answers
STATUS_OF: Mapping[str, int] = {
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The HTTP status of an error that arrives within a stream, by the service's name of it."""
_TOO_LONG = (
    "prompt is too long",
    "context window",
    "context limit",
    "context length",
    "context size",
    "context_length_exceeded",
)
_WORDED: Mapping[int, tuple[str, ...]] = {
    402: ("credit balance is too low",),
    401: ("api key not valid", "incorrect api key", "invalid api key"),
}
"""What a refusal is really about, by its words: these services tell it by 400 alone."""
_ERROR_NAME = lazy.regex(r"[a-z_]{1,60}")


LAST_SECONDS = 5.0


class RedirectedAway(Exception):
    """Raised within a request that a server sends on to another one."""


class StrangeAnswer(Exception):
    """Raised within a request whose answer is no stream of events. key: of the error that tells it."""

    key = "providers.strange"

    def __init__(self, key: str = key) -> None:
        super().__init__(key)
        self.key = key


class EndlessAnswer(Exception):
    """Raised within an answer that goes on without a break."""


@dataclass(frozen=True, slots=True)
class ServiceErrors:
    """Compose the errors of one service: the texts hold neither its key nor its own words.

    service, model: their names, as a person knows them.
    """

    service: str
    model: str

    def of_status(
        self,
        status: int,
        name: object = "",
        wait: float | None = None,
        said: object = "",
        headers: Mapping[str, str] | None = None,
    ) -> RemoteError:
        """Return the error of an HTTP status. name: the service's own of it. said: its body, to be searched only.

        headers: of the answer, which tell where something else than the service has given it, such as a hotel's portal.
        """
        if 400 <= status < 500 and status not in _OWN and "html" in (headers or {}).get("content-type", "").lower():
            return Unavailable("providers.web_page", service=self.service)
        status = _find_status(status, said)
        named = name if isinstance(name, str) and _ERROR_NAME.fullmatch(name) else ""
        mark = f" ({status} {named})" if named else f" ({status})"
        if status == 429:
            return RateLimited("providers.pause", wait, service=self.service, mark=mark)
        if status >= 500 or status in _PASSING:
            return Unavailable("providers.try_later", wait, service=self.service, mark=mark)
        is_long = status == 413 or _is_too_long(status, said)
        kind = PromptTooLong if is_long else AccountRefused if status in _ACCOUNT else Rejected
        key = _REFUSALS.get(status, "providers.refused")
        return kind(key, service=self.service, model=self.model, mark=mark)

    def of_connection(self, error: Exception, seconds: float) -> RemoteError:
        """Return the error of a request that got no answer. seconds: the longest that one may take."""
        for each in _causes(error):
            if isinstance(each, RedirectedAway):
                return Unavailable("providers.redirected", service=self.service)
            if isinstance(each, StrangeAnswer):
                return Unavailable(each.key, service=self.service)
            if isinstance(each, EndlessAnswer):
                return Unavailable("providers.flood", service=self.service)
        if isinstance(error, TypeError | AttributeError):  # an event without the form of one
            return Unavailable(StrangeAnswer.key, service=self.service)
        if isinstance(error, TimeoutError):
            return AnswerLost("providers.late", service=self.service, seconds=seconds)
        # Connection errors, the HTTP library's errors and JSON errors within a stream have no base class in common.
        kind = type(error.__cause__ or error).__name__
        lost = AnswerLost if kind == "ReadTimeout" else Unavailable
        return lost("providers.connection_failed", service=self.service, kind=kind)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _find_status(status: int, said: object) -> int:
    """Return the status that fits what a service says with 400."""
    words = str(said or "")[:2000].lower() if status == 400 else ""
    return next((meant for meant, phrases in _WORDED.items() if any(phrase in words for phrase in phrases)), status)


def _is_too_long(status: int, said: object) -> bool:
    """Return whether a refusal is about the prompt's length, for which services have no status of its own."""
    words = str(said or "")[:2000].lower()
    return status == 400 and any(phrase in words for phrase in _TOO_LONG)


def fits_header(key: str) -> bool:
    """Return whether a header can carry a key."""
    return key.isascii() and key.isprintable() and " " not in key


def check_key(key: str, service: str) -> str:
    """Return a key without blanks around it. Raises ConfigError for one that a header cannot carry."""
    key = key.strip()
    if not fits_header(key):
        raise ConfigError("providers.bad_key", service=service)
    return key


def well_formed(text: str) -> str:
    """Replace lone surrogates, which JSON cannot carry."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def retry_after(headers: Mapping[str, str], clock: Clock) -> float | None:
    """Parse the pause that the server asks for, in seconds; None when it asks for none."""
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = (headers.get(name) or "").strip()
        try:
            seconds = float(value) * factor
        except ValueError:
            continue
        if isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        moment = parsedate_to_datetime(headers.get("retry-after") or "")
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - clock.now()).total_seconds())


def subtract_cached(whole: int, *cached: int) -> int:
    """Return the tokens of a prompt that were read in full. cached: those read from a cache and written to it.

    They are parts of the prompt, but for a service that counts them beside it.
    """
    for part in cached:
        whole -= part if part <= whole else 0
    return whole


def check_stream(headers: Mapping[str, str]) -> None:
    """Raise StrangeAnswer for an answer that says itself that it is no stream of events."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if "html" in kind:
        raise StrangeAnswer("providers.web_page")
    if kind.startswith(("image/", "audio/", "video/")) or kind.endswith(("json", "xml", "octet-stream")):
        raise StrangeAnswer()


class StreamEnd(Protocol[_EventT_contra]):
    """Hold the facts that the events of a stream have given so far."""

    stop_reason: str | None

    def take(self, event: _EventT_contra) -> Delta | None:
        """Add the figures of an event and return its text or its call, if it has any."""
        ...


async def read_stream(
    events: AsyncIterator[EventT],
    end: StreamEnd[EventT],
    until: float | None,
    translated: Callable[[Exception], RemoteError],
) -> AsyncGenerator[Delta, None]:
    """Yield what the events of a stream hold. until: the moment by which it has to end. translated: names its failures.

    After the stop reason it is read on for a moment, for its figures and its end: the next request can then have the
    same connection. Whatever goes wrong there, the answer is whole.
    """
    while True:
        ended = end.stop_reason is not None
        try:
            # Not around the `yield`, where the limit would cancel the reader.
            async with asyncio.timeout_at(until):
                event = await anext(events, None)
            if event is None:
                return
            delta = end.take(event)  # the SDKs do not look whether an event has the form that it should
        except Exception as error:
            if ended:
                return
            raise translated(error) from None
        if delta:
            yield delta
        if end.stop_reason is not None and not ended:
            until = min(until or inf, asyncio.get_running_loop().time() + LAST_SECONDS)


def refuse_other_hosts(home: "httpx2.URL") -> "Callable[[httpx2.Request], Awaitable[None]]":
    """Return a hook that refuses redirects to another server: the conversation and the key go to `home` alone."""
    allowed = {(scheme, home.host, home.port) for scheme in (home.scheme, "https")}

    async def check(request: "httpx2.Request") -> None:
        if (request.url.scheme, request.url.host, request.url.port) not in allowed:
            raise RedirectedAway

    return check
