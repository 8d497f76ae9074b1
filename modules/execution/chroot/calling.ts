/**
 * The functions of `chroot` that run functions and states in another root directory.
 * Source: Salt 3008.3 `salt/modules/chroot.py` call, apply, sls, highstate.
 * @module
 */

import { callInside } from "./inside.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { functionCall, STATE_CALL_KEYWORDS, stateCall } from "#lib/ssh/inside_call.ts";
import { map } from "#lib/values/value.ts";

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
    callInside(root, functionCall(fun, args, kwargs), context),
});

const ARGUMENTS = `root
    The directory.

pillar
    Values that win over those of this minion's pillar, which the states have.`;

const FILES = "The states are rendered there: grains are those of the directory, besides those that are set by hand.";

const SHARED = {
  permissions: "all",
  varKwargs: "kwargs",
  keywords: STATE_CALL_KEYWORDS,
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
    const given = new Map([...more, ...map({ saltenv, test })]);
    return callInside(root, stateCall("state.sls", [mods], given, context), context);
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
  run: ({ root }, context, { kwargs }) => callInside(root, stateCall("state.highstate", [], kwargs, context), context),
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
