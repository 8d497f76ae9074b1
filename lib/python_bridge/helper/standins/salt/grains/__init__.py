"""Functions of the minion."""
