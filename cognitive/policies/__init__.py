"""Every threshold of memory, an area a module; `kenobot.cognitive.policy` gathers them."""
