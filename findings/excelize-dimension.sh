#!/bin/sh
# openpyxl, asked to read only, returns one cell of every workbook that excelize wrote, and no error.
# excelize leaves <dimension ref="A1"> as it is in a new sheet; openpyxl's read-only mode trusts it.
# Exits 0 while that is so, 1 once either has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check excelize==0.1.0 openpyxl==3.1.5
cd "$folder"
"$folder/venv/bin/python" - <<'END'
import sys
from importlib.metadata import version

import excelize
import openpyxl

book = excelize.new_file()
for number, row in enumerate([["Date", "Item", "Price"], ["2026-03-05", "Rent", 950]], 1):
    book.set_sheet_row("Sheet1", f"A{number}", row)
book.save_as("book.xlsx")
print("excelize", version("excelize"), "openpyxl", version("openpyxl"))
read = {}
for read_only in (False, True):
    sheet = openpyxl.load_workbook("book.xlsx", read_only=read_only).active
    read[read_only] = list(sheet.iter_rows(values_only=True))
    print("read_only" if read_only else "whole", read[read_only])
sys.exit(not (len(read[False]) == 2 and read[True] == [("Date",)]))
END
