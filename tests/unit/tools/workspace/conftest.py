"""Give each test a workspace of its own."""

from pathlib import Path

import pytest

from tests.unit.tools.workspace.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk.make(tmp_path)
