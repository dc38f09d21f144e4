"""YAML. A key that stands twice in a mapping is refused: PyYAML would take the last one."""

from pathlib import Path
from typing import Any

import yaml

from workflow_scripts.core.config_size import require_bounded
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.json_text import KeyTwiceError, parse_json

# The loader in C takes a tenth of the time; not every PyYAML has it.
FastLoader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_yaml(text: str, name: str, loader: type[Any] = FastLoader) -> Any:
    """Return the value of a YAML text.

    Raises:
        InputError: it is no YAML, has a key twice, or is too large for what it stands for.
    """
    try:
        reader = loader(text)
        node = reader.get_single_node()
        _require_single_keys(node, name)
        value = None if node is None else reader.construct_document(node)
    except RecursionError:
        why = "too many levels of lists and mappings in one another"
        raise InputError(f"{name}: can't be read as YAML: {why}") from None
    except (ValueError, yaml.YAMLError) as error:
        raise InputError(f"{name}: can't be read as YAML: {error}") from error
    require_bounded(value, name)
    return value


class _Dumper(yaml.SafeDumper):
    """Writes objects of JSON arguments as all others."""


_Dumper.add_multi_representer(dict, _Dumper.represent_dict)


def yaml_of(value: Any, width: int = 80) -> str:
    """Return a value as YAML, its keys in their order, folded at a width."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=width)


def require_single_keys(path: Path | str) -> None:
    """Refuse a file with a key twice in a mapping, which another program reads.

    What is no YAML passes: the other program says so. It reads JSON as well, not all of which is
    YAML: two escapes of one emoji are not.

    Raises:
        InputError: a key stands twice.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        try:
            node = yaml.compose(text, Loader=FastLoader)
        except yaml.YAMLError:
            parse_json(text)
            return
    except KeyTwiceError as error:
        raise InputError(f"{path}: {error}") from error
    except (OSError, ValueError, RecursionError):
        return
    _require_single_keys(node, str(path))


def _require_single_keys(document: yaml.Node | None, name: str) -> None:
    waiting, seen = [document], set[int]()
    while waiting:
        node = waiting.pop()
        # An alias is the node that it stands for.
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            waiting += [part for entry in node.value for part in entry]
            _require_different([key for key, _ in node.value], name)


def _require_different(keys: list[yaml.Node], name: str) -> None:
    lines: dict[tuple[str, str], int] = {}
    for key in keys:
        if not isinstance(key, yaml.ScalarNode):
            continue
        line = key.start_mark.line + 1
        if (key.tag, key.value) in lines:
            raise InputError(
                f"{name}: the key {key.value!r} stands in line {lines[key.tag, key.value]} and "
                f"again in line {line} of one mapping, and the first would be lost; delete one, "
                "or join what stands below them"
            )
        lines[key.tag, key.value] = line
