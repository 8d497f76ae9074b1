/**
 * Answers what plugins in Python ask: functions and data of the minion that runs them.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { collectDocs } from "#lib/plugins/docs.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import type { JobContext, StateContext } from "#lib/plugins/job_context.ts";
import { PythonQuestionFields } from "./question_fields.ts";
import { answerTexts } from "./text_questions.ts";
import type { PythonJob, PythonJobParts } from "./python_job.ts";
import type { PythonQuestion } from "#lib/python_bridge/link/session.ts";
import { isMap, type ValueMap } from "#lib/values/value.ts";

/** Plugins for the jobs of a minion. */
export type MinionPython = Pick<PythonJob<JobContext>, "find" | "describe" | "request">;

/** Answers the questions of a minion's plugins. */
export const MINION_ANSWERS: Pick<PythonJobParts<JobContext>, "role" | "answers"> = {
  role: "minion",
  answers() {
    const changes: JobChanges = {};
    return (question, context) => answerPython(question, context, changes);
  },
};

/** Answers the questions of plugins while a master compiles pillar. */
export const PILLAR_ANSWERS: Pick<PythonJobParts<JobContext>, "role" | "answers"> = {
  ...MINION_ANSWERS,
  role: "master",
};

/** What the plugins of one job have changed for the functions that they call. */
interface JobChanges {
  /** The grains, if a plugin has changed them. */
  grains?: ValueMap;
}

/** The answer to a question of a function that runs with `context`. */
async function answerPython(
  { what, fields }: PythonQuestion,
  context: JobContext,
  changes: JobChanges,
): Promise<unknown> {
  const given = new PythonQuestionFields(fields);
  switch (what) {
    case "grains":
      return context.grains;
    case "pillar":
      return context.pillar;
    case "opts":
      return withMinionsOpts(optsValues(context.opts));
    case "has":
      return await has(given.text("family"), given.text("fun"), context);
    case "names":
      return await names(given.text("family"), context);
    case "doc":
      return collectDocs(await context.catalogue.all(), [given.text("fun")]).get(given.text("fun")) ?? null;
    case "call":
      return await withGrains(context, fields, changes).call(
        given.text("fun"),
        given.list("args"),
        given.map("kwargs"),
      );
    case "state":
      return await callState(given, context);
    default: {
      const answer = answerTexts({ what, fields });
      if (answer === undefined) throw new CommandError(`the bridge has no answer to ${what}`);
      return answer.value;
    }
  }
}

/** The options as plugins expect them. */
function withMinionsOpts(opts: ValueMap): ValueMap {
  if (!opts.has("__role")) opts.set("__role", "minion");
  return opts;
}

async function has(family: string, fun: string, { catalogue }: JobContext): Promise<boolean> {
  return await (family === "states" ? catalogue.states : catalogue).get(fun) !== undefined;
}

async function names(family: string, { catalogue }: JobContext): Promise<string[]> {
  return (await (family === "states" ? catalogue.states : catalogue).all()).map(({ name }) => name);
}

/** The context with the grains that plugins of the job have changed; other jobs do not see them. */
function withGrains(context: JobContext, fields: ValueMap, changes: JobChanges): JobContext {
  const changed = fields.get("grains");
  if (isMap(changed)) changes.grains = changed;
  const { grains } = changes;
  if (grains === undefined) return context;
  const own: JobContext = {
    ...context,
    grains,
    call: (name, args, kwargs) => callFunction(name, { args, kwargs, context: own }),
  };
  return own;
}

async function callState(given: PythonQuestionFields, context: JobContext): Promise<ValueMap> {
  const name = given.text("fun");
  if (!isState(context)) throw new InvocationError(`${name} is called outside of a run of states`);
  const [first, ...more] = given.list("args");
  if (more.length > 0) throw new InvocationError(`${name} takes its arguments by name`);
  const kwargs = given.map("kwargs");
  if (first !== undefined) kwargs.set("name", first);
  return await context.state(name, kwargs);
}

function isState(context: JobContext | StateContext): context is StateContext {
  return "state" in context;
}
