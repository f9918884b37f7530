import numpy as np
import pytest
from numpy.typing import NDArray

from reactor_runtime.media.sound import SoundMaker


def tone(rate: int, count: int, channels: int = 1) -> NDArray[np.int16]:
    wave = 12_000 * np.sin(2 * np.pi * 440 * np.arange(count) / rate)
    return np.tile(wave.astype(np.int16), (channels, 1))


def convert(maker: SoundMaker, samples: NDArray[np.int16], size: int) -> NDArray[np.int16]:
    parts = [maker.convert(samples[:, at : at + size]) for at in range(0, samples.shape[1], size)]
    return np.concatenate(parts)


@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 44_100, 48_000, 96_000])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("size", [1, 441, 960, 1000, 48_000])
def test_every_rate_and_length_keeps_its_count_and_shape(
    rate: int, channels: int, size: int
) -> None:
    seconds = 0.25 if size == 1 else 1
    source = tone(rate, int(rate * seconds), channels)
    maker = SoundMaker(rate)
    sound = convert(maker, source, size)
    wanted = int(48_000 * seconds)
    assert wanted - maker.delay * 2 <= len(sound) <= wanted
    expected = tone(48_000, len(sound))[0].astype(int)
    middle = slice(500, len(sound) - 500)
    assert np.abs(sound[middle, 0] - expected[middle]).max() < 60
    assert (sound[:, 0] == sound[:, 1]).all()


def test_what_is_held_back_never_exceeds_the_delay() -> None:
    for rate in (8_000, 16_000, 44_100):
        maker, given, got = SoundMaker(rate), 0, 0
        for size in [441, 1, 3, 960, 17] * 20:
            got += len(maker.convert(tone(rate, size)))
            given += size
            assert given * 48_000 / rate - got <= maker.delay


def test_an_empty_chunk_is_nothing() -> None:
    for rate in (16_000, 48_000):
        assert SoundMaker(rate).convert(np.zeros((1, 0), np.int16)).shape == (0, 2)


def test_more_channels_are_mixed() -> None:
    surround = np.stack([np.full(480, value, np.int16) for value in (100, 200, 300)])
    assert (SoundMaker(48_000).convert(surround) == 200).all()


def test_the_author_may_overwrite_the_samples() -> None:
    samples = tone(48_000, 480)
    sound = SoundMaker(48_000).convert(samples)
    kept = sound.copy()
    samples[:] = 0
    assert (sound == kept).all()


def test_channels_may_change() -> None:
    maker = SoundMaker(16_000)
    assert len(maker.convert(tone(16_000, 1600))) > 4000
    assert len(maker.convert(tone(16_000, 1600, channels=2))) > 4000
