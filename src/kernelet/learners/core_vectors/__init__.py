"""Core vector machines and margin features (Tsang, Kocsor, Kwok 2006)."""
