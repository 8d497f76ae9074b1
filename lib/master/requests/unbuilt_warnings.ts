/**
 * Logs once that a minion asks for a part of Salt that is not built, so that the operator finds the reason of an empty
 * answer.
 * @module
 */

import type { Needs } from "./services.ts";

/** Maximum number of minions and parts that each thread remembers. */
const MAX_REMEMBERED = 20_000;

const warned = new Set<string>();

/** Logs that minion `id` asks for `part`, unless this thread remembers that it did. */
export function warnOnceNotBuilt(id: string, part: string, { warn }: Needs<"warn">): void {
  const key = `${part} ${id}`;
  if (warned.has(key)) return;
  if (warned.size >= MAX_REMEMBERED) warned.clear();
  warned.add(key);
  warn(`Minion ${id} asks for what is not built yet, and gets an empty answer: ${part}`);
}
