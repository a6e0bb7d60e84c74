"""Sign and verify requests by HMAC-SHA-256 over their time and body."""

import hmac

_AHEAD_OR_LATE = 300  # seconds between the clocks of both ends, the way included
_DIGITS = 12


def signature(secret: str, body: bytes, stamp: str = "") -> str:
    """Return the signature of a body at a Unix time, of the body alone where there is no time: `sha256=<hex>`."""
    signed = b".".join((stamp.encode(), body)) if stamp else body
    return f"sha256={hmac.new(secret.encode(), signed, 'sha256').hexdigest()}"


def is_signed(secret: str, body: bytes, stamp: str, given: str) -> bool:
    """Return whether `given` is the signature of a body, in a time that does not depend on where they differ."""
    return hmac.compare_digest(signature(secret, body, stamp).encode(), given.encode("utf-8", "replace"))


def is_current(stamp: str, now: float) -> bool:
    """Return whether a Unix time in digits is at most five minutes from `now`."""
    is_number = stamp.isascii() and stamp.isdecimal() and len(stamp) <= _DIGITS
    return is_number and abs(now - int(stamp)) <= _AHEAD_OR_LATE
