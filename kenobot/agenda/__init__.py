"""Agenda: reminders and other jobs at times, as rows; when they are due, and telling them."""
