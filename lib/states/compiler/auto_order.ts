/**
 * Numbers states without `order` (`state_auto_order`): from 10000, in the order of the files.
 * Source: Salt 3008.3, `BaseHighState._handle_iorder` of `salt/state.py`.
 * @module
 */

import { firstKey } from "./high.ts";
import { isMap, type ValueMap } from "#lib/values/value.ts";

/** The first number. */
export const FIRST_ORDER = 10_000;

/**
 * Appends `{order: n}` to the arguments of every state that has none.
 * @param next The next number.
 * @returns The number after the last one.
 */
export function giveOrders(high: ValueMap, next: number): number {
  for (const body of high.values()) {
    if (!isMap(body)) continue;
    for (const [module, run] of body) {
      if (!Array.isArray(run) || typeof module !== "string" || module.startsWith("_")) continue;
      if (run.some((argument) => firstKey(argument) === "order")) continue;
      run.push(new Map([["order", next++]]));
    }
  }
  return next;
}
