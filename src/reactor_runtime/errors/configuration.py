"""What a person who sets the runtime up got wrong."""

from reactor_runtime.errors.reactor_error import ReactorError


class ConfigurationError(ReactorError):
    """Raised for a mistake in a manifest, a flag or an environment variable; status 2."""


class ConfigFileError(ConfigurationError):
    """Raised when a file that a person wrote cannot be used.

    Attributes:
        path: The file.
        key: The dotted key, ``None`` when the whole file is wrong.
        found: What stands there, in words.
        wanted: What should stand there, or what to do.
        line: Line in the file, from 1; ``None`` when there is none.
    """

    def __init__(
        self, path: str, key: str | None, found: str, wanted: str, line: int | None = None
    ) -> None:
        super().__init__(path, key, found, wanted, line)
        self.path, self.key, self.found, self.wanted, self.line = path, key, found, wanted, line

    def __str__(self) -> str:
        place = f"{self.path}, line {self.line}" if self.line else self.path
        subject = f"{self.key}: " if self.key else ""
        return f"{place}: {subject}found {self.found}; wanted {self.wanted}"


class ManifestError(ConfigFileError):
    """Raised when a manifest cannot be used."""


class SettingError(ConfigurationError):
    """Raised when a flag or an environment variable has a wrong value.

    Attributes:
        source: The flag or variable, as a person writes it.
        found: What it holds, in words; never a secret.
        wanted: What it should hold.
    """

    def __init__(self, source: str, found: str, wanted: str) -> None:
        super().__init__(source, found, wanted)
        self.source, self.found, self.wanted = source, found, wanted

    def __str__(self) -> str:
        return f"{self.source}: found {self.found}; wanted {self.wanted}"


class ModelImportError(ConfigurationError):
    """Raised when ``module:Class`` does not lead to a model class.

    Attributes:
        model: The reference as it was written.
        reason: What went wrong.
        place: The author's file and line, ``None`` when no line of theirs is at fault.
        advice: What to do or what was tried; may be empty.
    """

    def __init__(self, model: str, reason: str, place: str | None = None, advice: str = "") -> None:
        super().__init__(model, reason, place, advice)
        self.model, self.reason, self.place, self.advice = model, reason, place, advice

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        advice = f" ({self.advice})" if self.advice else ""
        return f"cannot import {self.model}: {place}{self.reason}{advice}"


class AddressError(ReactorError):
    """Raised when the server cannot listen where it was told; status 3.

    Attributes:
        host: The name or address.
        port: The TCP port.
        reason: Why not.
        cure: What to do; may be empty.
    """

    def __init__(self, host: str, port: int, reason: str, cure: str = "") -> None:
        super().__init__(host, port, reason, cure)
        self.host, self.port, self.reason, self.cure = host, port, reason, cure

    def __str__(self) -> str:
        cure = f"; {self.cure}" if self.cure else ""
        return f"cannot listen on {self.host} port {self.port}: {self.reason}{cure}"
