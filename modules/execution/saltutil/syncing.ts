/**
 * Execution module `saltutil`, second part: an operator's own modules from the file server.
 * Source: the functions of Salt 3008.3 `salt/modules/saltutil.py`.
 * @module
 */

import { CommandError, messageOf } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext, type Refresh } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { isMap, str, truthy, type Value } from "#lib/values/value.ts";

/** The refreshes after changes of a family. */
type Reloads = readonly Refresh[] | { readonly event: string };

/** How a family is synced. */
interface Family {
  /** The name of its directory, `_modules` for `modules`. */
  readonly directory: string;
  /** What it is, for the documentation. */
  readonly what: string;
  readonly reloads: Reloads;
  /** Why minions with a master do not sync it. */
  readonly masterless?: string;
}

const MODULES: Reloads = ["modules"];

/** Salt's families by the name of the function behind `sync_`. */
const FAMILIES = {
  beacons: { directory: "beacons", what: "beacons", reloads: { event: "beacons_refresh" } },
  clouds: { directory: "clouds", what: "cloud modules", reloads: MODULES },
  engines: { directory: "engines", what: "engines", reloads: MODULES },
  executors: { directory: "executors", what: "executors", reloads: MODULES },
  grains: { directory: "grains", what: "grains", reloads: ["modules", "grains"] },
  log_handlers: { directory: "log_handlers", what: "log handlers", reloads: MODULES },
  matchers: { directory: "matchers", what: "matchers", reloads: MODULES },
  modules: { directory: "modules", what: "execution modules", reloads: MODULES },
  output: { directory: "output", what: "outputters", reloads: MODULES },
  pillar: {
    directory: "pillar",
    what: "pillar modules, of a minion without a master,",
    reloads: ["pillar"],
    masterless: "Pillar modules can only be synced to masterless minions",
  },
  proxymodules: { directory: "proxy", what: "proxy modules", reloads: MODULES },
  renderers: { directory: "renderers", what: "renderers", reloads: MODULES },
  resources: { directory: "resources", what: "resource modules", reloads: { event: "resource_refresh" } },
  returners: { directory: "returners", what: "returners", reloads: MODULES },
  sdb: { directory: "sdb", what: "sdb modules", reloads: [] },
  serializers: { directory: "serializers", what: "serializers", reloads: MODULES },
  states: { directory: "states", what: "states", reloads: MODULES },
  thorium: { directory: "thorium", what: "thorium modules", reloads: MODULES },
  tops: {
    directory: "tops",
    what: "master tops, of a minion without a master,",
    reloads: [],
    masterless: "Master top modules can only be synced to masterless minions",
  },
  utils: { directory: "utils", what: "utility modules", reloads: MODULES },
  wrapper: {
    directory: "wrapper",
    what: "wrapper modules, of a minion without a master,",
    reloads: MODULES,
    masterless: "Wrapper modules can only be synced to masterless minions",
  },
} as const satisfies Readonly<Record<string, Family>>;

type FamilyName = keyof typeof FAMILIES;

const LISTS = { extmod_whitelist: p.any(null), extmod_blacklist: p.any(null) };
const CLEAN_PILLAR = { clean_pillar_cache: p.bool(false) };

interface SyncArguments {
  readonly saltenv?: Value;
  readonly extmod_whitelist: Value;
  readonly extmod_blacklist: Value;
}

const SYNC_DOC =
  `Returned are the names of those that came or changed. Those that are not on the file server any more are removed (option
clean_dynamic_modules), and none that was put there by hand. Modules in Python come too, and are not loaded.

saltenv
    Environments of the file server, as a list or with commas. Default: those of the top file that mean this minion, or base.

extmod_whitelist, extmod_blacklist
    Names of the modules to sync, or to leave: a list, text with commas, or a map of families. Default: the options of these names.`;

const REFRESH_DOC = `

refresh
    Whether what changed is loaded.`;

/**
 * The environments of a call.
 * @throws {CommandError} If the top file, which names them, cannot be read.
 */
async function environments(saltenv: Value | undefined, context: JobContext): Promise<string[]> {
  if (Array.isArray(saltenv)) return saltenv.map(str);
  if (truthy(saltenv)) return str(saltenv ?? "").split(",");
  if (await context.catalogue.get("state.show_top") === undefined) return ["base"];
  // States that run meanwhile are no reason to wait: nothing is changed.
  const top = await context.call("state.show_top", [], new Map([["concurrent", true]]));
  if (Array.isArray(top)) throw new CommandError(`Unable to render top file(s): ${top.map(str).join("\n")}`);
  const envs = isMap(top) ? [...top.keys()].map(str) : [];
  return envs.length > 0 ? envs : ["base"];
}

/** Syncs one family. What goes wrong is logged, as in Salt. */
async function syncOne(
  { directory }: Family,
  given: SyncArguments & { readonly envs: readonly string[] },
  context: JobContext,
): Promise<string[]> {
  // Most functions of this module need nothing of it.
  const [{ syncLogged }, { fileClientOf }] = await Promise.all([
    import("#lib/files/client/extension_sync.ts"),
    import("#lib/files/client/open.ts"),
  ]);
  const changed = await syncLogged(directory, { ...given, saltenvs: given.envs }, {
    opts: context.opts,
    client: () => fileClientOf(context),
    signal: context.signal,
    log: (level, message) => context.log(level, message),
  });
  if (directory === "modules" && context.opts.python_requirements) await syncRequirements(given.envs, context);
  return changed;
}

/** The file beside `_modules` with the libraries that plugins in Python need. */
const REQUIREMENTS = "salt://_requirements.txt";

/** Installs the libraries of plugins in Python. What goes wrong is logged; plugins run as before then. */
async function syncRequirements(envs: readonly string[], context: JobContext): Promise<void> {
  const [{ installRequirements }, { fileClientOf }] = await Promise.all([
    import("#lib/python_bridge/zygote/requirements.ts"),
    import("#lib/files/client/open.ts"),
  ]);
  try {
    const client = fileClientOf(context);
    const files = await Promise.all(envs.map((env) => client.cacheFile(REQUIREMENTS, env)));
    const file = files.findLast((path) => path !== undefined);
    if (!await installRequirements(file, context.opts, context.signal)) return;
    context.log("info", `The libraries of ${REQUIREMENTS} are ${file === undefined ? "left" : "installed"}`);
  } catch (error) {
    context.signal.throwIfAborted();
    context.log("error", `The libraries of ${REQUIREMENTS} cannot be installed: ${messageOf(error)}`);
  }
}

async function reload(reloads: Reloads, { outside }: JobContext): Promise<void> {
  if ("event" in reloads) return void await outside.fire(new Map(), reloads.event);
  for (const what of reloads) await outside.refresh(what);
}

/**
 * The function that syncs a family.
 * @param refresh Whether it reloads unless it is told not to; absent: it never does.
 */
function syncing(name: FamilyName, refresh?: boolean): ModuleFunction<JobContext> {
  const family: Family = FAMILIES[name];
  return fn({
    doc: describe(
      `Sync ${family.what} from _${family.directory} on the file server.\n\n${SYNC_DOC}${
        refresh === undefined ? "" : REFRESH_DOC
      }`,
      `saltutil.sync_${name}`,
    ),
    // The top file, which names the environments, is a template, and may call any function.
    permissions: "all",
    params: {
      saltenv: p.any(null),
      ...refresh !== undefined && { refresh: p.bool(refresh) },
      ...LISTS,
      ...["grains", "pillar"].includes(name) && CLEAN_PILLAR,
    },
    async run(bound, context) {
      if (family.masterless !== undefined && context.opts.file_client !== "local") {
        throw new CommandError(family.masterless);
      }
      const changed = await syncOne(family, { ...bound, envs: await environments(bound.saltenv, context) }, context);
      if (bound.refresh) await reload(family.reloads, context);
      return changed;
    },
  });
}

export const sync_beacons: ModuleFunction<JobContext> = syncing("beacons", true);
export const sync_clouds: ModuleFunction<JobContext> = syncing("clouds", true);
export const sync_engines: ModuleFunction<JobContext> = syncing("engines", false);
export const sync_executors: ModuleFunction<JobContext> = syncing("executors", true);
export const sync_grains: ModuleFunction<JobContext> = syncing("grains", true);
export const sync_log_handlers: ModuleFunction<JobContext> = syncing("log_handlers", true);
export const sync_matchers: ModuleFunction<JobContext> = syncing("matchers", false);
export const sync_modules: ModuleFunction<JobContext> = syncing("modules", true);
export const sync_output: ModuleFunction<JobContext> = syncing("output", true);
export const sync_outputters: ModuleFunction<JobContext> = syncing("output", true);
export const sync_pillar: ModuleFunction<JobContext> = syncing("pillar", true);
export const sync_proxymodules: ModuleFunction<JobContext> = syncing("proxymodules", false);
export const sync_renderers: ModuleFunction<JobContext> = syncing("renderers", true);
export const sync_resources: ModuleFunction<JobContext> = syncing("resources", true);
export const sync_returners: ModuleFunction<JobContext> = syncing("returners", true);
export const sync_sdb: ModuleFunction<JobContext> = syncing("sdb");
export const sync_serializers: ModuleFunction<JobContext> = syncing("serializers", true);
export const sync_states: ModuleFunction<JobContext> = syncing("states", true);
export const sync_thorium: ModuleFunction<JobContext> = syncing("thorium", false);
export const sync_tops: ModuleFunction<JobContext> = syncing("tops", true);
export const sync_utils: ModuleFunction<JobContext> = syncing("utils", true);
export const sync_wrapper: ModuleFunction<JobContext> = syncing("wrapper", true);

/** The families of `sync_all`, in Salt's order; those of a minion without a master around them. */
const ALL: readonly FamilyName[] = [
  "clouds",
  "beacons",
  "modules",
  "states",
  "sdb",
  "grains",
  "renderers",
  "returners",
  "output",
  "utils",
  "log_handlers",
  "executors",
  "proxymodules",
  "engines",
  "thorium",
  "serializers",
  "matchers",
  "resources",
];

export const sync_all: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Sync the modules of all families: a map of lists.\n\n${SYNC_DOC}${REFRESH_DOC}\n\nclean_pillar_cache\n    Accepted for compatibility with Salt.`,
    "saltutil.sync_all",
    "saltutil.sync_all saltenv=base,dev",
  ),
  permissions: "all",
  params: { saltenv: p.any(null), refresh: p.bool(true), ...LISTS, ...CLEAN_PILLAR },
  async run(bound, context) {
    const local = context.opts.file_client === "local";
    const names: FamilyName[] = [
      ...local ? ["tops" as const] : [],
      ...ALL,
      ...local ? ["pillar" as const, "wrapper" as const] : [],
    ];
    const envs = await environments(bound.saltenv, context);
    const changed = new Map<Value, Value>();
    for (const name of names) changed.set(name, await syncOne(FAMILIES[name], { ...bound, envs }, context));
    if (bound.refresh) await reload(["modules", "grains"], context);
    return changed;
  },
});
