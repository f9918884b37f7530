"""ExitStatus: what the exit status of ``reactor serve`` says."""

from enum import IntEnum


class ExitStatus(IntEnum):
    """Why the process ended. 128 + n: a second signal n forced it."""

    STOPPED = 0  # it was told to, by SIGINT or SIGTERM, and left nothing undone
    MODEL_FAILED = 1  # the model could not be loaded, or failed while it served
    WRONG_SETTINGS = 2  # manifest, flag, variable or class reference
    NO_ADDRESS = 3  # the port is taken, or the address is none of this machine's
    STUCK = 4  # it was told to stop, but the model did not let go within the grace
