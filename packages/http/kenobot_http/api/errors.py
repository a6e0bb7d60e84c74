"""Refuse requests with one plain sentence, in the same form everywhere."""

import logging
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import compile_path

from kenobot.core.settings.explain import word_detail
from kenobot.ports.errors import StoreError
from kenobot.ports.sentences import Sentence
from kenobot_http.problems import explain_refusal, refuse

_log = logging.getLogger(__name__)


class Refusal(BaseModel):
    """The body of every answer that is none: a problem document (RFC 9457)."""

    type: str = Field(description="urn:kenobot: and the key; about:blank where the status says it all")
    title: str = Field(description="The kind of refusal, in the language of Accept-Language, else of the owner")
    status: int
    detail: str = Field(description="What is wrong, and what to do about it, in the same language")
    error: str = Field(description="`detail`, by its former name")
    key: str = Field("", description="Of the sentence, the same in every language")
    # bounded: what one sentence tells; turn
    values: dict[str, Any] = Field(default_factory=dict, description="What the sentence tells, for programs")


def add_error_handlers(app: FastAPI) -> None:
    """Add handlers to an app that answer errors as refusals."""
    app.add_exception_handler(HTTPException, _explain_http)
    app.add_exception_handler(RequestValidationError, _explain_request)
    app.add_exception_handler(StoreError, _explain_store)


async def _explain_http(request: Request, error: Exception) -> Response:
    """Answer a refusal; that of a method names all that the path has, which several routes may share."""
    response = await explain_refusal(request, error)
    if response.status_code == 405:
        path, methods = request.scope["path"], set[str]()
        for template, operations in request.app.openapi()["paths"].items():
            if compile_path(template)[0].match(path):
                methods |= {name.upper() for name in operations}
        response.headers["Allow"] = ", ".join(sorted(methods))
    return response


async def _explain_request(request: Request, error: Exception) -> Response:
    """Name the first field that is wrong; a body that is no JSON is named so."""
    assert isinstance(error, RequestValidationError)
    detail = error.errors()[0]
    if detail["type"] == "json_invalid":
        return refuse(request, 422, Sentence("http.no_json"))
    place = ".".join(str(part) for part in detail["loc"])
    return refuse(request, 422, Sentence("http.field", place=place, problem=word_detail(detail)))


async def _explain_store(request: Request, error: Exception) -> Response:
    _log.warning("a request could not be answered: %s", error)
    return refuse(request, 503, Sentence("api.store_fails"), {"Retry-After": "5"})
