"""`python -m bench.ends`: how many changes by words that no rule was made with end the memory that they change.

5,360 pairs of sixteen writers who saw no rule, in `bench/ends`: three to six memories of somebody, what they say later,
and the place of the memory that it ends, -1 where it only sounds like it (a good two fifths of them). The four with a 7
or an 8 tried to have both sound alike: many a sentence stands twice, with memories that it ends and with others.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from kenobot.cognitive.remember.extract.heuristic import Message, read_messages

DATA = Path(__file__).with_name("ends")
_SAID = date(2026, 9, 15)


def files() -> list[Path]:
    """Return the file of each writer."""
    return sorted(DATA.glob("*.jsonl"))


def outcomes(path: Path) -> Iterator[str]:
    """What becomes of each pair of a writer: "right", "another", "missed", "wrongly" or "spared"."""
    for line in path.read_text("utf-8").splitlines():
        pair = json.loads(line)
        known = pair["notes"]
        facts = read_messages([Message(pair["says"], _SAID, 1, pair["notes"][-1])], known)
        ended = {number - 1 for fact in facts for number, _ in fact.verdicts}
        if pair["ends"] < 0:
            yield "wrongly" if ended else "spared"
        else:
            yield "missed" if not ended else "right" if ended == {pair["ends"]} else "another"


def main() -> int:
    argparse.ArgumentParser(prog="python -m bench.ends", description=__doc__).parse_args()
    whole = Counter[str]()
    for path in files():
        found = Counter(outcomes(path))
        whole += found
        print(f"{path.stem:4} {_line(found)}", flush=True)
    print(f"all  {_line(whole)}")
    return 0


def _line(found: Counter[str]) -> str:
    changes = found["right"] + found["another"] + found["missed"]
    ended = found["right"] + found["another"] + found["wrongly"]
    alike = found["wrongly"] + found["spared"]
    return (
        f"{found['right']} of {changes} changes end what they change ({found['right'] / changes:.0%}), "
        f"{found['wrongly']} of {alike} that only sound so end something, "
        f"{found['right'] / max(1, ended):.0%} of endings are right"
    )


if __name__ == "__main__":
    raise SystemExit(main())
