/**
 * The loaded options of master and minion: what the rest of the program reads.
 *
 * The tables say what may be written (`common_options.ts`, `master_options.ts`, `minion_options.ts`), `load.ts` reads
 * files; the types here are derived from the tables, so that an option that no table has does not compile.
 * @module
 */

import { type MasterOptions, masterOptions } from "./master_options.ts";
import { type MinionOptions, minionOptions } from "./minion_options.ts";
import type { Loaded, OptionTable } from "./option_types.ts";
import type { ValueMap } from "#lib/values/value.ts";

export { masterOptions, minionOptions };

/** What kind of node a configuration is for; also the name of its file. */
export type Role = "master" | "minion";

/** The table of each role. */
export const OPTION_TABLES: Readonly<Record<Role, OptionTable>> = {
  get master() {
    return masterOptions();
  },
  get minion() {
    return minionOptions();
  },
};

/** What loading adds to the tables' own options, in both roles. */
export interface DerivedOpts {
  /** The main configuration file, whether it is there or not. */
  conf_file: string;
  config_dir: string;
  /** Name of this node; a master's ends in `_master` unless it was set. */
  id: string;
  /** User to run as. */
  user: string;
  /** Directory of this host's own plugins. */
  extension_modules: string;
  /** What the user set and no table lists; `config.get` reads it. */
  extra: ValueMap;
}

/** The options that the master's table lists. */
export type MasterTable = Loaded<MasterOptions>;
/** The options that the minion's table lists. */
export type MinionTable = Loaded<MinionOptions>;

/** The master's options: `opts.ret_port`, `opts.pki_dir`, … Paths are absolute. */
export interface MasterOpts extends Omit<MasterTable, keyof DerivedOpts>, DerivedOpts {
  /** Directory of eauth tokens. */
  token_dir: string;
}

/** The minion's options: `opts.master`, `opts.master_port`, … Paths are absolute. */
export interface MinionOpts extends Omit<MinionTable, keyof DerivedOpts | "master">, DerivedOpts {
  /** Host or address of the first master, without a port. */
  master: string;
  /**
   * What `master` listed, without entries that cannot be read: `host:port`, or the name of a DNS service. With
   * `master_type: func` the name of the function.
   */
  masters: string[];
}

/** The loaded options of each role. */
export interface OptsOf {
  readonly master: MasterOpts;
  readonly minion: MinionOpts;
}

/** What loading adds for one role alone. */
const ADDED: Readonly<Record<Role, readonly string[]>> = { master: ["token_dir"], minion: ["masters"] };
const DERIVED = [
  "conf_file",
  "config_dir",
  "id",
  "user",
  "extension_modules",
  "extra",
] as const satisfies readonly (keyof DerivedOpts)[];

/** Whether every option of the role is there. The loader has checked the type of each. */
export function isComplete<R extends Role>(role: R, values: object): values is OptsOf[R] {
  return [...Object.keys(OPTION_TABLES[role]), ...DERIVED, ...ADDED[role]].every((name) => Object.hasOwn(values, name));
}
