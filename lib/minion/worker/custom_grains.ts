/**
 * Grains from an operator's own files (`grains_dirs`, and `grains` below `extension_modules`). Each file runs in its
 * own process, with the permissions that its text declares, for a limited time. A failure is logged, and its grains are
 * missing.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { FileDeclarations } from "#lib/minion/catalogue/custom_modules.ts";
import type { GrainsRequest } from "#lib/minion/catalogue/grains_functions.ts";
import { pack } from "./job_protocol.ts";
import { userFiles } from "#lib/plugins/loader.ts";
import { createLogger, LEVEL_NUMBERS } from "#lib/runtime/log.ts";
import { unpackModuleOutcome } from "./module_messages.ts";
import { ModuleProcess } from "./module_process.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { permissionKey, type Permissions, workerPermissions } from "#lib/plugins/permissions.ts";
import { compareStrings, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import { listOrEmpty } from "#lib/values/shape.ts";

/** Number of processes at the same time. */
const AT_ONCE = 2;

/** The grains, one map for each function, in the order of file and function names. Never fails. */
export async function customGrains(opts: MinionOpts, warn: (message: string) => void): Promise<ValueMap[]> {
  const directories = [...opts.grains_dirs, `${opts.extension_modules}/grains`];
  const files = new Map(directories.flatMap((directory) => [...userFiles(directory)]));
  const waiting = [...files].flatMap(([name, path]) => runsOf(path, warn).map((run) => ({ name, ...run })));
  const custom: [string, ValueMap][] = [];
  const turn = async () => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
      const { grains, problems } = await runFile(run, { opts, directories, warn });
      custom.push(...grains);
      for (const problem of problems) warn(problem);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, turn));
  return custom.sort(([a], [b]) => compareStrings(a, b)).map(([, grains]) => grains);
}

/** One run of a file, with those of its functions that declare the same permissions. */
interface Run {
  readonly request: GrainsRequest;
  readonly permissions: Permissions;
}

function runsOf(path: string, warn: (message: string) => void): Run[] {
  const file = new FileDeclarations(path);
  for (const problem of file.problems) warn(problem);
  const sets = new Map([...file.readable].map(([, permissions]) => [permissionKey(permissions), permissions]));
  const declared = Object.fromEntries([...file.readable].map(([name, one]) => [name, permissionKey(one)]));
  // If the text does not show a declaration for every function, some may have none.
  if (file.exports === undefined || [...file.exports].some((name) => !file.readable.has(name)) || sets.size === 0) {
    sets.set(permissionKey("none"), "none");
  }
  return [...sets].map(([key, permissions]) => ({ request: { path, permissions: key, declared }, permissions }));
}

interface RunFacts {
  readonly opts: MinionOpts;
  readonly directories: readonly string[];
  readonly warn: (message: string) => void;
}

interface Given {
  readonly grains: readonly [string, ValueMap][];
  readonly problems: readonly string[];
}

async function runFile(
  { name, request, permissions }: Run & { readonly name: string },
  { opts, directories, warn }: RunFacts,
): Promise<Given> {
  const answer = Promise.withResolvers<Given>();
  const missing = (why: string) =>
    answer.resolve({ grains: [], problems: [`The grains of ${request.path} are missing: ${why}`] });
  const log = createLogger([{ level: LEVEL_NUMBERS.warning, write: ({ message }) => warn(message), close: () => {} }]);
  let process: ModuleProcess | undefined;
  let timer: Timer | undefined;
  try {
    const empty = pack(new Map());
    process = new ModuleProcess({
      name: `grains ${name}`,
      init: {
        opts: packOpts("minion", opts),
        hostData: { grains: empty, pillar: empty },
        modules: [],
        renamed: {},
        logLevel: log.level,
        logFailures: true,
      },
      permissions: workerPermissions(permissions, { opts, modules: directories }),
      memory: opts.custom_module_memory,
      log,
      onEnd: missing,
      onMessage: (message) =>
        message.kind === "done" && answer.resolve(parseGrains(unpackModuleOutcome(message.outcome))),
    });
    timer = setTimeout(
      () =>
        missing(`they took longer than ${opts.custom_grains_timeout} seconds (custom_grains_timeout), and were ended`),
      opts.custom_grains_timeout * 1000,
    );
    process.send({ kind: "grains", ...request });
    return await answer.promise;
  } catch (error) {
    return {
      grains: [],
      problems: [`The grains of ${request.path} are missing: ${messageOf(error)}`],
    };
  } finally {
    clearTimeout(timer);
    await process?.kill();
  }
}

function parseGrains(value: Value): Given {
  const list = (key: string): Value[] => {
    return listOrEmpty(isMap(value) ? value.get(key) ?? null : null);
  };
  const grains = list("grains").flatMap((one): [string, ValueMap][] => {
    if (!Array.isArray(one)) return [];
    const [name = null, gave = null] = one;
    return isMap(gave) ? [[str(name), gave]] : [];
  });
  return { grains, problems: list("problems").map(str).slice(0, 100) };
}
