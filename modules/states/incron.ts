/**
 * State module `incron`: jobs that start when a file changes.
 * Source: Salt 3006.28 `salt/states/incron.py`, which Salt 3008 has no longer.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import { asList, listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { map, str } from "#lib/values/value.ts";

const JOB = { name: p.str(), path: p.str(), mask: p.any(), cmd: p.str(), user: p.str("root") };

const JOB_DOC = `

name
    Any name.

path
    The path that is watched.

mask
    A list of events: IN_MODIFY, IN_CREATE, ….

cmd
    The command.

user
    The user whose table has it, or \`system\`. Default: root.`;

/** A job as `incron.set_job` takes it. */
interface Wanted {
  readonly user: string;
  readonly path: string;
  readonly mask: string;
  readonly cmd: string;
}

async function statusOf(
  { user, path, mask, cmd }: Wanted,
  context: StateContext,
): Promise<"present" | "update" | "absent"> {
  const flags = mask.toUpperCase().split(",").sort();
  const table = mapOrEmpty(await context.call("incron.list_tab", [user]));
  for (const job of listOrEmpty(table.get("crons")).map(mapOrEmpty)) {
    if (job.get("path") !== path || job.get("cmd") !== cmd.replace(/\n$/, "")) continue;
    const old = str(job.get("mask") ?? "").split(",").sort();
    if (old.join() === flags.join()) return "present";
    if (flags.some((flag) => old.includes(flag))) return "update";
  }
  return "absent";
}

function wantedOf(
  { user, path, mask, cmd }: Omit<Wanted, "mask"> & { readonly mask: Parameters<typeof asList>[0] },
): Wanted {
  return { user, path, mask: asList(mask).map(str).join(","), cmd };
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `A job is in the table of a user.${JOB_DOC}`,
  params: JOB,
  async run({ name, ...given }, context) {
    const wanted = wantedOf(given);
    const { user } = wanted;
    if (context.test) {
      const status = await statusOf(wanted, context);
      if (status === "present") return { ...startResult(name), comment: `Incron ${name} already present` };
      const word = status === "update" ? "updated" : "added";
      return { ...startResult(name, null), comment: `Incron ${name} is set to be ${word}` };
    }
    const answer = str(await context.call("incron.set_job", [], map({ ...wanted })));
    const changes = map({ [user]: name });
    if (answer === "present") return { ...startResult(name), comment: `Incron ${name} already present` };
    if (answer === "new") {
      return { ...startResult(name), comment: `Incron ${name} added to ${user}'s incrontab`, changes };
    }
    if (answer === "updated") return { ...startResult(name), comment: `Incron ${name} updated`, changes };
    return failState(name, `Incron ${name} for user ${user} failed to commit with error \n${answer}`);
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `A job is not in the table of a user.${JOB_DOC}`,
  params: JOB,
  async run({ name, ...given }, context) {
    const wanted = wantedOf(given);
    const { user } = wanted;
    if (context.test) {
      const status = await statusOf(wanted, context);
      if (status !== "present") return { ...startResult(name), comment: `Incron ${name} is absent` };
      return { ...startResult(name, null), comment: `Incron ${name} is set to be removed` };
    }
    const answer = str(await context.call("incron.rm_job", [], map({ ...wanted })));
    if (answer === "absent") return { ...startResult(name), comment: `Incron ${name} already absent` };
    if (answer === "removed") {
      const changes = map({ [user]: name });
      return { ...startResult(name), comment: `Incron ${name} removed from ${user}'s crontab`, changes };
    }
    return failState(name, `Incron ${name} for user ${user} failed to commit with error ${answer}`);
  },
});
