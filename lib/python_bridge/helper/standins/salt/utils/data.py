"""Values, lists and maps."""

import collections.abc
import fnmatch
import functools
import hashlib
import random as _random
import re

from salt.defaults import DEFAULT_TARGET_DELIM
from salt.utils.stringutils import to_bytes, to_str


class CaseInsensitiveDict(collections.abc.MutableMapping):
    """A map whose text keys are equal in any case."""

    def __init__(self, init=None, **kwargs):
        self._data = {}
        self.update(init or {}, **kwargs)

    @staticmethod
    def _key(key):
        return key.lower() if isinstance(key, str) else key

    def __setitem__(self, key, value):
        self._data[self._key(key)] = (key, value)

    def __getitem__(self, key):
        return self._data[self._key(key)][1]

    def __delitem__(self, key):
        del self._data[self._key(key)]

    def __iter__(self):
        return (key for key, _value in self._data.values())

    def __len__(self):
        return len(self._data)

    def __repr__(self):
        return repr(dict(self.items()))

    def copy(self):
        return CaseInsensitiveDict(self)


def _changed_case(data, change):
    if isinstance(data, collections.abc.Mapping):
        return {_changed_case(key, change): _changed_case(value, change) for key, value in data.items()}
    if isinstance(data, (list, tuple, set)):
        return type(data)(_changed_case(item, change) for item in data)
    return change(data) if isinstance(data, str) else data


def to_lowercase(data, preserve_dict_class=False):
    return _changed_case(data, str.lower)


def to_uppercase(data, preserve_dict_class=False):
    return _changed_case(data, str.upper)


def compare_dicts(old=None, new=None):
    """What differs, by key: `old` and `new`, which is empty where there is none."""
    changes = {}
    for key in set(new or {}) | set(old or {}):
        if key not in old:
            changes[key] = {"old": "", "new": new[key]}
        elif key not in new:
            changes[key] = {"new": "", "old": old[key]}
        elif new[key] != old[key]:
            changes[key] = {"old": old[key], "new": new[key]}
    return changes


def compare_lists(old=None, new=None):
    result = {}
    for name, one, other in (("new", new or [], old or []), ("old", old or [], new or [])):
        more = [item for item in one if item not in other]
        if more:
            result[name] = more
    return result


def _converted(data, convert, keys, tuples):
    if isinstance(data, collections.abc.Mapping):
        items = [(convert(key) if keys else key, _converted(value, convert, keys, tuples)) for key, value in data.items()]
        return dict(items)
    if isinstance(data, (list, set)):
        return type(data)(_converted(item, convert, keys, tuples) for item in data)
    if isinstance(data, tuple):
        items = [_converted(item, convert, keys, tuples) for item in data]
        return tuple(items) if tuples else items
    return convert(data)


def decode(data, encoding=None, errors="strict", keep=False, normalize=False, preserve_dict_class=False,
           preserve_tuples=False, to_str=False):
    """Bytes in a value as text."""

    def convert(value):
        if not isinstance(value, (bytes, bytearray)):
            return value
        try:
            return value.decode(encoding or "utf-8", errors)
        except UnicodeDecodeError:
            if keep:
                return value
            raise

    return _converted(data, convert, True, preserve_tuples)


decode_dict = decode_list = decode_tuple = decode


def encode(data, encoding=None, errors="strict", keep=False, preserve_dict_class=False, preserve_tuples=False):
    """Text in a value as bytes."""

    def convert(value):
        return value.encode(encoding or "utf-8", errors) if isinstance(value, str) else value

    return _converted(data, convert, True, preserve_tuples)


encode_dict = encode_list = encode_tuple = encode


def exactly_n(iterable, amount=1):
    return sum(bool(item) for item in iterable) == amount


def exactly_one(iterable):
    return exactly_n(iterable)


def traverse_dict(data, key, default=None, delimiter=DEFAULT_TARGET_DELIM):
    at = data
    try:
        for each in key.split(delimiter):
            at = at[each]
    except (KeyError, IndexError, TypeError):
        return default
    return at


def traverse_dict_and_list(data, key, default=None, delimiter=DEFAULT_TARGET_DELIM):
    """The value at a path of keys, and of indices of lists."""
    at = data
    for each in key.split(delimiter) if isinstance(key, str) else [key]:
        if isinstance(at, list):
            try:
                index = int(each)
            except ValueError:
                found = [item[each] for item in at if isinstance(item, dict) and each in item]
                if not found:
                    return default
                at = found[0]
                continue
            if not -len(at) <= index < len(at):
                return default
            at = at[index]
            continue
        try:
            at = at[each]
        except (KeyError, TypeError):
            try:
                at = at[int(each)]
            except (KeyError, TypeError, ValueError, IndexError):
                return default
    return at


def filter_by(lookup_dict, lookup, traverse, merge=None, default="default", base=None):
    """The value of the first key that the looked-up value matches, merged with others."""
    import copy

    import salt.utils.dictupdate
    from salt.exceptions import SaltException

    value = None
    wanted = traverse_dict_and_list(traverse, lookup, None)
    for each in wanted if isinstance(wanted, (list, tuple, set)) else [wanted]:
        for key in lookup_dict:
            if fnmatch.fnmatchcase(str(each), str(key)):
                value = lookup_dict[key]
                break
        if value is not None:
            break
    if value is None:
        value = lookup_dict.get(default, None)
    value = copy.deepcopy(value)
    if base and base in lookup_dict:
        known = copy.deepcopy(lookup_dict[base])
        value = salt.utils.dictupdate.update(known, value) if isinstance(value, collections.abc.Mapping) else known
    if merge:
        if not isinstance(merge, collections.abc.Mapping):
            raise SaltException("filter_by merge argument must be a dictionary.")
        value = merge if value is None else salt.utils.dictupdate.update(value, copy.deepcopy(merge))
    return value


def subdict_match(data, expr, delimiter=DEFAULT_TARGET_DELIM, regex_match=False, exact_match=False):
    """Whether a value at a path matches: `os:Deb*`."""

    def matches(value, pattern):
        text, pattern = str(value).lower(), pattern.lower()
        if regex_match:
            return re.match(pattern, text) is not None
        return text == pattern if exact_match else fnmatch.fnmatch(text, pattern)

    parts = expr.split(delimiter)
    for count in range(1, len(parts)):
        found = traverse_dict_and_list(data, delimiter.join(parts[:count]), {}, delimiter)
        pattern = delimiter.join(parts[count:])
        if found == {}:
            continue
        if isinstance(found, (list, tuple)) and any(matches(item, pattern) for item in found):
            return True
        if isinstance(found, dict):
            if pattern == "*" or any(matches(key, pattern) for key in found):
                return True
        elif matches(found, pattern):
            return True
    return False


def substr_in_list(string_to_search_for, list_to_search):
    return any(string_to_search_for in text for text in list_to_search)


def is_dictlist(data):
    """Whether it is a list of maps with one key each."""
    if not isinstance(data, list):
        return False
    return all(isinstance(item, (str, int, float)) or (isinstance(item, dict) and len(item) == 1) for item in data) and any(
        isinstance(item, dict) for item in data
    )


def repack_dictlist(data, strict=False, recurse=False, key_cb=None, val_cb=None):
    """A list of maps with one key each, as one map."""
    import salt.utils.yaml

    if isinstance(data, str):
        data = salt.utils.yaml.safe_load(data)
    key_of = key_cb or (lambda key: key)
    value_of = val_cb or (lambda key, value: value)
    if not isinstance(data, list) or any(not isinstance(item, (str, int, float, dict)) for item in data):
        return {}
    packed = {}
    for item in data:
        if isinstance(item, dict):
            if len(item) != 1:
                return {}
            key, value = next(iter(item.items()))
            if recurse and is_dictlist(value):
                value = repack_dictlist(value, recurse=recurse)
            packed[key_of(key)] = value_of(key, value)
        elif strict:
            return {}
        else:
            packed[key_of(item)] = value_of(item, None)
    return packed


def is_list(value):
    return isinstance(value, list)


def is_iter(thing, ignore=(str,)):
    if isinstance(thing, ignore):
        return False
    try:
        iter(thing)
        return True
    except TypeError:
        return False


def sorted_ignorecase(to_sort):
    return sorted(to_sort, key=lambda text: text.lower())


def is_true(value=None):
    """Whether a value stands for true; text: `true`, or a number above 0."""
    try:
        value = int(value)
    except (ValueError, TypeError):
        pass
    if isinstance(value, (int, float)):
        return value > 0
    return str(value).lower() == "true" if isinstance(value, str) else bool(value)


def mysql_to_dict(data, key):
    """The table that `mysql` prints, by the column `key`."""
    found, header = {}, None
    for line in data:
        if not line or not line.startswith("|"):
            continue
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if header is None:
            header = cells
            continue
        row = {name: cell for name, cell in zip(header, cells) if name}
        found[row[key]] = row
    return found


def simple_types_filter(data):
    if isinstance(data, dict):
        return {_simple(key): simple_types_filter(data[key]) for key in sorted(data, key=str)}
    if isinstance(data, list):
        return [simple_types_filter(item) for item in data]
    return _simple(data)


def _simple(value):
    return value if value is None or isinstance(value, (str, int, float, bool)) else repr(value)


def stringify(data):
    return [to_str(item) if isinstance(item, (bytes, str)) else str(item) for item in data]


def filter_falsey(data, recurse_depth=None, ignore_types=()):
    """A value without its parts that are false."""
    deeper = None if recurse_depth is None else recurse_depth - 1

    def kept(value):
        if isinstance(value, (dict, list, set)) and (recurse_depth is None or recurse_depth > 0):
            value = filter_falsey(value, deeper, ignore_types)
        return value

    def stays(value):
        return type(value) in ignore_types or bool(value)

    if isinstance(data, dict):
        pairs = [(key, kept(value)) for key, value in data.items()]
        return type(data)((key, value) for key, value in pairs if stays(value))
    if isinstance(data, (list, set)):
        return type(data)(value for value in map(kept, data) if stays(value))
    return data


def recursive_diff(old, new, ignore_keys=None, ignore_order=False, ignore_missing_keys=False):
    """The parts of two values that differ: `old` and `new`."""
    ignored = ignore_keys or []
    if isinstance(old, dict) and isinstance(new, dict):
        found = {"old": {}, "new": {}}
        for key in list(old) + [key for key in new if key not in old]:
            if key in ignored or (ignore_missing_keys and key not in new):
                continue
            if key not in new:
                found["old"][key] = old[key]
            elif key not in old:
                found["new"][key] = new[key]
            else:
                deeper = recursive_diff(old[key], new[key], ignored, ignore_order, ignore_missing_keys)
                for side in deeper:
                    found[side][key] = deeper[side]
        return {side: value for side, value in found.items() if value}
    if isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)) and ignore_order:
        return {} if len(old) == len(new) and all(item in new for item in old) else {"old": old, "new": new}
    return {} if old == new else {"old": old, "new": new}


def get_value(obj, path, default=None):
    found = traverse_dict_and_list(obj, path, default)
    return [{"value": found}] if found is not None else [{"value": default}]


def flatten(data, levels=None, preserve_nulls=False, _ids=None):
    flat = []
    for item in data:
        if item is None and not preserve_nulls:
            continue
        if isinstance(item, (list, tuple)) and levels != 0:
            flat.extend(flatten(item, None if levels is None else levels - 1, preserve_nulls))
        else:
            flat.append(item)
    return flat


def hash(value, algorithm="sha512"):
    return hashlib.new(algorithm, to_bytes(value if isinstance(value, (str, bytes)) else str(value))).hexdigest()


def sample(value, size, seed=None):
    return _random.Random(seed).sample(value, size)


def shuffle(value, seed=None):
    return sample(value, len(value), seed)


def json_query(data, expr):
    import jmespath

    return jmespath.search(expr, data)


reduce = functools.reduce
