/**
 * Commands of minions that get an answer but have no effect, because that part of Salt is not built here. Salt's
 * minions accept each answer from a master without that part. When a part is built, its commands move to the table of
 * its subject (minion_commands.ts). docs/differences.md shows this table.
 * @module
 */

import type { Needs } from "./services.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** Maximum number of minions and parts that each thread remembers. */
const MAX_REMEMBERED = 20_000;

/** Such a command. */
export interface UnbuiltCommand {
  /** The part of Salt that it belongs to. */
  readonly part: string;
  readonly answer: () => Value;
  /** Whether data in this load is lost, which is logged. Default: the command only asks. */
  readonly loses?: (load: ValueMap) => boolean;
  /** Whether every minion sends it at its start, so that it is not logged. */
  readonly usual?: boolean;
}

const NOTHING = () => new Map();

/** By the name of the command. */
export const UNBUILT_COMMANDS: Readonly<Record<string, UnbuiltCommand>> = {
  // As a master of Salt 3007 answers it, which has no resources either. Minions of 3008 send it at each start.
  _register_resources: { part: "resources", answer: NOTHING, loses: hasResources, usual: true },
};

function hasResources(load: ValueMap): boolean {
  const resources = load.get("resources");
  return isMap(resources) && resources.size > 0;
}

const warned = new Set<string>();

/**
 * Logs once that minion `id` asks for a part of Salt that is not built, so that the operator finds the reason of an
 * empty answer; not again while this thread remembers it.
 */
export function warnOnceNotBuilt(id: string, part: string, { warn }: Needs<"warn">): void {
  const key = `${part} ${id}`;
  if (warned.has(key)) return;
  if (warned.size >= MAX_REMEMBERED) warned.clear();
  warned.add(key);
  warn(`Minion ${id} asks for what is not built yet, and gets an empty answer: ${part}`);
}
