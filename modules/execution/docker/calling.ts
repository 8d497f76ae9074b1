/**
 * Execution module `docker`: functions and states are run in a container, and images are made by states.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`.
 * @module
 */

import { CONTAINER_KEYWORDS } from "#lib/host/docker/argument_names.ts";
import { DetailedError } from "#lib/host/docker/translate_input.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { functionCall, type InsideCall, STATE_CALL_KEYWORDS, stateCall } from "#lib/ssh/inside_call.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { changing, lastingEngine } from "./connection.ts";
import { callInContainer } from "./inside.ts";
import { removeContainer } from "./lifecycle.ts";

const ABOUT =
  "This minion's executable is copied into it meanwhile, and runs as root: nothing else is needed there but the C library, no Python.";

/** Runs a function there; its return code is the job's. */
async function called(name: string, call: InsideCall, context: JobContext): Promise<Value> {
  const { return: value, retcode } = await callInContainer(name, call, context);
  context.setRetcode(retcode);
  return value;
}

export const call: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Run a function of Salt in a container that runs. ${ABOUT}`,
    "docker.call mycontainer test.ping",
    "docker.call mycontainer test.arg arg1 arg2 key1=val1",
  ),
  permissions: "all",
  params: { name: p.str(), function: p.str() },
  varArgs: "args",
  varKwargs: "kwargs",
  run: ({ name, function: fun }, context, { args, kwargs }) =>
    changing(context, () => called(name, functionCall(fun, args, kwargs), context)),
});

/** Keywords of the functions of `state`, and of the calls of them. */
const STATE_KEYWORDS: readonly string[] = [...STATE_CALL_KEYWORDS, "saltenv", "test", "exclude"];

const SHARED = {
  permissions: "all",
  varKwargs: "kwargs",
  keywords: STATE_KEYWORDS,
  outputter: "highstate",
} as const;

const STATES =
  "The states are rendered there: grains are those of the container, besides those that are set by hand.\n\nname\n    The container." +
  "\n\npillar\n    Values that win over those of this minion's pillar, which the states have.";

/** The states of SLS files, or without names those of the top file. */
function statesCall(mods: Value, kwargs: ValueMap, context: JobContext): InsideCall {
  if (!truthy(mods)) return stateCall("state.highstate", [], kwargs, context);
  return stateCall("state.sls", [mods], new Map([...map({ saltenv: "base" }), ...kwargs]), context);
}

/** A function that runs states there. */
function applying(doc: string): ModuleFunction<JobContext> {
  return fn({
    ...SHARED,
    doc,
    params: { name: p.str(), mods: p.any(null) },
    run: ({ name, mods }, context, { kwargs }) =>
      changing(context, () => called(name, statesCall(mods, kwargs, context), context)),
  });
}

export const apply_: ModuleFunction<JobContext> = applying(
  describe(
    `Run states in a container that runs: those of SLS files, or without names those that the top file gives to this minion. ${STATES}`,
    "docker.apply web01",
    "docker.apply web01 test,pkgs",
  ),
);

export const sls: ModuleFunction<JobContext> = applying(
  describe(
    `Run the states of SLS files in a container that runs. ${ABOUT} ${STATES}`,
    "docker.sls compassionate_mirzakhani mods=rails,web",
  ),
);

export const highstate: ModuleFunction<JobContext> = fn({
  ...SHARED,
  doc: describe(
    `Run the states that the top file gives to this minion in a container that runs. ${STATES}`,
    "docker.highstate compassionate_mirzakhani",
  ),
  params: { name: p.str(), saltenv: p.any("base") },
  run: ({ name, saltenv }, context, { kwargs }) =>
    changing(
      context,
      () => called(name, statesCall(null, new Map([...kwargs, ...map({ saltenv })]), context), context),
    ),
});

/** Arguments of a container that states are run in: it does nothing else. */
const WAITING = { cmd: "sleep infinity", interactive: true, tty: true };

export const sls_build: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make an image by the states of SLS files, in a container of the image base, which is removed afterwards. dryrun=True makes no\n" +
      "image, and returns the states' results. Other arguments are those of docker.create. If a state fails, there is no image. Return\n" +
      `its Id and Time_Elapsed. ${ABOUT}`,
    "docker.sls_build imgname base=mybase mods=rails,web",
  ),
  permissions: "all",
  params: {
    repository: p.str(),
    tag: p.str("latest"),
    base: p.str("opensuse/python"),
    mods: p.any(null),
    dryrun: p.bool(false),
  },
  varKwargs: "kwargs",
  watchedKeywords: [...CONTAINER_KEYWORDS, "networks", ...STATE_KEYWORDS],
  async run({ repository, tag, base, mods, dryrun }, context, { kwargs }) {
    const given = [...ownKeywords(kwargs)];
    const ofStates = new Map(given.filter(([key]) => STATE_KEYWORDS.includes(str(key))));
    const ofContainer = new Map(given.filter(([key]) => !STATE_KEYWORDS.includes(str(key))));
    for (const key of ["image", "name"]) ofContainer.delete(key);
    const args = new Map([...ofContainer, ...map(WAITING)]);
    const made = mapOrEmpty(await context.call("docker.create", [base], args));
    const id = str(made.get("Id") ?? "");
    try {
      await context.call("docker.start", [id]);
      const { return: results, retcode } = await callInContainer(id, statesCall(mods, ofStates, context), context);
      if (dryrun) {
        context.setRetcode(retcode);
        return results;
      }
      if (retcode !== 0) {
        const details = map({ return: results });
        throw new DetailedError(`The states for ${repository}:${tag} have failed`, details);
      }
      return await context.call("docker.commit", [id, repository], map({ tag }));
    } finally {
      const engine = await lastingEngine(context);
      await changing(context, () => removeContainer(engine, id, { force: true }));
    }
  },
});
