"""How long a state machine plays: the same stories each time, for some seconds; many new ones by `make fuzz`."""

import os

from hypothesis import HealthCheck, settings


def is_fuzzing() -> bool:
    """Whether new examples are wanted, many of them."""
    return os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"


def effort(examples: int, steps: int) -> settings:
    """`examples` stories of `steps` steps; as many and as long ones as the profile says when that is to fuzz."""
    unhurried = list(HealthCheck)  # real files and threads: slow by Hypothesis's measure, and meant to be
    if is_fuzzing():
        return settings(suppress_health_check=unhurried)
    return settings(max_examples=examples, stateful_step_count=steps, suppress_health_check=unhurried)
