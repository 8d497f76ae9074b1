/**
 * Functions that give a job to other minions.
 * @module
 */

import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { SCHEDULE_KEYWORDS } from "#lib/schedule/call_keywords.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { dumpJson } from "#lib/values/json.ts";
import { answerOf, jobs } from "./_asking.ts";

export const copy: ModuleFunction<JobContext> = fn({
  doc: describe("Copy a job to other minions. The master's `peer` must allow it.", "schedule.copy jobname target"),
  params: { name: p.str(), target: p.str() },
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.copy,
  run: async ({ name, target }, context, { kwargs }) => {
    if (truthy(kwargs.get("test"))) {
      return answerOf({ comment: `Job: ${name} would be copied from schedule.`, result: true });
    }
    return await send(name, target, context, `Copied Job ${name} from schedule to minion(s).`);
  },
});

export const move: ModuleFunction<JobContext> = fn({
  doc: describe("Move a job to other minions. The master's `peer` must allow it.", "schedule.move jobname target"),
  params: { name: p.str(), target: p.str() },
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.move,
  run: async ({ name, target }, context, { kwargs }) => {
    if (truthy(kwargs.get("test"))) {
      return answerOf({ comment: `Job: ${name} would be moved from schedule.`, result: true });
    }
    const sent = await send(name, target, context, `Moved Job ${name} from schedule.`);
    if (sent.has("minions") && truthy(sent.get("result"))) await context.call("schedule.delete", [name]);
    return sent;
  },
});

async function send(name: string, target: string, context: JobContext, done: string): Promise<ValueMap> {
  const job = (await jobs(context)).get(name);
  if (!isMap(job)) return answerOf({ comment: `Job ${name} does not exist.`, result: false });
  const response = await context.call("publish.publish", [target, "schedule.add", wordsOf(name, job)]);
  if (!isMap(response) || response.size === 0) {
    return answerOf({ comment: "no servers answered the published schedule.add command", result: false });
  }
  // Salt counts every answer that is not empty, also one that says that the job was refused.
  const failed = [...response].filter(([, answer]) => !truthy(isMap(answer) ? answer.get("result") : answer));
  if (failed.length > 0) {
    const minions = failed.map(([id]) => id);
    return map({ comment: "the following minions return False", result: false, minions });
  }
  return map({ comment: done, result: true, minions: [...response.keys()] });
}

/** The words of `schedule.add` for a job. */
function wordsOf(name: string, job: ValueMap): Value[] {
  const renamed: Readonly<Record<string, string>> = { args: "job_args", kwargs: "job_kwargs" };
  const words: Value[] = [name];
  for (const [key, value] of job) {
    const word = str(key);
    if (word.startsWith("_") || word === "name") continue;
    words.push(`${renamed[word] ?? word}=${dumpJson(value)}`);
  }
  return words;
}
