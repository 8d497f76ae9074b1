/**
 * The record of a batch, for tests.
 * @module
 */

import type { BatchState } from "#lib/jobs/store.ts";

/** A batch of one minion that has not begun, with these changes. */
export function batchState(changes: Partial<BatchState> = {}): BatchState {
  return {
    jid: "20260101000000000001",
    minions: ["web1"],
    pending: ["web1"],
    active: new Map(),
    done: new Map(),
    failed: new Map(),
    size: 1,
    fun: "test.ping",
    arg: [],
    kwargs: new Map(),
    tgt: "*",
    tgtType: "glob",
    failhard: false,
    waitS: 0,
    timeoutS: 5,
    gatherS: 10,
    progressMs: 0,
    createdMs: 0,
    halted: undefined,
    driver: "master",
    pid: Deno.pid,
    ret: "",
    user: "root",
    ...changes,
  };
}
