/**
 * Checks of a crontab in test mode: whether a job or a variable is as wanted. Source: Salt 3008.3
 * `salt/states/cron.py`.
 * @module
 */

import { type CronEntry, differs, isSameJob, TIME_FIELDS } from "#lib/host/accounts/crontab.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { textOrNull } from "#lib/values/shape.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** How an entry is found. */
export type CronEntryState = "absent" | "present" | "update";

/** A job as a state asks for it. A time that is not given may be any. */
export interface WantedCronJob {
  readonly cmd: string;
  readonly identifier: string | null;
  readonly comment?: string | null;
  readonly commented?: boolean | null;
  /** The fields of the time, by name. */
  readonly time?: ReadonlyMap<string, string>;
  /** The occasion, in place of a time. */
  readonly special?: string | null;
}

async function entries(user: string, kind: "crons" | "special" | "env", context: StateContext): Promise<ValueMap[]> {
  const table = await context.call("cron.list_tab", [user]);
  const list = isMap(table) ? table.get(kind) : undefined;
  return Array.isArray(list) ? list.filter(isMap) : [];
}

function field(entry: ValueMap, key: string): string | null {
  return textOrNull(entry.get(key));
}

/** Whether a job is in a user's crontab. */
export async function findJob(user: string, wanted: WantedCronJob, context: StateContext): Promise<CronEntryState> {
  const special = wanted.special ?? null;
  for (const entry of await entries(user, special === null ? "crons" : "special", context)) {
    const job: CronEntry = {
      cmd: field(entry, "cmd") ?? "",
      identifier: field(entry, "identifier"),
      comment: field(entry, "comment"),
      commented: entry.get("commented") === true,
    };
    if (!isSameJob(job, wanted.cmd, wanted.identifier)) continue;
    const times = TIME_FIELDS.map((name) => [field(entry, name), wanted.time?.get(name) ?? null] as const);
    const pairs: (readonly [string | boolean | null, string | boolean | null])[] = [
      ...special === null ? times : [[field(entry, "spec"), special] as const],
      [job.identifier, wanted.identifier],
      [job.cmd, wanted.cmd],
      [job.comment, wanted.comment ?? null],
      [job.commented, wanted.commented ?? null],
    ];
    return pairs.some(([old, wanted]) => differs(old, wanted)) ? "update" : "present";
  }
  return "absent";
}

/** Whether a variable is in a user's crontab, with that value. */
export async function findVariable(
  user: string,
  name: string,
  value: Value,
  context: StateContext,
): Promise<CronEntryState> {
  const variable = (await entries(user, "env", context)).find((entry) => entry.get("name") === name);
  if (variable === undefined) return "absent";
  return variable.get("value") === (value ?? "") ? "present" : "update";
}
