"""Campaigns: the same client under many bad days, each drawn from a seed, and what became of it."""
