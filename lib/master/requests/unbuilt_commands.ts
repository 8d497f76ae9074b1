/**
 * Commands of minions that get an answer but have no effect, because that part of Salt is not built here. Salt's
 * minions accept each answer from a master without that part. When a part is built, its commands move to the table of
 * its subject (minion_commands.ts). docs/differences.md shows this table.
 * @module
 */

import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** Such a command. */
export interface UnbuiltCommand {
  /** The part of Salt that it belongs to. */
  readonly part: string;
  readonly answer: () => Value;
  /** Whether data in this load is lost, which is logged. */
  readonly loses: (load: ValueMap) => boolean;
}

const NOTHING = () => new Map();

/** By the name of the command. */
export const UNBUILT_COMMANDS: Readonly<Record<string, UnbuiltCommand>> = {
  // As a master of Salt 3007 answers it, which has no resources either. Minions of 3008 send it at each start.
  _register_resources: { part: "resources", answer: NOTHING, loses: hasResources },
};

function hasResources(load: ValueMap): boolean {
  const resources = load.get("resources");
  return isMap(resources) && resources.size > 0;
}
