"""Campaigns of random cases that look for defects: numbered, seeded, resumable, and counted."""
