/**
 * Runs `test.ping` repeatedly during a fault.
 * @module
 */

import type { LocalClient } from "#lib/client/local.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { ProcessFleet } from "./process_fleet.ts";

/** The outcomes of the pings. Times in milliseconds. */
export interface Pings {
  /** Number of pings. */
  readonly sent: number;
  /** Time until the first answer. */
  readonly firstMs: number;
  /** Time of the slowest ping after the first answer. */
  readonly slowestMs: number;
  /** Number of unanswered pings after the first answer. */
  readonly unanswered: number;
}

const PAUSE_MS = 100;
const TIMEOUTS = { timeoutMs: 10_000, gatherMs: 10_000 };

/** Runs `test.ping` on `ids` again and again, while `goOn` returns true and at least until one was answered. */
export async function pingFor(
  fleet: ProcessFleet,
  ids: () => readonly string[],
  goOn: () => boolean,
  withinMs: number,
): Promise<Pings> {
  const started = performance.now();
  let firstMs: number | undefined;
  let sent = 0, slowestMs = 0, unanswered = 0;
  do {
    const began = performance.now();
    const good = await ask(fleet, ids());
    sent++;
    if (good) {
      if (firstMs !== undefined) slowestMs = Math.max(slowestMs, performance.now() - began);
      firstMs ??= performance.now() - started;
    } else if (firstMs !== undefined) unanswered++;
    await sleep(PAUSE_MS);
  } while ((goOn() || firstMs === undefined) && performance.now() - started < withinMs);
  return { sent, firstMs: Math.round(firstMs ?? withinMs), slowestMs: Math.round(slowestMs), unanswered };
}

async function ask(fleet: ProcessFleet, ids: readonly string[]): Promise<boolean> {
  if (ids.length === 0) return false;
  let client: LocalClient | undefined;
  try {
    client = await fleet.client();
    const job = await client.publish({ tgt: [...ids], tgtType: "list", fun: "test.ping", arg: [] });
    let returned = 0;
    for await (const one of client.collect(job, TIMEOUTS)) if (one.kind === "returned") returned++;
    return returned === ids.length;
  } catch {
    return false; // the master does not run or answer yet
  } finally {
    client?.close();
  }
}

/**
 * Runs `test.ping` on `tgt`.
 * @returns The number of minions that answered within `withinMs`, at most `expected`.
 */
export async function answers(fleet: ProcessFleet, tgt: string, expected: number, withinMs: number): Promise<number> {
  using client = await fleet.client();
  const job = await client.publish({ tgt, tgtType: "glob", fun: "test.ping", arg: [] });
  let returned = 0;
  for await (const one of client.collect(job, { timeoutMs: withinMs, gatherMs: 5_000 })) {
    if (one.kind === "returned" && ++returned === expected) break;
  }
  return returned;
}
