"""Define the query and the result of a recall, and render both the result and its X-ray."""
