/**
 * The functions of `chroot` that run functions and states in another root directory.
 * Source: Salt 3008.3 `salt/modules/chroot.py` call, apply, sls, highstate.
 * @module
 */

import { callInside } from "./inside.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { toWireArgs } from "#lib/yaml/arguments.ts";

/** The keywords that are of the job, not of the function. */
function ownKeywords(kwargs: ValueMap): ValueMap {
  return new Map([...kwargs].filter(([name]) => !str(name).startsWith("__")));
}

export const call: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run a function of Salt in another root directory. This minion's executable is copied into it meanwhile: nothing else is needed\n" +
      "there but the C library and a shell, no Python. As by `cmd.run_chroot`, /dev, /proc and /sys are mounted.",
    "chroot.call /chroot test.ping",
    "chroot.call /chroot ssh.set_auth_key user key=mykey",
  ),
  permissions: "all",
  params: { root: p.str(), function: p.str() },
  varArgs: "args",
  varKwargs: "kwargs",
  run: ({ root, function: fun }, context, { args, kwargs }) =>
    callInside({ root, fun, arg: toWireArgs(args, ownKeywords(kwargs)), pillar: new Map(), syncs: false }, context),
});

/** Runs a function of `state` there, with this minion's pillar and the files of its master. */
async function runStates(
  root: string,
  { fun, args, kwargs }: { readonly fun: string; readonly args: Value[]; readonly kwargs: ValueMap },
  context: JobContext,
): Promise<Value> {
  const given = ownKeywords(kwargs);
  const pillar = new Map([...context.pillar, ...mapOrEmpty(given.get("pillar"))]);
  for (const name of ["pillar", "pillarenv", "extra_filerefs"]) given.delete(name);
  return await callInside({ root, fun, arg: toWireArgs(args, given), pillar, syncs: true }, context);
}

const ARGUMENTS = `root
    The directory.

pillar
    Values that win over those of this minion's pillar, which the states have.`;

const FILES = "The states are rendered there: grains are those of the directory, besides those that are set by hand.";

const SHARED = {
  permissions: "all",
  varKwargs: "kwargs",
  keywords: ["pillar", "pillarenv", "extra_filerefs"],
  outputter: "highstate",
} as const;

export const sls: ModuleFunction<JobContext> = fn({
  ...SHARED,
  doc: describe(
    `Run the states of SLS files in another root directory. ${FILES}\n\n${ARGUMENTS}`,
    `chroot.sls /chroot stuff pillar='{"foo": "bar"}'`,
  ),
  params: { root: p.str(), mods: p.any(), saltenv: p.str("base"), test: p.any(null), exclude: p.any(null) },
  run: ({ root, mods, saltenv, test, exclude }, context, { kwargs }) => {
    const more = exclude === null ? kwargs : new Map(kwargs).set("exclude", exclude);
    return runStates(
      root,
      { fun: "state.sls", args: [mods], kwargs: new Map([...more, ...map({ saltenv, test })]) },
      context,
    );
  },
});

export const highstate: ModuleFunction<JobContext> = fn({
  ...SHARED,
  doc: describe(
    `Run the states that the top file gives to this minion in another root directory. ${FILES}\n\n${ARGUMENTS}`,
    "chroot.highstate /chroot",
    `chroot.highstate /chroot pillar='{"foo": "bar"}'`,
  ),
  keywords: [...SHARED.keywords, "saltenv", "test", "exclude"],
  params: { root: p.str() },
  run: ({ root }, context, { kwargs }) => runStates(root, { fun: "state.highstate", args: [], kwargs }, context),
});

export const apply_: ModuleFunction<JobContext> = fn({
  ...SHARED,
  doc: describe(
    "Run states in another root directory: `chroot.sls` with names, else `chroot.highstate`.",
    "chroot.apply /chroot",
    "chroot.apply /chroot stuff",
    `chroot.apply /chroot stuff pillar='{"foo": "bar"}'`,
  ),
  keywords: [...SHARED.keywords, "saltenv", "test", "exclude"],
  params: { root: p.str(), mods: p.any(null) },
  run: ({ root, mods }, context, { kwargs }) =>
    context.call(
      mods === null || mods === "" ? "chroot.highstate" : "chroot.sls",
      mods === null || mods === "" ? [root] : [root, mods],
      ownKeywords(kwargs),
    ),
});
