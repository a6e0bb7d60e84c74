"""`python -m tests.tour [FILE]` plays the scripted first hours and writes their transcripts into docs/tour.md."""

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.tour.play import PAGE, hours, play_alone, replace_part


def main() -> None:
    """Play every hour and write its part of the page."""
    page = Path(sys.argv[1]) if sys.argv[1:] else PAGE

    def transcript(name: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            return play_alone(name, Path(folder))

    with ThreadPoolExecutor(2) as pool:
        for name, text in zip(hours(), pool.map(transcript, hours()), strict=True):
            replace_part(page, name, text)
            print(f"{name}: {len(text.splitlines())} lines")


if __name__ == "__main__":
    main()
