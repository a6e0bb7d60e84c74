"""Refuse requests with one plain sentence, in the same form everywhere."""

import logging

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import compile_path

from kenobot.channels.http.server import explain_refusal
from kenobot.ports.errors import StoreError

_log = logging.getLogger(__name__)


class Refusal(BaseModel):
    """The body of every answer that is none."""

    error: str = Field(description="What is wrong, and what to do about it")


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


async def _explain_request(_: Request, error: Exception) -> Response:
    """Name the first field that is wrong; a body that is no JSON is named so."""
    assert isinstance(error, RequestValidationError)
    detail = error.errors()[0]
    if detail["type"] == "json_invalid":
        return _refusal(422, "the body is not JSON")
    place = ".".join(str(part) for part in detail["loc"])
    return _refusal(422, f"{place}: {detail['msg']}")


async def _explain_store(_: Request, error: Exception) -> Response:
    _log.warning("a request could not be answered: %s", error)
    return _refusal(503, "the disk or the database fails for now: try again", {"Retry-After": "5"})


def _refusal(status: int, why: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": why}, status, headers=headers)
