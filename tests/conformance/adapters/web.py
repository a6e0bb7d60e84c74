"""Which addresses of the web are read at all."""

from kenobot.tools.web.address import AddressRefused, Reach, check_url
from tests.conformance.cases import Adapter, Case, Checked, Compared, Outcome


def fetch_url_guard(case: Case) -> Outcome:
    """The original reads some addresses of its own machine; here those are refused."""
    try:
        check_url(case.input, Reach())
        actual = "allowed"
    except AddressRefused as error:
        actual = f"blocked-{error.fault}"
    if case.quirk:
        return Checked(actual, {"it is refused": actual != "allowed"})
    return Compared(actual, case.expected)


ADAPTERS: dict[str, Adapter] = {"tools.fetch_url_guard": fetch_url_guard}
