/**
 * `state.plan`, and `state.apply` with the argument `plan` (plan.ts).
 * @module
 */

import type { JobContext } from "#lib/plugins/job_context.ts";
import type { Chunk } from "#lib/states/compiler/chunks.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { applyBoth } from "./apply.ts";
import { PLAN_KEY } from "#lib/output/state_return.ts";
import { refuseTexts } from "#lib/states/tree/retcode.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import * as plans from "./plan.ts";
import type { ApplyCall } from "./prepared.ts";

/** A run in test mode with all that it depends on. */
interface Trial {
  readonly returned: Value;
  /** `undefined` if there are no results: the states could not be compiled. */
  readonly parts: plans.PlanParts | undefined;
}

/** Runs states in test mode; beside their results is the name of the plan. */
export async function makePlan(mods: Value, call: ApplyCall): Promise<Value> {
  const { returned, parts } = await tryRun(mods, call);
  if (parts === undefined || !isMap(returned)) return returned;
  const name = plans.planName(parts);
  plans.keepPlan(call.context.opts.cachedir, name, { mods, kwargs: ownArguments(call), parts, shown: returned });
  return new Map([...returned, [PLAN_KEY, name]]);
}

/** Applies a plan, or reports what has changed since. */
export async function applyPlan(name: string, call: ApplyCall): Promise<Value> {
  const { context } = call;
  const plan = plans.readPlan(context.opts.cachedir, name);
  if (plan === undefined) {
    return refuseTexts(
      [`There is no plan ${name} on this minion: state.plan makes one, and each minion has its own`],
      context,
    );
  }
  const kwargs = new Map([...call.kwargs, ...plan.kwargs]);
  const planned = { ...call, kwargs };
  const { returned, parts } = await tryRun(plan.mods, planned);
  if (parts === undefined) return returned;
  const moved = plans.movedSince(plan.parts, parts);
  const texts = moved.map((one) => [one.text, ...plans.differences(one, plan.shown, returned)].join("\n"));
  if (moved.length > 0) return refuseTexts(plans.refusalTexts(name, texts), context);
  return await applyBoth(plan.mods, { ...planned, test: false });
}

/** The call's arguments, without the job's own fields. */
function ownArguments({ kwargs }: ApplyCall): ValueMap {
  return new Map([...kwargs].filter(([key]) => !str(key).startsWith("__pub_") && key !== "plan"));
}

async function tryRun(mods: Value, call: ApplyCall): Promise<Trial> {
  let low: Map<string, string> | undefined;
  let files = new Map<string, string>();
  let pillar: ValueMap = new Map();
  const returned = await applyBoth(mods, {
    ...call,
    context: { ...call.context, isPlan: true },
    test: true,
    async compiled(chunks: readonly Chunk[], job: JobContext) {
      low = plans.lowHashes(chunks);
      pillar = job.pillar;
      files = await hashesOf(plans.serverFiles(chunks), job);
    },
  });
  const parts = low === undefined || !isMap(returned)
    ? undefined
    : plans.planParts({ low, pillar, files, results: returned });
  return { returned, parts };
}

/** The hash of each file; of a directory those of all files in it. */
async function hashesOf(urls: ReadonlyMap<string, string>, job: JobContext): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  const add = async (url: string, saltenv: string): Promise<boolean> => {
    const hash = await job.call("cp.hash_file", [url, saltenv]);
    if (!isMap(hash) || hash.size === 0) return false;
    hashes.set(url, str(hash.get("hsum") ?? ""));
    return true;
  };
  for (const [url, saltenv] of urls) {
    if (await add(url, saltenv)) continue;
    const files = await job.call("cp.list_master", [saltenv, url.replace(/^salt:\/\//, "")]);
    for (const path of listOrEmpty(files)) await add(`salt://${str(path)}`, saltenv);
  }
  return hashes;
}
