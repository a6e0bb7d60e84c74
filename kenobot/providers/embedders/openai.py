"""Embed by the API of OpenAI, which many other servers offer too."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field, SecretStr

from kenobot.core.network import BaseAddress
from kenobot.ports.errors import ConfigError
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.providers.embedders.http import HttpEmbedder, HttpEmbedderSettings, name_model
from kenobot.providers.service import fits_header

_OPENAI = "https://api.openai.com/v1"


class OpenAISettings(HttpEmbedderSettings):
    """api_key: demanded by OpenAI, not by every server."""

    base_url: BaseAddress = _OPENAI
    model: str = Field("text-embedding-3-small", min_length=1)
    api_key: SecretStr = SecretStr("")


def _rows(answer: Mapping[str, Any]) -> Sequence[object]:
    return [item["embedding"] for item in sorted(answer["data"], key=lambda item: int(item["index"]))]


def build(settings: OpenAISettings, _context: PluginContext) -> HttpEmbedder:
    """Build the embedder. Raises ConfigError when the key is missing or cannot be one."""
    key = settings.api_key.get_secret_value().strip()
    if not key and settings.base_url == _OPENAI:
        raise ConfigError("embedder.no_openai_key")
    if not fits_header(key):
        raise ConfigError("embedder.bad_openai_key")

    def body(texts: Sequence[str]) -> Mapping[str, object]:
        return {"model": settings.model, "input": list(texts), "encoding_format": "float"}

    headers = {"authorization": f"Bearer {key}"} if key else {}
    return HttpEmbedder(
        name_model("openai", settings.model), "The embedding server", settings, "/embeddings", headers, body, _rows
    )


plugin = Plugin(settings=OpenAISettings, build=build)
