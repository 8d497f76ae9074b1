/**
 * Where a minion's modules look for an option: its own options, its grains, its pillar, and the master's options that
 * pillar carries. Source: Salt 3008.3, `config.option`, `config.get` of `salt/modules/config.py`.
 * @module
 */

import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import type { MinionOpts } from "./options.ts";
import { optsValues } from "./opts_map.ts";

/** The data of a minion that holds options. */
export interface OptionHolder {
  readonly opts: MinionOpts;
  readonly grains: ValueMap;
  readonly pillar: ValueMap;
}

/** Sources that are left out. */
export interface OmittedSources {
  readonly omit_opts?: boolean;
  readonly omit_grains?: boolean;
  readonly omit_pillar?: boolean;
  readonly omit_master?: boolean;
}

/** The sources of options, in the order of precedence. */
export function optionSources(holder: OptionHolder, omit: OmittedSources = {}): ValueMap[] {
  return [
    ...(omit.omit_opts ? [] : [minionOpts(holder)]),
    ...(omit.omit_grains ? [] : [holder.grains]),
    ...(omit.omit_pillar ? [] : [holder.pillar]),
    ...(omit.omit_master ? [] : [masterOpts(holder.pillar)]),
  ];
}

/** The value of an option by its whole name. */
export function optionValue(name: string, holder: OptionHolder): Value | undefined {
  return optionSources(holder).find((source) => source.has(name))?.get(name);
}

/** The master's options that pillar carries. */
export function masterOpts(pillar: ValueMap): ValueMap {
  const master = pillar.get("master");
  return isMap(master) ? master : new Map();
}

/** A minion's options as Salt has them: grains and pillar are among them, and the address of its master. */
function minionOpts({ opts, grains, pillar }: OptionHolder): ValueMap {
  const values: ValueMap = new Map([...optsValues(opts), ["grains", grains], ["pillar", pillar]]);
  if (opts.file_client === "local" || opts.master === "") return values;
  return values.set(
    "master_uri",
    `tcp://${opts.master.includes(":") ? `[${opts.master}]` : opts.master}:${opts.master_port}`,
  );
}
