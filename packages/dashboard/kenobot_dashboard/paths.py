"""Name the paths of the dashboard on the server."""

from typing import Final

BASE: Final = "/dashboard"
LOGIN: Final = f"{BASE}/login"
CHAT: Final = "dashboard"
"""The conversation of the page *chat*."""
