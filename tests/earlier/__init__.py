"""A home of each earlier schema: made by the code of its time, opened by today's."""
