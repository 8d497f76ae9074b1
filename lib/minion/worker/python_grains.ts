/**
 * Grains from plugins in Python, in one process for all of them, for a limited time. A failure is logged, and its
 * grains are missing.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { PythonJob, type PythonScope } from "#lib/python_bridge/loader/python_job.ts";
import { PythonZygote } from "#lib/python_bridge/zygote/zygote.ts";
import type { PluginPaths } from "#lib/python_bridge/link/messages.ts";
import { LEVEL_NUMBERS } from "#lib/runtime/log.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { pythonPlugins } from "#lib/minion/catalogue/python_plugins.ts";

/** What plugins of grains ask, and those that may be asked. */
interface GrainsFacts {
  readonly opts: MinionOpts;
  /** The grains so far. */
  readonly grains: ValueMap;
  readonly warn: (message: string) => void;
}

/** The grains, a map for each function, in the order of file and function names. Never fails. */
export async function pluginGrains(facts: GrainsFacts): Promise<ValueMap[]> {
  const { opts, warn } = facts;
  const { files } = pythonPlugins(opts, warn);
  if (Object.keys(files.grains ?? {}).length === 0) return [];
  const zygote = new PythonZygote(opts, (line) => warn(`A plugin of grains printed: ${line}`));
  try {
    const { grains, problems } = parts(await collect(await zygote.socket(), files, facts));
    for (const problem of problems) warn(problem);
    return grains;
  } catch (error) {
    warn(`The grains of plugins in Python are missing: ${messageOf(error)}`);
    return [];
  } finally {
    await zygote.close();
  }
}

async function collect(path: string, files: PluginPaths, { opts, grains, warn }: GrainsFacts): Promise<Value> {
  const timeout = new AbortController();
  const timer = setTimeout(
    () =>
      timeout.abort(
        new Error(
          `they took longer than ${opts.custom_grains_timeout} seconds (custom_grains_timeout), and were ended`,
        ),
      ),
    opts.custom_grains_timeout * 1000,
  );
  const scope = { signal: timeout.signal };
  const job = new PythonJob<PythonScope>({
    role: "minion",
    plugins: { files, names: {} },
    log: { lowest: LEVEL_NUMBERS.warning, write: ({ name, message }) => warn(`${name}: ${message}`) },
    socket: () => Promise.resolve(path),
    context: () => scope,
    answers: () => ({ what }) => Promise.resolve(answerOf(what, { opts, grains })),
    isHidden: () => false,
  });
  try {
    return (await job.request({ kind: "grains", grains }, scope)).value;
  } finally {
    clearTimeout(timer);
    await job.end();
  }
}

/** Plugins of grains have no functions of the minion, and no pillar. */
function answerOf(what: string, { opts, grains }: Pick<GrainsFacts, "opts" | "grains">): unknown {
  switch (what) {
    case "opts":
      return optsValues(opts);
    case "grains":
      return grains;
    case "pillar":
      return {};
    case "has":
      return false;
    case "names":
      return [];
    default:
      throw new Error(`plugins of grains cannot use ${what}`);
  }
}

function parts(value: Value): { readonly grains: ValueMap[]; readonly problems: string[] } {
  const list = (key: string): Value[] => {
    const given = isMap(value) ? value.get(key) ?? null : null;
    return Array.isArray(given) ? given : [];
  };
  const grains = list("grains").flatMap((one) => Array.isArray(one) && isMap(one[1]) ? [one[1]] : []);
  return { grains, problems: list("problems").map(str).slice(0, 100) };
}
