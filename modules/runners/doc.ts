/**
 * Runner `doc`: the documentation of runners, of wheel modules, and of the modules that minions have.
 * Source: the functions and results of Salt 3008.3 `salt/runners/doc.py`.
 * @module
 */

import { argspec as signatureOf } from "#lib/plugins/call.ts";
import { collectDocs } from "#lib/plugins/docs.ts";
import { runner as declareRunner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { isMap, type ValueMap } from "#lib/values/value.ts";

export const runner: RunnerFunction = declareRunner({
  doc: runnerDoc("Return the documentation of every runner.", "doc.runner"),
  params: {},
  run: async (_, context) => collectDocs(await context.catalogue.all(), []),
});

export const argspec: RunnerFunction = declareRunner({
  doc: runnerDoc(
    "Return the arguments of every runner's functions. Not in Salt; for sys.runner_argspec.",
    "doc.argspec",
  ),
  params: {},
  run: async (_, context) =>
    Object.fromEntries((await context.catalogue.all()).map(({ name, fun }) => [name, signatureOf(fun)])),
});

export const wheel: RunnerFunction = declareRunner({
  doc: runnerDoc("Return the documentation of every function of the wheel modules.", "doc.wheel"),
  params: {},
  run: async (_, context) => collectDocs(await context.wheel.all(), []),
});

export const execution: RunnerFunction = declareRunner({
  doc: runnerDoc("Return the documentation of every execution module that any minion has.", "doc.execution"),
  params: {},
  async run(_, context) {
    const docs: ValueMap = new Map();
    const answers = await context.local.run("*", "sys.doc", { timeoutS: context.opts.timeout });
    for (const { return: answer } of answers.values()) {
      if (isMap(answer)) { for (const [name, doc] of answer) docs.set(name, doc); }
    }
    return docs;
  },
});
