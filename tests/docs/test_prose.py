"""Functions are named by verbs and docstrings begin with one; what is left of older ways may only fall."""

import tomllib

from tests.docs.prose import ALLOWED, KINDS, count_faults


def test_no_package_has_more_faults_than_before() -> None:
    """No package has more faulty names and docstrings than tests/docs/prose.toml allows."""
    allowed = tomllib.loads(ALLOWED.read_text("utf-8"))
    over = {
        f"{package} {kind}": f"{counts[kind]} instead of {most}"
        for package, counts in count_faults().items()
        for kind in KINDS
        if counts[kind] > (most := allowed.get(package, {}).get(kind, 0))
    }
    assert over == {}, "python -m tests.docs.prose kenobot/PACKAGE lists them"
