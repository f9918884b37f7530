"""Note: what the author said beside a picture or a sound, as a recording keeps it."""

import json
from dataclasses import dataclass
from typing import Any

from reactor_runtime.model.json_value import whole_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One piece of metadata.

    Attributes:
        at_s: Seconds of the file at which what it is about begins.
        track: The output track.
        value: As the author gave it.
    """

    at_s: float
    track: str
    value: Any

    def as_json(self, most: int) -> bytes:
        """Return it as a JSON object, its value in *most* bytes.

        Raises:
            NotJsonError: Its value has no such form.
        """
        place = f'"time": {round(self.at_s, 6)}, "track": {json.dumps(self.track)}'
        return f'{{{place}, "value": {whole_json(self.value, most)}}}'.encode()
