/**
 * Rows: processor time of the host's Python for plugins, until the process that starts jobs is ready, and for loading a
 * hundred plugins that import what fleets' plugins import. The aims are 120 and 100 ms.
 * @module
 */

import { run } from "#tests/bench/harness/processes.ts";
import { MS_TENTHS, type Row, type Stage } from "./row.ts";

const HELPER = decodeURIComponent(new URL("../../../lib/python_bridge/helper", import.meta.url).pathname);
const PLUGINS = 100;
/** Functions of a plugin: it has about 6 KB then, as the average of public ones. */
const FUNCTIONS = 25;

/** Starts as the process that starts jobs does, then loads the plugins of the directory, if one is given. */
const MEASURE = `
import glob, importlib, os, sys, time
helper, pyc = sys.argv[1:3]
sys.pycache_prefix = pyc
sys.path[:0] = [helper + "/standins", helper]
sys.path.append(helper + "/fallbacks")
import zygote, salt_bridge.job
from salt_bridge import loader
for name in zygote.PRELOADED:
    importlib.import_module(name)
class Job:
    def opts(self): return {}
    def dunder(self, name): return {}
    def has(self, name): return True
    def starts_loading(self, loaded): pass
spent = 0 if sys.argv[3:] else time.process_time()
if sys.argv[3:]:
    files = {os.path.basename(path)[:-3]: path for path in glob.glob(sys.argv[3] + "/*.py")}
    begun = time.process_time()
    loaded = loader.Family(Job(), "modules", files).all()
    spent = time.process_time() - begun
    assert len(loaded) == ${PLUGINS} and not any(one.refused for one in loaded)
print(spent * 1000)
`;

function plugin(i: number): string {
  const functions = Array.from({ length: FUNCTIONS }, (_, n) =>
    `def fun_${n}(name, value=None, **kwargs):
    """
    Change something.

    CLI Example:

    .. code-block:: bash

        salt '*' own_${i}.fun_${n} name
    """
    log.debug("changing %s", name)
    return __salt__["cmd.run"]("true " + name)
`);
  return `import json
import logging
import os
import re
import salt.ext.six as six
import salt.utils
import salt.utils.files
from salt.exceptions import CommandExecutionError
from salt.utils.odict import OrderedDict
log = logging.getLogger(__name__)
__func_alias__ = {"list_": "list"}
NUMBER = re.compile(r"^own_${i}\\s+(\\d+)$")
def __virtual__():
    return "own_${i}" if salt.utils.is_linux() else (False, "not on this host")
${functions.join("")}`;
}

const directories = new WeakMap<Stage, string>();

function directoryOf(stage: Stage): string {
  const known = directories.get(stage);
  if (known !== undefined) return known;
  const directory = stage.directory();
  directories.set(stage, directory);
  Deno.mkdirSync(`${directory}/plugins`);
  for (let i = 0; i < PLUGINS; i++) Deno.writeTextFileSync(`${directory}/plugins/own_${i}.py`, plugin(i));
  return directory;
}

async function measure(stage: Stage, loads: boolean): Promise<number> {
  const directory = directoryOf(stage);
  const words = [HELPER, `${directory}/pyc`, ...loads ? [`${directory}/plugins`] : []];
  const { out, err } = await run(["python3", "-E", "-s", "-c", MEASURE, ...words]);
  const ms = Number(out);
  if (out.trim() === "" || Number.isNaN(ms)) throw new Error(`${out}\n${err}`);
  return ms;
}

/** The start, and a hundred plugins. */
export const PYTHON_PLUGIN_ROWS: readonly Row[] = [
  {
    name: "python_start",
    title: "Python is ready for plugins, processor time",
    unit: MS_TENTHS,
    group: "python_plugins",
    pythons: [],
    measure: (stage) => measure(stage, false),
  },
  {
    name: "python_plugins",
    title: `${PLUGINS} plugins in Python are loaded, processor time`,
    unit: MS_TENTHS,
    group: "python_plugins",
    pythons: [],
    measure: (stage) => measure(stage, true),
  },
];
