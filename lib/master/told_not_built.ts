/**
 * Logs once that a minion asks for a part of Salt that is not built, so that the operator finds the reason of an empty
 * answer.
 * @module
 */

import type { Needs } from "./services.ts";

/** Maximum number of minions and parts that each thread remembers. */
const MAX_TOLD = 20_000;

const told = new Set<string>();

/** Logs that minion `id` asks for `part`, unless this thread remembers that it did. */
export function tellNotBuilt(id: string, part: string, { warn }: Needs<"warn">): void {
  const key = `${part} ${id}`;
  if (told.has(key)) return;
  if (told.size >= MAX_TOLD) told.clear();
  told.add(key);
  warn(`Minion ${id} asks for what is not built yet, and gets an empty answer: ${part}`);
}
