"""Commands: what clients may call, read from the marked methods and the public state fields."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from reactor_runtime.model.annotations import (
    Names,
    alternatives,
    class_of,
    is_authors,
    names_around,
    names_in,
)
from reactor_runtime.model.client_info import ClientInfo
from reactor_runtime.model.events import EventMark, event_mark, payload_parameters
from reactor_runtime.model.input_field import MISSING, FieldInfo, field_info
from reactor_runtime.model.input_state import InputState
from reactor_runtime.model.messages import ModelMessage

if TYPE_CHECKING:
    from pydantic_core import CoreSchema, SchemaValidator


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandField:
    """One argument of a command.

    Attributes:
        name: The argument.
        info: Its default, constraints and description.
    """

    name: str
    info: FieldInfo


class Command:
    """Base of the classes that describe one command each.

    Attributes:
        name: The name on the wire.
        __command_fields__: The arguments by name, in order.
    """

    name: ClassVar[str] = ""
    __command_fields__: ClassVar[Mapping[str, CommandField]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContract:
    """One command of a model.

    Attributes:
        name: The name on the wire.
        description: For people; may be empty.
        command: The class that describes its arguments.
        schema: The object that a client sends as its arguments.
        validator: Takes that object and returns the arguments.
        handler_name: The method that runs; ``None`` where the command only sets a state field.
        field: The state field it sets; ``None`` where a method runs.
        client_parameter: The parameter that wants the caller's ``ClientInfo``, if any.
        replies: The message classes its return annotation names.
    """

    name: str
    description: str
    command: type[Command]
    schema: "CoreSchema"
    validator: "SchemaValidator"
    handler_name: str | None = None
    field: str | None = None
    client_parameter: str | None = None
    replies: tuple[type[ModelMessage], ...] = ()

    @property
    def fields(self) -> Mapping[str, CommandField]:
        """Return the arguments by name."""
        return self.command.__command_fields__


Declared = tuple[Any, FieldInfo]  # an argument's annotation and right-hand side


def event_methods(cls: type) -> dict[str, tuple[str, EventMark]]:
    """Return the commands of a model class: wire name to method name and mark.

    Raises:
        TypeError: Two methods have one wire name.
    """
    found: dict[str, tuple[str, EventMark]] = {}
    for method in _method_names(cls):
        mark = event_mark(inspect.getattr_static(cls, method))
        if mark is None:
            continue
        if mark.name in found:
            raise TypeError(
                f"{cls.__qualname__}: {found[mark.name][0]}() and {method}() are both the command "
                f"{mark.name!r}; rename one: @event(name=…)"
            )
        found[mark.name] = (method, mark)
    return found


def read_commands(cls: type, state: type[InputState] | None) -> dict[str, CommandContract]:
    """Return the commands of a model class by wire name, then those that set its state.

    Raises:
        TypeError: Naming class, method and parameter, and the cure.
    """
    commands = {
        name: _of_method(cls, method, mark) for name, (method, mark) in event_methods(cls).items()
    }
    for command in _setters(state) if state else ():
        commands.setdefault(command.name, command)
    return commands


def client_parameter(parameters: list[inspect.Parameter], names: Names) -> str | None:
    """Return which parameter wants a ``ClientInfo``: by annotation, else by the name ``client``."""
    for parameter in parameters:
        if _is_client(parameter, names):
            return parameter.name
    return None


def _method_names(cls: type) -> list[str]:
    owners = [k for k in reversed(cls.__mro__) if is_authors(k)]
    return list(dict.fromkeys(name for owner in owners for name in vars(owner)))


def _of_method(cls: type, method: str, mark: EventMark) -> CommandContract:
    function = inspect.getattr_static(cls, method)
    names = names_in(function, cls)
    parameters = payload_parameters(function)
    client = client_parameter(parameters, names)
    declared = {p.name: _declared(p) for p in parameters if p.name != client}
    return CommandContract(
        name=mark.name,
        description=mark.description,
        **_arguments(mark.name, declared, names, f"{cls.__qualname__}.{method}({{}})"),
        handler_name=method,
        client_parameter=client,
        replies=message_classes(inspect.signature(function).return_annotation, names),
    )


def _declared(parameter: inspect.Parameter) -> Declared:
    untyped = parameter.annotation is inspect.Parameter.empty
    has_default = parameter.default is not inspect.Parameter.empty
    return (
        Any if untyped else parameter.annotation,
        field_info(parameter.default if has_default else MISSING),
    )


def _setters(state: type[InputState]) -> list[CommandContract]:
    setters = []
    for name, field in state._reactor_fields.items():
        if field.is_public:
            declared = {name: (field.annotation, field.info)}
            around, where = names_around(field.owner), f"{state.__qualname__}.{{}}"
            setters.append(
                CommandContract(
                    name=f"set_{name}",
                    description=field.info.description,
                    **_arguments(f"set_{name}", declared, around, where),
                    field=name,
                )
            )
    return setters


def _arguments(
    command: str, declared: Mapping[str, Declared], names: Names, where: str
) -> dict[str, Any]:
    """Return what a contract says of a command's arguments; *where* is filled with their names."""
    # Here and not above: a model's class is defined without pydantic, which takes long to load.
    from pydantic_core import SchemaValidator

    from reactor_runtime.model.value_rules import field
    from reactor_runtime.model.value_schema import SchemaReader

    reader = SchemaReader()
    fields, shapes = {}, {}
    for name, (annotation, info) in declared.items():
        try:
            shapes[name] = field(reader.read(annotation, names), info)
        except NameError as error:
            raise TypeError(
                f"{where.format(name)}: {error}; define or import the type at module level, "
                "not under TYPE_CHECKING only"
            ) from error
        except TypeError as error:
            raise TypeError(f"{where.format(name)}: {error}") from error
        fields[name] = CommandField(name=name, info=info)
    schema = reader.record(shapes)
    return {
        "command": _command_class(command, fields),
        "schema": schema,
        "validator": SchemaValidator(schema),
    }


def _command_class(name: str, fields: dict[str, CommandField]) -> type[Command]:
    title = "".join(word.capitalize() for word in name.split("_"))
    return type(title, (Command,), {"name": name, "__command_fields__": fields})


def _is_client(parameter: inspect.Parameter, names: Names) -> bool:
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty:
        return parameter.name == "client"
    try:
        return ClientInfo in alternatives(annotation, names)
    except NameError:  # imported for type checkers only
        return str(annotation).split("|")[0].strip().endswith("ClientInfo")


def message_classes(annotation: Any, names: Names) -> tuple[type[ModelMessage], ...]:
    """Return the message classes that a return annotation names; none if it cannot be read."""
    try:
        found = alternatives(annotation, names)
    except NameError:
        return ()
    kinds = [class_of(k, ModelMessage) for a in found for k in (a, *get_args(a))]
    return tuple(k for k in kinds if k is not None and k is not ModelMessage)
