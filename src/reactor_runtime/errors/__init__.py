"""Every exception the runtime raises on purpose, in one tree.

The class tells the caller what to do, attributes tell it about what, ``__str__`` tells a person.
Raw arguments go to ``super().__init__`` so that every error survives pickling.
"""

from reactor_runtime.errors.authors import (
    ApplicationError,
    BufferClosed,
    CommandError,
    OutsideTurnError,
)
from reactor_runtime.errors.configuration import (
    AddressError,
    ConfigurationError,
    ManifestError,
    ModelImportError,
    SettingError,
)
from reactor_runtime.errors.connections import (
    ConnectionClosedError,
    ConnectionIdError,
    ConnectionLimitError,
    MessageTooLargeError,
    NegotiationError,
    NoNetworkError,
    OfferError,
    PortTakenError,
    UnknownConnectionError,
    WireError,
)
from reactor_runtime.errors.jobs import (
    ControlPlaneAbsentError,
    ControlPlaneError,
    JobConflictError,
    JobSpecError,
    NodeNetworkError,
    RendezvousError,
    SourceError,
    UnknownJobError,
)
from reactor_runtime.errors.models import (
    EncoderError,
    FrameError,
    HostClosedError,
    MessageBodyError,
    ModelLoadError,
    PayloadError,
    TrackError,
    UnresolvedUploadError,
)
from reactor_runtime.errors.reactor_error import (
    ReactorError,
)
from reactor_runtime.errors.requests import (
    BodyTooLargeError,
    BodyTooSlowError,
    RequestShapeError,
)
from reactor_runtime.errors.sessions import (
    IllegalTransitionError,
    NoSessionError,
    SessionStateError,
    SessionUnavailableError,
    StartRefusedError,
    UnknownSessionError,
)
from reactor_runtime.errors.workers import (
    ForeignExceptionError,
    FramesHeldError,
    MemoryShortError,
    RankDesync,
    WorkerCrashed,
    WorkerError,
    WorkerGroupError,
    WorkerGroupRefusedError,
    WorkerGroupStateError,
    WorkerTimeout,
    describe_exit,
)

__all__ = [
    "AddressError",
    "ApplicationError",
    "BodyTooLargeError",
    "BodyTooSlowError",
    "BufferClosed",
    "CommandError",
    "ConfigurationError",
    "ConnectionClosedError",
    "ConnectionIdError",
    "ConnectionLimitError",
    "ControlPlaneAbsentError",
    "ControlPlaneError",
    "EncoderError",
    "ForeignExceptionError",
    "FrameError",
    "FramesHeldError",
    "HostClosedError",
    "IllegalTransitionError",
    "JobConflictError",
    "JobSpecError",
    "ManifestError",
    "MemoryShortError",
    "MessageBodyError",
    "MessageTooLargeError",
    "ModelImportError",
    "ModelLoadError",
    "NegotiationError",
    "NoNetworkError",
    "NoSessionError",
    "NodeNetworkError",
    "OfferError",
    "OutsideTurnError",
    "PayloadError",
    "PortTakenError",
    "RankDesync",
    "ReactorError",
    "RendezvousError",
    "RequestShapeError",
    "SessionStateError",
    "SessionUnavailableError",
    "SettingError",
    "SourceError",
    "StartRefusedError",
    "TrackError",
    "UnknownConnectionError",
    "UnknownJobError",
    "UnknownSessionError",
    "UnresolvedUploadError",
    "WireError",
    "WorkerCrashed",
    "WorkerError",
    "WorkerGroupError",
    "WorkerGroupRefusedError",
    "WorkerGroupStateError",
    "WorkerTimeout",
    "describe_exit",
]
