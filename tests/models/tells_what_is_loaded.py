"""Tells which of the server's libraries its process has loaded."""

import sys

from tests.models.parts import Note

from reactor_runtime import ReactorModel, event

OF_THE_SERVER = ("av", "aiortc", "starlette", "fastapi", "uvicorn", "prometheus_client", "torch")


class TellsWhatIsLoaded(ReactorModel):
    @event
    def tell(self) -> Note:
        return Note(text=" ".join(name for name in OF_THE_SERVER if name in sys.modules))
