"""Word lists, written as a text and kept as a set."""


def words(text: str) -> frozenset[str]:
    """The words of `text`; a list of a hundred lines would not be read by anyone."""
    return frozenset(text.split())
