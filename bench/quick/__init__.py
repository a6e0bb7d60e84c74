"""What a message costs a whole `kenobot run`, in under two minutes: `python -m bench.quick`."""
