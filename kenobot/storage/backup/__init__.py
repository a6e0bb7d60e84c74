"""Copies of a whole home: made beside a running bot, checked, and put back."""
