"""Writes dict_merge.json: pairs of maps with the results of Salt's dictupdate.merge for each strategy. See README.md."""

import copy
import json
import logging
import pathlib

import salt.utils.dictupdate

logging.disable(logging.CRITICAL)
HERE = pathlib.Path(__file__).parent
PAIRS = [
    ({"x": {"a": 1, "l": [1], "d": {"q": 1}, "n": {"z": 1}, "s": "text"}, "a": 1}, {"x": {"b": 2, "l": [2, 1], "d": {"r": 2}, "n": None, "s": {"m": 1}}, "b": 2}),
    ({}, {"a": {"b": 1}}), ({"a": {"b": 1}}, {}), ({"a": 1}, {"b": 2}), ({"a": [1, 1, 2]}, {"a": [2, 3, 3]}), ({"a": {"b": [1]}}, {"a": {"b": [1, 2]}}),
    ({"a": None}, {"a": {"b": 1}}), ({"a": {"b": 1}}, {"a": [1]}), ({"a": [{"k": 1}, True]}, {"a": [{"k": 1}, 1, 1.0, "1"]}), ({"a": ""}, {"a": None}),
]
STRATEGIES = ["smart", "recurse", "overwrite", "aggregate", "list", "none", "nope"]
rows = []
for a, b in PAIRS:
    for strategy in STRATEGIES:
        for lists in (False, True):
            merged = salt.utils.dictupdate.merge(copy.deepcopy(a), copy.deepcopy(b), strategy=strategy, renderer="jinja|yaml", merge_lists=lists)
            rows.append({"a": a, "b": b, "strategy": strategy, "merge_lists": lists, "merged": dict(merged)})
HERE.joinpath("dict_merge.json").write_text("[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n]\n")
print(len(rows), "rows")
