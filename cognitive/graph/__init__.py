"""How records hang together: links that grow with repetition, fade with silence, and lead recall on."""
