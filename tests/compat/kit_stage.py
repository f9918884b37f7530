"""KitStage: an adapter under the author's test kit."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tests.compat.stage import TOLERANCE, Client
from tests.waiting import wait_for

from reactor_runtime import UploadedFile
from reactor_runtime.testing import FakeClient, Message, ModelHarness

_MOST_PICTURES = 400


class KitClient:
    """A client of the kit."""

    def __init__(self, client: FakeClient, rate_of: Callable[[str], int]) -> None:
        self._client, self._rate_of = client, rate_of

    def send(self, command: str, /, **arguments: Any) -> Message | None:
        return self._client.send(command, arguments)

    def hear(self, name: str) -> dict[str, Any]:
        return dict(self._client.message(name).body)

    def see(self, *greys: int, track: str = "main_video") -> None:
        wanted, seen = list(greys), list[float]()
        while wanted:
            (frame,) = self._client.frames(track)
            seen.append(float(np.mean(frame.data)))
            if abs(seen[-1] - wanted[0]) <= TOLERANCE:
                wanted.pop(0)
            assert len(seen) < _MOST_PICTURES, f"no {wanted} among {seen}"

    def listen(self, track: str, samples: int) -> Sequence[int]:
        heard: list[int] = []
        while len(heard) < samples:
            (frame,) = self._client.frames(track)
            heard += [int(value) for value in np.asarray(frame.data)[0]]
        return heard[:samples]

    def show(self, **greys: int) -> None:
        for track, grey in greys.items():
            self._client.push_frame(track, np.full((48, 64, 3), grey, np.uint8))

    def speak(self, track: str, seconds: float) -> None:
        rate = self._rate_of(track)
        wave = np.sin(np.arange(round(rate * seconds)) * 2 * np.pi * 440 / rate) * 10_000
        for start in range(0, len(wave), rate // 50):
            piece = wave[start : start + rate // 50].astype(np.int16)
            self._client.push_frame(track, piece[None])

    def upload(self, file: UploadedFile) -> None:
        self._client.upload(file)

    def error(self) -> str:
        return self._client.error().message

    def leave(self) -> None:
        self._client.disconnect()


class KitStage:
    """An adapter in this process, or on ranks."""

    def __init__(self, served: ModelHarness, ranks: int, rates: dict[str, int]) -> None:
        self.ranks = ranks
        self._served, self._rates = served, rates

    def connect(self) -> Client:
        return KitClient(self._served.connect(), self._rates.__getitem__)

    def end_session(self) -> None:
        self._served.end_session()

    def logged(self, words: str) -> str:
        wait_for(lambda: words in self._served.log, otherwise=lambda: self._served.log)
        return self._served.log
