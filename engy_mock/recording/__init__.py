"""Cassettes: what a real service has said, kept without its secrets, said again, and made a scenario of."""
