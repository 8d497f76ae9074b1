"""Merges maps."""

import collections.abc
import copy
import logging

from salt.defaults import DEFAULT_TARGET_DELIM
from salt.exceptions import SaltInvocationError

log = logging.getLogger(__name__)


def update(dest, upd, recursive_update=True, merge_lists=False, strict=False):
    """Merges `upd` into `dest`."""
    if not isinstance(dest, collections.abc.Mapping) or not isinstance(upd, collections.abc.Mapping):
        raise TypeError("Cannot update using non-dict types in dictupdate.update()")
    for key, value in upd.items():
        old = dest.get(key)
        if not recursive_update:
            dest[key] = value
        elif isinstance(old, collections.abc.Mapping) and isinstance(value, collections.abc.Mapping):
            dest[key] = update(old, value, merge_lists=merge_lists, strict=strict)
        elif strict and isinstance(old, collections.abc.Mapping):
            raise TypeError("A map cannot be replaced by another value: %s" % key)
        elif isinstance(old, list) and isinstance(value, list) and merge_lists:
            dest[key] = old + [item for item in value if item not in old]
        else:
            dest[key] = value
    return dest


def merge_list(obj_a, obj_b):
    merged = {}
    for key, value in obj_a.items():
        merged[key] = [value, obj_b[key]] if key in obj_b else value
    return merged


def merge_recurse(obj_a, obj_b, merge_lists=False):
    return update(copy.deepcopy(obj_a), obj_b, merge_lists=merge_lists)


def merge_aggregate(obj_a, obj_b):
    return merge_recurse(obj_a, obj_b, merge_lists=True)


def merge_overwrite(obj_a, obj_b, merge_lists=False):
    merged = dict(obj_a)
    merged.update(obj_b)
    return merged


def merge(obj_a, obj_b, strategy="smart", renderer="yaml", merge_lists=False):
    """Merges by a strategy: list, recurse, aggregate, overwrite, none, smart."""
    if strategy == "smart":
        strategy = "aggregate" if renderer.split("|")[-1] in ("yamlex", "pyobjects") else "recurse"
    if strategy == "list":
        return merge_list(obj_a, obj_b)
    if strategy == "recurse":
        return merge_recurse(obj_a, obj_b, merge_lists)
    if strategy == "aggregate":
        return merge_aggregate(obj_a, obj_b)
    if strategy == "overwrite":
        return merge_overwrite(obj_a, obj_b, merge_lists)
    if strategy == "none":
        return merge_recurse(obj_a, obj_b)
    log.warning("Unknown merging strategy '%s', fallback to recurse", strategy)
    return merge_recurse(obj_a, obj_b)


def ensure_dict_key(in_dict, keys, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    """Makes the maps on the way to a key."""
    at = in_dict
    for key in keys.split(delimiter) if delimiter in keys else [keys]:
        if not isinstance(at.get(key), dict):
            at[key] = {}
        at = at[key]
    return in_dict


def _parent(in_dict, keys, delimiter, ordered_dict):
    *way, last = keys.split(delimiter)
    at = in_dict
    for key in way:
        if key not in at or at[key] is None:
            at[key] = {}
        at = at[key]
        if not isinstance(at, dict):
            raise SaltInvocationError("The dict path doesn't lead to a dict: %s" % keys)
    return at, last


def set_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    parent, last = _parent(in_dict, keys, delimiter, ordered_dict)
    parent[last] = value
    return in_dict


def update_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    parent, last = _parent(in_dict, keys, delimiter, ordered_dict)
    if not isinstance(value, dict):
        raise SaltInvocationError("Cannot update {} with a {}.".format(type(parent.get(last)), type(value)))
    parent[last] = dict(parent.get(last) or {}, **value)
    return in_dict


def append_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    parent, last = _parent(in_dict, keys, delimiter, ordered_dict)
    old = parent.get(last)
    if old is not None and not isinstance(old, list):
        raise SaltInvocationError("The last key contains a {}, which cannot append.".format(type(old)))
    parent[last] = (old or []) + [value]
    return in_dict


def extend_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    parent, last = _parent(in_dict, keys, delimiter, ordered_dict)
    old = parent.get(last)
    if old is not None and not isinstance(old, list):
        raise SaltInvocationError("The last key contains a {}, which cannot extend.".format(type(old)))
    parent[last] = (old or []) + list(value)
    return in_dict
