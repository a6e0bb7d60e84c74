"""Load the certificates that the clients of models trust, once for all clients of a process."""

import ssl
from functools import lru_cache


@lru_cache(maxsize=1)
def load_certificates() -> ssl.SSLContext:
    """Load them: a megabyte, and more processor time than a request takes, of which each home would have its own."""
    import httpx2  # of the SDKs

    return httpx2.create_ssl_context()
