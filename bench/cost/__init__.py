"""What a prompt costs as memory grows: `kenobot bench cost`."""
