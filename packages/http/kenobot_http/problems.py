"""Answer refused requests with problem documents (RFC 9457), in the language of who asks."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from kenobot.ports.sentences import Language, Sentence, find_sentence, pack_values, render

_TITLES: Final[Mapping[int, str]] = {
    400: "http.bad_request",
    401: "http.no_key",
    403: "http.forbidden",
    404: "http.not_found",
    405: "http.wrong_method",
    408: "http.too_slow",
    409: "http.conflict",
    413: "http.too_long",
    421: "http.misdirected",
    422: "http.wrong_field",
    429: "http.too_many",
    503: "http.unavailable",
}
_TYPE: Final = "urn:kenobot:"
PROBLEM: Final = "application/problem+json"


def describe_problem(status: int, why: str, language: Language) -> dict[str, Any]:
    """Describe a refusal to people by `detail`, or `error` as it was called, and to programs by `key` and `values`."""
    title = Sentence(_TITLES[status]).render(language) if status in _TITLES else HTTPStatus(status).phrase
    detail = title if why in ("", HTTPStatus(status).phrase) else render(why, language)
    told: dict[str, Any] = {"type": "about:blank", "title": title, "status": status, "detail": detail, "error": detail}
    if isinstance(why, Sentence) and find_sentence(why.key, "en"):
        told |= {"type": f"{_TYPE}{why.key}", "key": why.key, "values": pack_values(why)}
    return told


def refuse(request: Request, status: int, why: str = "", headers: Mapping[str, str] | None = None) -> Response:
    """Answer a request with a problem document."""
    state = getattr(request.scope.get("app"), "state", None)
    own = getattr(state, "language", None)
    language = choose_language(request.headers.get("accept-language", ""), own() if own is not None else "en")
    about = {"Content-Language": language, "Vary": "Accept-Language", **(headers or {})}
    body = describe_problem(status, why, language)
    return JSONResponse(body, status, headers=about, media_type=PROBLEM)


async def explain_refusal(request: Request, error: Exception) -> Response:
    """Answer a request that was refused, with the reason."""
    assert isinstance(error, HTTPException)
    return refuse(request, error.status_code, error.detail, error.headers)


def choose_language(accepted: str, default: Language) -> Language:
    """Choose the language of an answer by an Accept-Language header; `default` where it names none of ours."""
    best, wish = default, 0.0
    for part in accepted.split(","):
        tag, _, weight = part.strip().lower().partition(";")
        own = tag.partition("-")[0].strip()
        language: Language | None = "es" if own == "es" else "en" if own == "en" else default if own == "*" else None
        if language is not None and (rank := _read_weight(weight)) > wish:
            best, wish = language, rank
    return best


def _read_weight(text: str) -> float:
    name, _, number = text.replace(" ", "").partition("=")
    try:
        return min(1.0, float(number)) if name == "q" else 1.0
    except ValueError:
        return 0.0
