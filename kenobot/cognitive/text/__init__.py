"""Words, dates, names and quotations in texts: how memory splits, normalises and compares them."""
