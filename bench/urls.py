"""What a megabyte of hostile text costs the finder of addresses: `python -m bench.links [megabytes]`.

For each text three times of the processor in milliseconds, each the best of three: finding, cutting all, and knowing.
At most 2,000 for one megabyte are wanted, and four times as much for four.
"""

import sys
from collections.abc import Iterator
from functools import partial

from bench.tags import best
from kenobot.agent.safety.urls import SeenUrls, find_urls, remove_urls

MEGABYTE = 1_000_000
WANTED = 2_000


class Hostile:
    """Texts of about `size` characters."""

    def __init__(self, size: int) -> None:
        self.size = size

    def filled(self, unit: str) -> str:
        """`unit` again and again."""
        return unit * (self.size // len(unit))

    def all(self) -> Iterator[tuple[str, str]]:
        """Each text with its title."""
        units = {
            "prose": "What a fine day it is, indeed. ",
            "letters": "a",
            "letters and dots": "a.",
            "addresses": "https://e.com/x ",
            "schemes": "https:",
            "names": "a.com ",
            "mail addresses": "a@b.com ",
            "signs of mail": "a@",
            "brackets": "[",
            "halves of links": "](",
            "links cut short": "[x](",
            "links": "[x](http://a.co) ",
            "links in links": "[http://a.co](http://b.co)",
            "pictures": "![](h.co/a)",
            "references": "[a]:\n",
            "line breaks": "\n",
            "paths": "a/b.c?",
            "letters amid invisible ones": "a\u200b",
            "invisible letters": "\u200b",
            "wide addresses": "ｈｔｔｐｓ：／／ｅ。com ",
            "Chinese": "这是一个测试，我们来看看。",
        }
        for title, unit in units.items():
            yield title, self.filled(unit)
        yield "an address of brackets", "https://" + self.filled(")")
        yield "an address of pairs", "https://a" + self.filled("()") + "." * 10
        yield "an address of slashes", "https://e.com" + self.filled("/a")
        yield "an address of dots", "https://e.com" + self.filled(".")
        yield "a link of blanks", "](  " + self.filled(" ")
        yield "brackets before a link", self.filled("[") + "](http://a.co)"
        yield "links around links", "[" * (self.size // 20) + "a.co/x" + "](http://e.co/1)" * (self.size // 20)
        yield "addresses that cutting makes", self.filled("a.[com/x](http://e.co) ")


def main(megabytes: str = "1") -> int:
    """Print the times for each text, and a mark at those that are too long."""
    size = int(megabytes) * MEGABYTE
    print(f"{'':32}{'characters':>10} {'find':>8} {'cut':>8} {'know':>8}")
    for title, text in Hostile(size).all():
        known = partial(SeenUrls, [text])
        times = best(partial(find_urls, text)), best(partial(remove_urls, text, lambda _: False, "[cut]")), best(known)
        slow = any(took > WANTED * size / MEGABYTE for took in times)
        print(f"{title:32}{len(text):>10,} " + " ".join(f"{took:8.1f}" for took in times) + (" !" if slow else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
