/**
 * The job of a scheduled run, and its return.
 * Source: Salt 3008.3 `salt/utils/schedule.py` handle_func.
 * @module
 */

import { makeJid } from "#lib/protocol/jid.ts";
import { NO_JID, NOCACHE_JID, OWN_JOB, SCHEDULED } from "#lib/protocol/own_job.ts";
import type { DueJob } from "#lib/schedule/schedule.ts";
import { wallText } from "#lib/schedule/zone.ts";
import { strftime } from "#lib/text/strftime.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";

/** The return code of a scheduled job that failed by an error. */
const FAILED = 254;

/**
 * The load of a scheduled run.
 * @param returners The returners of all scheduled jobs (`schedule_returner`).
 */
export function scheduledLoad(
  { job, run }: DueJob,
  { id, returners, nowMs }: { readonly id: string; readonly returners: readonly string[]; readonly nowMs: number },
): ValueMap {
  const ret = [...new Set([...job.returners, ...returners])];
  const fun = run.instead ?? job.fun, jid = makeJid();
  const kwargs: Value[] = job.kwargs.size > 0 ? [new Map([...job.kwargs, ["__kwarg__", true]])] : [];
  const scheduled = map({
    id,
    fun,
    fun_args: [...job.args, ...job.kwargs.size > 0 ? [job.kwargs] : []],
    schedule: job.title,
    jid: ret.length > 0 ? jid : job.returnJob === "nocache" ? NOCACHE_JID : NO_JID,
    return_job: job.returnJob !== false,
  });
  if (job.metadata !== undefined) scheduled.set("metadata", withTimes(job.metadata, nowMs));
  if (run.missed > 0) {
    scheduled.set("missed", run.missed);
    scheduled.set("planned", wallText(job.zone.wall(run.moment)));
  }
  for (const [from, to] of [["return_config", "ret_config"], ["return_kwargs", "ret_kwargs"]]) {
    if (ret.length > 0 && job.entry.has(from)) scheduled.set(to, job.entry.get(from) ?? null);
  }
  return map({
    jid,
    fun,
    arg: [...job.args, ...kwargs],
    tgt: id,
    tgt_type: "glob",
    ret: ret.join(","),
    user: "",
    [OWN_JOB]: true,
    [SCHEDULED]: scheduled,
  });
}

/** Metadata with Salt's times. */
function withTimes(metadata: ValueMap, nowMs: number): ValueMap {
  const now = new Date(nowMs), offset = -now.getTimezoneOffset(), size = Math.abs(offset);
  const two = (n: number) => String(Math.floor(n)).padStart(2, "0");
  const utc = new Date(nowMs + now.getTimezoneOffset() * 60_000);
  return new Map([
    ...metadata,
    ["_TOS", `${offset < 0 ? "-" : "+"}${two(size / 60)}${two(size % 60)}`],
    ["_TS", strftime(now, "%a %b %e %H:%M:%S %Y")],
    ["_TT", strftime(utc, "%Y %B %d %a %H %m")],
  ]);
}

/** Whether the return of a job goes to the master. */
export function returnsToMaster(load: ValueMap): boolean {
  const scheduled = load.get(SCHEDULED);
  return !isMap(scheduled) || scheduled.get("return_job") !== false;
}

/**
 * The return of a scheduled job; `undefined` for a load of another. As in Salt, it is a success whatever its return
 * code, unless it failed by an error.
 */
export function scheduledReturn(load: ValueMap, outcome: ValueMap): ValueMap | undefined {
  const scheduled = load.get(SCHEDULED);
  if (!isMap(scheduled)) return undefined;
  const hasFailed = outcome.get("threw") === true || outcome.has("interrupted");
  const returned = map({
    cmd: "_return",
    id: scheduled.get("id"),
    fun: scheduled.get("fun"),
    fun_args: scheduled.get("fun_args"),
    schedule: scheduled.get("schedule"),
    jid: scheduled.get("jid"),
    pid: Deno.pid,
    return: outcome.get("return"),
    retcode: hasFailed ? FAILED : outcome.get("retcode"),
    success: !hasFailed,
  });
  for (const [key, value] of scheduled) {
    if (!returned.has(key) && key !== "return_job") returned.set(key, value);
  }
  for (const key of ["out", "interrupted"]) if (outcome.has(key)) returned.set(key, outcome.get(key) ?? null);
  return returned;
}
