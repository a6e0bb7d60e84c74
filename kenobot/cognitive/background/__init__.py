"""Background work of memory: extract facts from turns, sum up conversations, sleep at night."""
