"""Where the dashboard is on the server."""

from typing import Final

BASE: Final = "/dashboard"
LOGIN: Final = f"{BASE}/login"
