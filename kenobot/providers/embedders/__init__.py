"""Embedders: models in this process, and servers behind HTTP."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read once, when numpy is loaded: its threads would spin
