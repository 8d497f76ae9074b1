/**
 * Runs states on a fleet of processes: writes the master's SLS files, starts runs without waiting, and reads their
 * returns.
 * @module
 */

import type { ProcessFleet } from "./process_fleet.ts";
import { map, type Value } from "#lib/values/value.ts";
import { toWireArgs } from "#lib/yaml/arguments.ts";
import { eventually } from "#tests/support/eventually.ts";

/** Writes an SLS file that the master serves. */
export function serveStates({ statesDir }: ProcessFleet, sls: string, high: Record<string, unknown>): void {
  Deno.mkdirSync(statesDir, { recursive: true });
  Deno.writeTextFileSync(`${statesDir}/${sls}.sls`, `#!json\n${JSON.stringify(high)}\n`);
}

/**
 * Lets a minion apply an SLS file, without waiting.
 * @returns The job's id.
 */
export async function startApply(fleet: ProcessFleet, id: string, sls: string): Promise<string> {
  const client = await fleet.client();
  try {
    const arg = toWireArgs([sls], map({}));
    const { jid } = await client.publish({ tgt: id, tgtType: "glob", fun: "state.apply", arg, kwargs: map({}) });
    return jid;
  } finally {
    client.close();
  }
}

/** The return of a minion for a job, as soon as it is stored. */
export async function untilReturned({ jobs }: ProcessFleet, id: string, jid: string): Promise<Value> {
  return await eventually(() => jobs.getReturn(jid, id)?.return, { what: `the return of ${jid}` }) ?? null;
}
