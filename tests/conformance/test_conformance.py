"""The recorded cases that lie beside the repository, all of them, as `python -m tests.conformance` plays them."""

import pytest

from tests.conformance import runner
from tests.recorded import CONFORMANCE

CASES = CONFORMANCE


def test_no_recorded_case_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the originals did right is done here too, and what they did wrong is done better."""
    files = sorted(CASES.glob("*.jsonl"))
    if not files:
        pytest.skip("the recorded cases (../shared/conformance beside the repository) are not here")
    code = runner.main([str(path) for path in files])
    printed = capsys.readouterr()
    assert code == 0, printed.out + printed.err
