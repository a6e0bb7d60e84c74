"""Refuse requests with one plain sentence, in the same form everywhere."""

import logging

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from kenobot.channels.http.server import explain_refusal
from kenobot.ports.errors import StoreError

_log = logging.getLogger(__name__)


class Refusal(BaseModel):
    """The body of every answer that is none."""

    error: str = Field(description="What is wrong, and what to do about it")


def add_error_handlers(app: FastAPI) -> None:
    """Have an app answer errors as refusals."""
    app.add_exception_handler(HTTPException, explain_refusal)
    app.add_exception_handler(RequestValidationError, _explain_request)
    app.add_exception_handler(StoreError, _explain_store)


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
