"""Channel: which of a client's two data channels a frame travels on."""

from enum import StrEnum


class Channel(StrEnum):
    """The data channels of one client."""

    DATA = "data"
    CONTROL = "control"
