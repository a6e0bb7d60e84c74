"""What KenoBot costs: start, memory, latency, throughput. Run with `make bench`."""
