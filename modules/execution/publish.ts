/**
 * Execution module `publish`: lets the master publish jobs of this minion to other minions, if the master's option
 * `peer` allows it, and run runners, if `peer_run` allows it. Source: Salt 3008.3 `salt/modules/publish.py`.
 * @module
 */

import { InvocationError, NoMasterError, RequestTimeoutError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { sleep } from "#lib/os/sleep.ts";
import { asList, mapOrEmpty } from "#lib/values/shape.ts";
import { yamlifyArg } from "#lib/yaml/arguments.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";

/** Time between two requests for returns, in milliseconds. */
const LOOK_MS = 300;

const PARAMS = {
  tgt: p.any(),
  fun: p.str(),
  arg: p.any(null),
  tgt_type: p.str("glob"),
  returner: p.str(""),
  timeout: p.float(5),
} as const;

interface Publication {
  readonly tgt: Value;
  readonly fun: string;
  readonly arg: Value;
  readonly tgt_type: string;
  readonly returner: string;
  /** In seconds. */
  readonly timeout: number;
}

export const publish: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run a function on other minions, and return their results by minion. The master must allow it: see its option\n" +
      "`peer`. `arg` is one argument or a list; strings are parsed as on a command line, including `name=value`. `timeout` is in\n" +
      "seconds; minions that have not returned by then are left out. `via_master` names the master to ask.",
    "publish.publish '*' cmd.run 'ls -la /tmp'",
    `publish.publish '*' test.kwarg arg="['cheese=spam','spam=cheese']"`,
  ),
  params: { ...PARAMS, via_master: p.str(null) },
  run: async ({ via_master, ...wanted }, context) => {
    const { master } = context.opts;
    if (via_master !== null && via_master !== master) {
      throw new InvocationError(
        `Could not find match for ${via_master} in list of configured masters [${master}] when using \`via_master\` option`,
      );
    }
    const returns = await publication(wanted, context, "clean");
    if (!isMap(returns)) return returns;
    return new Map([...returns].map(([id, given]) => [id, isMap(given) ? given.get("ret") ?? null : null]));
  },
});

export const full_data: ModuleFunction<JobContext> = fn({
  doc: describe(
    "As `publish.publish`, but with all data of each return: `ret`, and `out` if the function names an outputter.",
    "publish.full_data '*' cmd.run 'ls -la /tmp'",
  ),
  params: PARAMS,
  run: (wanted, context) => publication(wanted, context, "full"),
});

export const runner: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run a runner on the master, and return its result. The master must allow it: see its option `peer_run`.",
    "publish.runner manage.down",
  ),
  params: { fun: p.str(), arg: p.any(null), timeout: p.float(5) },
  run: async ({ fun, arg, timeout }, context) => {
    const load = map({
      cmd: "minion_runner",
      fun,
      arg: argumentList(arg),
      tmo: timeout,
      id: context.opts.id,
      no_parse: [],
    });
    try {
      return await context.outside.request(load);
    } catch (error) {
      if (error instanceof NoMasterError) return "No access to master. If using salt-call with --local, please remove.";
      if (error instanceof RequestTimeoutError) return `'${fun}' runner publish timed out`;
      throw error;
    }
  },
});

/** `{ret, out}` by minion, or a text that says what went wrong. */
async function publication(wanted: Publication, context: JobContext, form: string): Promise<Value> {
  const { tgt, fun, arg, tgt_type, returner: ret, timeout } = wanted;
  const { outside, opts: { id }, signal, log } = context;
  if (fun.startsWith("publish.")) {
    log("info", "Cannot publish publish calls. Returning {}");
    return new Map();
  }
  const load = {
    cmd: "minion_pub",
    fun,
    arg: argumentList(arg),
    tgt,
    tgt_type,
    ret,
    tmo: timeout,
    form,
    id,
    no_parse: [],
  };
  try {
    const published = await outside.request(map(load));
    if (!isMap(published) || typeof published.get("jid") !== "string") return new Map();
    const minions = published.get("minions");
    const expected = Array.isArray(minions) ? minions.length : 0;
    const until = performance.now() + timeout * 1000;
    for (;;) {
      const answer = await outside.request(map({ cmd: "pub_ret", id, jid: published.get("jid") }));
      const returns = mapOrEmpty(answer);
      if (returns.size >= expected || performance.now() >= until) return returns;
      await sleep(LOOK_MS, signal);
    }
  } catch (error) {
    if (error instanceof RequestTimeoutError) return `'${fun}' publish timed out`;
    if (!(error instanceof NoMasterError)) throw error;
    log("error", "Cannot run publish commands without a connection to a salt master. No command sent.");
    return new Map();
  }
}

/** The arguments as a list; a text is read as YAML first. */
function argumentList(arg: Value): Value[] {
  const read = typeof arg === "string" ? yamlifyArg(arg) : arg;
  if (read === null) return [];
  return asList(read);
}
