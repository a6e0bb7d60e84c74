"""What a message costs a whole `kenobot run`, in under half a minute: `python -m bench.quick`."""
