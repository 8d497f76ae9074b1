/**
 * Grains from plugins in Python, in one process for all of them, for a limited time. A failure is logged, and its
 * grains are missing.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { PythonSession } from "#lib/python_bridge/link/session.ts";
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
  const session = await PythonSession.open(path, {
    silent: false,
    start: { kind: "start", role: "minion", files, log_level: LEVEL_NUMBERS.warning },
    signal: timeout.signal,
    answer: ({ what }) => Promise.resolve(answerOf(what, { opts, grains })),
    child: () => {},
    log: (_level, name, text) => warn(`${name}: ${text}`),
  }, opts.id);
  try {
    return (await session.request({ kind: "grains", grains }, opts.id)).value;
  } finally {
    clearTimeout(timer);
    session.close();
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
