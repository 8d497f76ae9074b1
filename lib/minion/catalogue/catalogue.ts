/**
 * Puts together the plugins of a minion's jobs: the built-in ones and the user's own in its directories; and the core
 * grains.
 * @module
 */

import type { Catalogue, JobContext, StateContext } from "#lib/plugins/job_context.ts";
import { EXECUTION_MODULES, VIRTUAL_NAMES } from "#modules/execution/_built_in.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";
import { RENDERERS, RENDERERS_NOT_BUILT } from "#modules/renderers/_built_in.ts";
import { RETURNERS } from "#modules/returners/_built_in.ts";
import { STATE_MODULES } from "#modules/states/_built_in.ts";
import { OWN_BEACONS_PREFIX } from "#lib/plugins/own_beacon.ts";
import { ALIASES } from "#lib/plugins/aliases.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import { moduleDirectories, type ModulePlaces } from "#lib/plugins/module_directories.ts";
import { str, type ValueMap } from "#lib/values/value.ts";
import { which } from "#lib/programs/which.ts";
import { existsOrThrow } from "#lib/os/file_kind.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import type { CoreGrains } from "#lib/plugins/core_grains.ts";

/** Options of {@linkcode loadCatalogue}: the minion's options of these names, and a callback. */
export interface CatalogueOptions {
  /** `extension_modules`; the user's modules are in its directories `modules`, `states` and `renderers`. */
  readonly extensionModules?: string;
  /**
   * `module_dirs`; more directories with `modules` or `_modules` and so on, of higher precedence, the last of the
   * highest.
   */
  readonly moduleDirs?: readonly string[];
  readonly disableModules?: readonly string[];
  /** Names of files in Python: a built-in module whose file has such a name is not loaded. */
  readonly replaced?: readonly string[];
  readonly whitelistModules?: readonly string[];
  readonly whitelistStateModules?: readonly string[];
  /** Called once for each broken module, with the file and the reason. */
  readonly warn?: (message: string) => void;
  /**
   * If set, only these user's modules are loaded; a state module is called `states/NAME`, a renderer `renderers/NAME`,
   * here and among the disabled.
   */
  readonly custom?: readonly string[];
  /** The names of user's modules whose files are called otherwise, by the file's name. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Whether built-in modules are loaded. Default: yes. */
  readonly builtin?: boolean;
  /** The minion's grains. Without them every module serves. */
  readonly grains?: () => ValueMap;
  /** The modules to use for virtual names, by name. */
  readonly providers?: ValueMap;
}

/** The families of which a user may have custom modules, by the name of their directory. */
export type CustomFamily = "modules" | "states" | "renderers" | "returners" | "beacons";

/** All of those in TypeScript or JavaScript. */
export const CUSTOM_FAMILIES: readonly CustomFamily[] = ["modules", "states", "renderers", "returners", "beacons"];

/** Every directory in which the user's modules of a family may be, whether it is there or not. */
export function possibleDirectories(
  { extensionModules, moduleDirs = [] }: ModulePlaces,
  family: CustomFamily,
): string[] {
  const roots = extensionModules === undefined ? [] : [extensionModules];
  return [
    ...roots.map((root) => `${root}/${family}`),
    ...moduleDirs.flatMap((root) => [`${root}/${family}`, `${root}/_${family}`]),
  ];
}

/** Prefix of custom state modules in the list of custom modules: `states/NAME`. */
export const STATES_PREFIX = "states/";

/** Prefix of custom renderers in the list of custom modules: `renderers/NAME`. */
export const RENDERERS_PREFIX = "renderers/";

/** Prefix of returners, where the names of execution modules are too: `returners/NAME`. */
export const RETURNERS_PREFIX = "returners/";

/** Whether a name among the user's modules is that of an execution module. */
export function isExecutionName(name: string): boolean {
  return ![STATES_PREFIX, RENDERERS_PREFIX, RETURNERS_PREFIX, OWN_BEACONS_PREFIX].some((prefix) =>
    name.startsWith(prefix)
  );
}

/** The options that say which plugins a minion does not load, for {@linkcode loadCatalogue}. */
export function pluginLimits(
  { disable_modules, disable_states, disable_returners, whitelist_modules, whitelist_state_modules }: MinionOpts,
): Required<Pick<CatalogueOptions, "disableModules" | "whitelistModules" | "whitelistStateModules">> {
  return {
    disableModules: [
      ...disable_modules,
      ...disable_states.map((name) => STATES_PREFIX + name),
      ...disable_returners.map((name) => RETURNERS_PREFIX + name),
    ],
    whitelistModules: whitelist_modules,
    whitelistStateModules: whitelist_state_modules,
  };
}

/** The names of the modules of a family among `names`. */
function namesWith(prefix: string, names: readonly string[] | undefined): string[] | undefined {
  return names?.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
}

/** The execution modules of a minion, its state modules, and the user's own renderers. */
export function loadCatalogue(options: CatalogueOptions = {}): Catalogue {
  const host = options.grains && { grains: options.grains, hasProgram, hasPath };
  const execution = loadFamily<JobContext>(options.builtin === false ? {} : EXECUTION_MODULES, {
    directories: moduleDirectories(options, "modules"),
    disabled: [
      ...options.disableModules ?? [],
      ...(options.replaced ?? []).filter((name) => Object.hasOwn(EXECUTION_MODULES, name)),
    ],
    only: options.whitelistModules,
    userOnly: options.custom,
    renamed: options.renamed,
    aliases: ALIASES.execution,
    virtualNames: options.builtin === false ? {} : VIRTUAL_NAMES,
    host,
    chosen: new Map([...options.providers ?? []].map(([name, file]) => [str(name), str(file)])),
    warn: options.warn,
  });
  const states = loadFamily<StateContext>(options.builtin === false ? {} : STATE_MODULES, {
    directories: moduleDirectories(options, "states"),
    disabled: namesWith(STATES_PREFIX, options.disableModules),
    only: options.whitelistStateModules,
    userOnly: namesWith(STATES_PREFIX, options.custom),
    aliases: ALIASES.states,
    plainFunctions: false,
    host,
    hasFunction: async (name) => await execution.get(name) !== undefined,
    warn: options.warn,
  });
  const renderers = loadFamily<JobContext>({}, {
    directories: moduleDirectories(options, "renderers"),
    disabled: namesWith(RENDERERS_PREFIX, options.disableModules),
    userOnly: namesWith(RENDERERS_PREFIX, options.custom),
    plainFunctions: false,
    host,
    warn: options.warn,
  });
  const returners = loadFamily<JobContext>(options.builtin === false ? {} : RETURNERS, {
    directories: moduleDirectories(options, "returners"),
    disabled: namesWith(RETURNERS_PREFIX, options.disableModules),
    userOnly: namesWith(RETURNERS_PREFIX, options.custom),
    aliases: ALIASES.returners,
    host,
    warn: options.warn,
  });
  const beacons = loadFamily<JobContext>({}, {
    directories: moduleDirectories(options, "beacons"),
    userOnly: namesWith(OWN_BEACONS_PREFIX, options.custom),
    host,
    warn: options.warn,
  });
  const others = [[RETURNERS_PREFIX, returners], [OWN_BEACONS_PREFIX, beacons]] as const;
  return {
    ...execution,
    get(name) {
      const other = others.find(([prefix]) => name.startsWith(prefix));
      return other === undefined ? execution.get(name) : other[1].get(name.slice(other[0].length));
    },
    returners,
    states,
    renderers,
    builtInRenderers: { table: RENDERERS, notBuilt: RENDERERS_NOT_BUILT },
    fileBackends: BACKENDS,
  };
}

/** The core grains: loaded when grains are read, as the threads of jobs have them from the minion. */
export async function loadCoreGrains(): Promise<CoreGrains> {
  return (await import("#modules/grains/core.ts")).CORE_GRAINS;
}

/** Whether there is something at a path; `undefined` in a thread that may not look. */
export function hasPath(path: string): boolean | undefined {
  return ifPermitted(() => existsOrThrow(path));
}

/** Whether a program is in PATH; `undefined` in a thread that may not look. */
export function hasProgram(name: string): boolean | undefined {
  return ifPermitted(() => which(name) !== undefined);
}

function ifPermitted(look: () => boolean): boolean | undefined {
  try {
    return look();
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}
