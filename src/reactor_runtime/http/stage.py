"""Stage: what the routes serve. Empty while the model's class is imported, then a session."""

import asyncio
from typing import TYPE_CHECKING

from reactor_runtime.errors import NoSessionError, SessionUnavailableError
from reactor_runtime.http.server_settings import ServerSettings
from reactor_runtime.metrics import Metrics

if TYPE_CHECKING:  # the routes must answer before model, media and WebRTC are imported
    from reactor_runtime.recording.shelf import Shelf
    from reactor_runtime.recording.step_shelf import StepShelf
    from reactor_runtime.session.session import Session
    from reactor_runtime.uploads.upload_store import UploadStore
    from reactor_runtime.webrtc.signaling import Signaling

RETRY_AFTER_S = 1


class Stage:
    """Holds the session and its signalling from the moment they exist.

    The port answers before the model's class is imported, which may take as long as its weights;
    until then every route answers as for a model that is loading. The signalling may come a little
    after the session; whoever needs it waits.

    Attributes:
        settings: What the routes are told.
        metrics: The figures of this server.
        recordings: Where recordings are kept, ``None`` where none are made.
        steps: Where the results of steps are, ``None`` where none are kept.
    """

    def __init__(self, settings: ServerSettings, metrics: Metrics) -> None:
        self.settings = settings
        self.metrics = metrics
        self.recordings: Shelf | None = None
        self.steps: StepShelf | None = None
        self._session: Session | None = None
        self._signaling: Signaling | None = None
        self._news = asyncio.Event()
        self._has_network = asyncio.Event()
        self._is_closing = False

    def open(self, session: "Session") -> None:
        """Serve *session* from now on, in the place of one that is lost."""
        if self._session is not None and self._session is not session:
            self._session.events.close()
            self._signaling = None
            self._has_network.clear()
        self._session = session
        self._news.set()

    def connect(self, signaling: "Signaling") -> None:
        """Let clients of the session connect from now on."""
        self._signaling = signaling
        self._has_network.set()

    def begin_closing(self) -> None:
        """Take no new session from now on."""
        self._is_closing = True

    def close(self) -> None:
        """Let streams of events end."""
        self._is_closing = True
        self._news.set()
        self._has_network.set()
        if self._session is not None:
            self._session.events.close()

    @property
    def is_closing(self) -> bool:
        """Whether the server is on its way out."""
        return self._is_closing

    @property
    def session(self) -> "Session | None":
        """The session, ``None`` until the model's class is imported."""
        return self._session

    async def wait_for_session(self) -> "Session | None":
        """Return the session as soon as it exists, ``None`` when the server ends before."""
        await self._news.wait()
        return self._session

    def need_session(self) -> "Session":
        """Return the session for a start or stop.

        Raises:
            SessionUnavailableError: The model is loading, or the server is ending.
        """
        if self._is_closing:
            raise SessionUnavailableError("the server is shutting down")
        if self._session is None:
            raise SessionUnavailableError("the model is loading", RETRY_AFTER_S)
        return self._session

    def require(self, session_id: str) -> "Session":
        """Return the running session, which *session_id* must name.

        Raises:
            NoSessionError: No session is running.
            UnknownSessionError: Another one is.
        """
        if self._session is None:
            raise NoSessionError
        self._session.require(session_id)
        return self._session

    def need_uploads(self, session_id: str) -> "UploadStore":
        """Return the files of the running session *session_id*.

        Raises:
            NoSessionError: No session is running.
            UnknownSessionError: Another one is.
        """
        return self.require(session_id).wiring.uploads

    async def need_signaling(self, session_id: str) -> "Signaling":
        """Return the signalling of the running session *session_id*.

        Raises:
            NoSessionError: No session is running.
            UnknownSessionError: Another one is.
            SessionUnavailableError: The server is ending.
        """
        self.require(session_id)
        signaling = await self.need_network()
        self.require(session_id)
        return signaling

    async def need_network(self) -> "Signaling":
        """Return the signalling, whether a session runs or not.

        Raises:
            SessionUnavailableError: The server is ending.
        """
        if self._signaling is None:
            await self._has_network.wait()
        if self._signaling is None:
            raise SessionUnavailableError("the server is shutting down")
        return self._signaling

    def health(self) -> tuple[bool, str, str]:
        """Return whether the process is alive, its public state, and a sentence about it."""
        if self._session is None:
            return True, "loading", "importing the model"
        return self._session.health()
