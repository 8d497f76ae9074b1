/**
 * The commands of minions that are answered and not acted upon, as the part of Salt that they belong to is not built here. Each
 * answer is one that Salt's minions take from a master without that part. What is built moves to the table of its subject (minion_commands.ts).
 * docs/differences.md shows this table.
 * @module
 */

import { isMap, type Value, type ValueMap } from "../values/value.ts";

/** What becomes of such a command. */
export interface UnbuiltCommand {
  /** The part of Salt that it belongs to. */
  readonly part: string;
  readonly answer: () => Value;
  /** Whether this load has something that is lost, so that the operator is told. Default: it only asks. */
  readonly loses?: (load: ValueMap) => boolean;
  /** Whether every minion sends it at its start, so that nobody needs to be told of it. */
  readonly usual?: boolean;
}

const NOTHING = () => new Map();
const none = (part: string, answer: () => Value): UnbuiltCommand => ({ part, answer });

/** By the name of the command. */
export const UNBUILT_COMMANDS: Readonly<Record<string, UnbuiltCommand>> = {
  _mine_get: none("mine", NOTHING),
  _mine: { part: "mine", answer: () => false, loses: () => true },
  _mine_delete: none("mine", () => false),
  _mine_flush: none("mine", () => false),
  // As a master of Salt 3007 answers it, which has no resources either. Minions of 3008 send it at each start.
  _register_resources: { part: "resources", answer: NOTHING, loses: hasResources, usual: true },
};

function hasResources(load: ValueMap): boolean {
  const resources = load.get("resources");
  return isMap(resources) && resources.size > 0;
}
