"""How long a state machine plays: some seconds as a rule, as long as the profile says when it is the long one."""

import os

from hypothesis import HealthCheck, settings


def effort(examples: int, steps: int) -> settings:
    """`examples` stories of `steps` steps, unless HYPOTHESIS_PROFILE is `long`: then what that profile says.

    Half as many in continuous integration, which tries the same ones each time.
    """
    unhurried = list(HealthCheck)  # real files and threads: slow by Hypothesis's measure, and meant to be
    if os.environ.get("HYPOTHESIS_PROFILE") == "long":
        return settings(suppress_health_check=unhurried)
    if os.environ.get("CI"):
        examples = (examples + 1) // 2
    return settings(max_examples=examples, stateful_step_count=steps, suppress_health_check=unhurried)
