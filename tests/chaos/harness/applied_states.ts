/**
 * Runs of states on a fleet of processes: a tree that its master serves, runs that are not waited for, and their returns.
 * @module
 */

import type { ProcessFleet } from "./process_fleet.ts";
import { map, type Value } from "../../../lib/values/value.ts";
import { toWireArgs } from "../../../lib/yaml/arguments.ts";
import { eventually } from "../../support/eventually.ts";

/** Writes an SLS file that the master serves. */
export function serveStates({ statesDir }: ProcessFleet, sls: string, high: Record<string, unknown>): void {
  Deno.mkdirSync(statesDir, { recursive: true });
  Deno.writeTextFileSync(`${statesDir}/${sls}.sls`, `#!json\n${JSON.stringify(high)}\n`);
}

/** Has a minion apply an SLS file. @returns The job's id; nobody waits for its end. */
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

/** What a minion returned for a job, as soon as it is there. */
export async function untilReturned({ jobs }: ProcessFleet, id: string, jid: string): Promise<Value> {
  return await eventually(() => jobs.getReturn(jid, id)?.return, { what: `the return of ${jid}` }) ?? null;
}
