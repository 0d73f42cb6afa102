"""Relevance vector machines (Tipping 2001; Tipping and Faul 2003)."""
