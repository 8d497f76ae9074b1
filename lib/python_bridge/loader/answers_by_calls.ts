/**
 * Answers what plugins in Python ask that run beside the jobs of their host, for as long as it runs: beacons, engines.
 * Functions are calls of the host's.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { PythonQuestion } from "#lib/python_bridge/link/session.ts";
import { isMap, map, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { PythonQuestionFields } from "./question_fields.ts";
import { answerTexts } from "./text_questions.ts";

/** What such plugins may use. */
export interface CallingHost {
  /** The options as `__opts__`. */
  opts(): ValueMap;
  grains(): ValueMap;
  pillar(): ValueMap;
  /** Whether there is an execution function of this name. Default: the list of functions says so. */
  has?(fun: string): Promise<boolean>;
  /** Calls an execution function. */
  call(fun: string, args: readonly Value[], kwargs: ValueMap): Promise<Value>;
}

/**
 * The answer to a question.
 * @throws {CommandError} If such a plugin cannot ask it; else what the called function throws.
 */
export async function answerByCalls(question: PythonQuestion, host: CallingHost): Promise<unknown> {
  const given = new PythonQuestionFields(question.fields);
  switch (question.what) {
    case "opts":
      return host.opts();
    case "grains":
      return host.grains();
    case "pillar":
      return host.pillar();
    case "has":
      return given.text("family") === "modules" && await has(given.text("fun"), host);
    case "names":
      // Such plugins have no runners, though a roster knows the name.
      return given.text("family") === "modules" ? await host.call("sys.list_functions", [], new Map()) : [];
    case "doc": {
      const fun = given.text("fun"), docs = await host.call("sys.doc", [fun], new Map());
      return isMap(docs) ? docs.get(fun) ?? null : null;
    }
    case "call":
      return await host.call(given.text("fun"), given.list("args"), given.map("kwargs"));
    default: {
      const answer = answerTexts(question);
      if (answer === undefined) throw new CommandError(`such a plugin cannot use ${question.what}`);
      return answer.value;
    }
  }
}

async function has(fun: string, host: CallingHost): Promise<boolean> {
  // A pattern in place of a name would match other functions.
  if (/[^\w.-]/.test(fun)) return false;
  return await host.has?.(fun) ?? truthy(await host.call("sys.list_functions", [fun], map({})));
}
