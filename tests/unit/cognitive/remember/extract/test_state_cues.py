"""The texts without which a pattern of states or events is not tried are those that it needs."""

import json
import re
from pathlib import Path

from bench import state_cues
from kenobot.cognitive.remember.extract import states
from kenobot.cognitive.text.words import fold
from kenobot.evals.life import fortnights


def test_the_cues_are_those_of_the_patterns() -> None:
    """`python -m bench.state_cues` writes them anew."""
    assert json.loads(state_cues.FILE.read_text("utf-8")) == state_cues.derive()


def test_no_text_that_a_pattern_matches_lacks_its_cues() -> None:
    """On everything that the invented people and dialogues say, clause by clause."""
    said = {text for text in _sayings() if len(text) < 200}
    forms = [form for kind in states._kinds().values() for form in (*kind.states, *kind.ends)]
    matched = 0
    for text in said:
        plain = fold(text).replace("’", "'")
        for form in forms:
            if form.pattern.search(plain):
                matched += 1
                assert form.number in states.forms_with_cues(plain), (text, form.pattern)
    assert matched > 100


def _sayings() -> set[str]:
    folder = Path(fortnights.__file__).with_name("data")
    texts = "\n".join(path.read_text("utf-8") for path in sorted(folder.glob("e*.toml")))
    return set(re.findall(r'"([^"\n]+)"', texts))
