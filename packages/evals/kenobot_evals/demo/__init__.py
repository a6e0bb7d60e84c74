"""A guided tour: the life of one memory from February to June, played by the real product on a clock of its own."""
