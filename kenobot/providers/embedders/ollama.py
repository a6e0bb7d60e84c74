"""Embed by an Ollama server."""

from collections.abc import Mapping, Sequence
from operator import itemgetter

from pydantic import Field

from kenobot.core.network import BaseAddress
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.providers.embedders.http import HttpEmbedder, HttpEmbedderSettings, name_model


class OllamaSettings(HttpEmbedderSettings):
    """The server must have pulled the model."""

    base_url: BaseAddress = "http://127.0.0.1:11434"
    model: str = Field("bge-m3", min_length=1)


def build(settings: OllamaSettings, _context: PluginContext) -> HttpEmbedder:
    def body(texts: Sequence[str]) -> Mapping[str, object]:
        return {"model": settings.model, "input": list(texts), "truncate": True}

    named = name_model("ollama", settings.model)
    return HttpEmbedder(named, "The Ollama server", settings, "/api/embed", {}, body, itemgetter("embeddings"))


plugin = Plugin(settings=OllamaSettings, build=build)
