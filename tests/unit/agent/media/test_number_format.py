"""Numbers of a workbook are read as their cells show them (ECMA-376 part 1, 18.8.30; Excel 16)."""

import pytest

from kenobot.agent.media.formats.number_format import format_number, format_text
from tests.cases import each


@each(
    ("value", "form", "shown"),
    [
        (0.15, "0%", "15%"),
        (0.1525, "0.00%", "15.25%"),
        (0.25, "0 %", "25 %"),
        (26 / 24, "[h]:mm", "26:00"),
        (26 / 24, "[h]:mm:ss", "26:00:00"),
        (0.5 / 24, "[mm]:ss", "30:00"),
        (46086, "yyyy-mm-dd", "2026-03-05"),
        (46086, "dd/mm/yyyy", "2026-03-05"),
        (46086.604166667, "dd/mm/yyyy hh:mm", "2026-03-05 14:30"),
        (46086, "d mmm yyyy", "5 Mar 2026"),
        (46086, "[$-C0A]dddd", "Thursday"),
        (0.604166667, "h:mm AM/PM", "2:30 PM"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (1234.5, "#,##0.00", "1,234.50"),
        (-1234.5, "#,##0.00_);(#,##0.00)", "(1,234.50)"),
        (950, '#,##0.00\\ "€"', "950.00 €"),
        (950, "[$€-C0A] #,##0.00", "€ 950.00"),
        (8001, "00000", "08001"),
        (600111222, '000" "000" "000', "600 111 222"),
        (1234567, '0.0,,"M"', "1.2M"),
        (1.5, "# ?/?", "1 1/2"),
        (0.75, "# ?/4", "3/4"),
        (12345, "0.00E+00", "1.23E+04"),
        (0, '0;-0;"none"', "none"),
        (5, '[>3]"high" 0;"low" 0', "high 5"),
        (2, '[>3]"high" 0;"low" 0', "low 2"),
        (7, ";;;", ""),
        (0.1 + 0.2, "General", "0.3"),
        (600111222333, "General", "600111222333"),
        (-0.5, "General", "-0.5"),
        (3, 'General" units"', "3 units"),
    ],
)
def test_a_number_is_written_as_its_format_says(value: float, form: str, shown: str) -> None:
    """A date in figures alone is told by year, month and day, as no reader can know which of them comes first."""
    assert format_number(value, form) == shown


def test_a_workbook_of_a_mac_counts_days_from_1904() -> None:
    """As Excel for Mac 2008 and older wrote them."""
    assert format_number(46086 - 1462, "yyyy-mm-dd", from_1904=True) == "2026-03-05"


@pytest.mark.parametrize(("form", "shown"), [("General", "x"), ("@", "x"), ('0;0;0;"<"@">"', "<x>"), (";;;", "")])
def test_a_text_is_written_as_its_format_says(form: str, shown: str) -> None:
    """Three semicolons hide it."""
    assert format_text("x", form) == shown
