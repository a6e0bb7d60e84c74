#!/bin/sh
# Claude Code, asked once without a terminal, asks its model four times where the answer is cut at max_tokens, and then calls
# that an error of its own: exit code 1, `subtype` success, `is_error` true, and a `stop_reason` that no model gave.
# Exits 0 while that is so, 1 once it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-audit --no-fund --prefix "$folder" @anthropic-ai/claude-code@2.1.332
cd "$folder"
python3 - "$folder" <<'END'
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

asked = []


class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if body.get("stream") else "application/json")
        self.end_headers()
        if not body.get("stream"):
            self.wfile.write(b"{}")
            return
        asked.append(body)
        message = {"id": "m", "type": "message", "role": "assistant", "model": body["model"], "content": []}
        message |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        end = {"stop_reason": "max_tokens", "stop_sequence": None}
        for event in (
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Half of it"}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
program, home = f"{sys.argv[1]}/node_modules/.bin/claude", sys.argv[1]
environment = {
    "PATH": os.environ["PATH"],
    "HOME": home,
    "ANTHROPIC_API_KEY": "none",
    "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}
command = [program, "--print", "--output-format", "json", "--tools", "", "--setting-sources", ""]
done = subprocess.run(command, input="hello", env=environment, cwd=home, capture_output=True, text=True, timeout=120)
told = json.loads(done.stdout)
told = told[-1] if isinstance(told, list) else told
print("Claude Code 2.1.332 asked", len(asked), "times, exit code", done.returncode)
print({name: told.get(name) for name in ("subtype", "is_error", "stop_reason", "result")})
sys.exit(not (len(asked) == 4 and done.returncode == 1 and told["is_error"] and told["stop_reason"] == "stop_sequence"))
END
