/**
 * Tells the log once that a minion asks for a part of Salt that is not built, so that an operator who gets an empty answer
 * finds the reason.
 * @module
 */

import type { Needs } from "./services.ts";

/** Maximum number of minions and parts that each thread remembers. */
const MOST_TOLD = 20_000;

const told = new Set<string>();

/** Logs that minion `id` asks for `part`, if this thread has not done so for as long as it remembers. */
export function tellNotBuilt(id: string, part: string, { warn }: Needs<"warn">): void {
  const key = `${part} ${id}`;
  if (told.has(key)) return;
  if (told.size >= MOST_TOLD) told.clear();
  told.add(key);
  warn(`Minion ${id} asks for what is not built yet, and gets an empty answer: ${part}`);
}
