"""ReactorError: the root of everything the runtime raises on purpose."""


class ReactorError(Exception):
    """Base of everything the runtime raises on purpose."""
