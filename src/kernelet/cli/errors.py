"""The one way in which a command fails."""


class CommandError(Exception):
    """A command cannot do its work; the message is one line for a person, with what to try."""
