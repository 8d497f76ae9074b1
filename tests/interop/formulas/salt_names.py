"""Prints the functions of Salt's execution modules, states and runners on every system, as JSON, read from its sources: those of modules that
cannot be loaded here are among them. Run it with the Python of an environment that has Salt."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "corpus"))
from make_salt_functions import table


def names(family):
    rows = [line.split(" ") for line in table(family).split("\n")]
    return [f"{module}.{function}" for module, *functions in rows for function in functions]


print(json.dumps({family: names(family) for family in ("modules", "states", "runners")}))
