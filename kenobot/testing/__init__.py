"""What ships for people who test KenoBot or a plugin of it: fakes and contract suites."""
