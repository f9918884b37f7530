"""Effects on one picture or a stretch of sound: pure numpy functions."""

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]  # (H, W, 3) RGB
Sound = NDArray[np.int16]  # (channels, samples)


def mirror(picture: Picture, strength: float) -> Picture:
    """Swap left and right."""
    return picture[:, ::-1]


def invert(picture: Picture, strength: float) -> Picture:
    """Blend towards the negative."""
    return (picture + strength * (255.0 - 2.0 * picture)).astype(np.uint8)


def pixelate(picture: Picture, strength: float) -> Picture:
    """Show one colour per block of 2 to 32 pixels."""
    side = 2 + int(30 * strength)
    height, width = picture.shape[:2]
    small = picture[side // 2 :: side, side // 2 :: side]
    return small.repeat(side, axis=0).repeat(side, axis=1)[:height, :width]


def edges(picture: Picture, strength: float) -> Picture:
    """Keep only outlines."""
    gray = picture.mean(axis=2, dtype=np.float32)
    outline = np.zeros_like(gray)
    outline[1:, :] += np.abs(np.diff(gray, axis=0))
    outline[:, 1:] += np.abs(np.diff(gray, axis=1))
    lit = np.clip(outline * (1 + 7 * strength), 0, 255).astype(np.uint8)
    return np.repeat(lit[..., None], 3, axis=2)


VIDEO = {"mirror": mirror, "invert": invert, "pixelate": pixelate, "edges": edges}


def robot(sound: Sound, strength: float, phase: int, sample_rate: int) -> Sound:
    """Ring-modulate at 30 to 120 Hz; *phase* is the sample the stretch begins at."""
    hz = 30 + 90 * strength
    carrier = np.sin(2 * np.pi * hz * (phase + np.arange(sound.shape[1])) / sample_rate)
    return (sound * carrier).astype(np.int16)


def loud(sound: Sound, strength: float, phase: int, sample_rate: int) -> Sound:
    """Amplify up to four times, clipped softly."""
    gain = 1 + 3 * strength
    return (np.tanh(sound / 32768.0 * gain) * 32767).astype(np.int16)


AUDIO = {"robot": robot, "loud": loud}
