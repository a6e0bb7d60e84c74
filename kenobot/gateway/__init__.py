"""The border to the channels: who may talk, delivery, owner alerts, channel supervision."""
