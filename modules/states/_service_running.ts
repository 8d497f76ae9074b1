/**
 * `service.running` and `service.dead`, and what they do when a state that they watch has changed something.
 * Source: Salt 3008.3 `salt/states/service.py`.
 * @module
 */

import { failureText, hasFunction } from "./_execution.ts";
import { disableService, enableService, lookUpService, maskService, type ResultParts } from "./_service_boot.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, startResult, type StateResult } from "#lib/plugins/state_module.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The arguments of both states, as they are given. */
export interface ServiceArguments {
  readonly name: string;
  readonly enable: Value;
  readonly sig: Value;
  /** Seconds to wait after a start or stop. */
  readonly init_delay: number | null;
}

/** Arguments that only systemd's functions have. */
const SYSTEMD_ONLY = ["no_block", "unmask", "unmask_runtime"];

/** The arguments of systemd that a function has, and a warning for each that this host has no systemd for. */
async function systemdKeywords(
  fun: string,
  kwargs: ValueMap,
  context: StateContext,
): Promise<{ readonly own: ValueMap; readonly warnings: readonly string[] }> {
  const declared = Object.keys((await context.catalogue.get(fun))?.params ?? {});
  const given = SYSTEMD_ONLY.filter((key) => kwargs.has(key) && declared.includes(key));
  if (context.grains.get("init") !== "systemd") {
    return { own: new Map(), warnings: given.map((key) => `The '${key}' argument is not supported by this platform`) };
  }
  return { own: new Map(given.map((key) => [key, kwargs.get(key) ?? null])), warnings: [] };
}

/** The data that both states need first. */
interface Beginning {
  readonly result: StateResult;
  readonly enable: Value;
  /** Whether nothing more has to be done. */
  readonly isDone: boolean;
}

async function begin(
  state: "running" | "dead",
  { name, enable }: ServiceArguments,
  kwargs: ValueMap,
  context: StateContext,
): Promise<Beginning> {
  const wanted = typeof enable === "string" ? isTrue(enable) : enable;
  const done = (parts: ResultParts): Beginning => ({
    result: { ...startResult(name), ...parts },
    enable: wanted,
    isDone: true,
  });
  if (kwargs.has("enabled")) {
    const comment = `Service ${name} uses non-existent option "enabled".  Perhaps "enable" option was intended?`;
    return done({ result: false, comment });
  }
  if (await hasFunction("service.offline", context) && truthy(await context.call("service.offline"))) {
    return done({ comment: "Running in OFFLINE mode. Nothing to do" });
  }
  const { missing, error } = await lookUpService(name, context);
  if (error !== undefined) return done(error);
  if (missing !== undefined) {
    if (context.test) {
      const would = state === "running" ? "started" : "stopped";
      const comment = `Service ${name} not present; if created in this state run, it would have been ${would}`;
      return done({ result: null, comment });
    }
    // A missing service counts as dead.
    return done(state === "dead" ? { ...missing, result: true } : missing);
  }
  return { result: startResult(name), enable: wanted, isDone: false };
}

/** One of the states on a service that is there. */
class ServiceRun {
  readonly warnings: string[] = [];
  readonly #statusKeywords: ValueMap;

  private constructor(
    readonly args: ServiceArguments,
    readonly kwargs: ValueMap,
    readonly context: StateContext,
    status: { readonly own: ValueMap; readonly warnings: readonly string[] },
  ) {
    this.#statusKeywords = status.own;
    this.#warn(status.warnings);
  }

  static async of(args: ServiceArguments, kwargs: ValueMap, context: StateContext): Promise<ServiceRun> {
    return new ServiceRun(args, kwargs, context, await systemdKeywords("service.status", kwargs, context));
  }

  #warn(warnings: readonly string[]): void {
    this.warnings.push(...warnings.filter((one) => !this.warnings.includes(one)));
  }

  /** Whether it runs; of several a map. */
  status(sig: Value = this.args.sig): Promise<Value> {
    return this.context.call("service.status", [this.args.name, sig], this.#statusKeywords);
  }

  /** Whether it is enabled; `true` if this is unknown. */
  async isEnabled(): Promise<boolean> {
    if (!await hasFunction("service.enabled", this.context)) return true;
    return truthy(await this.context.call("service.enabled", [this.args.name]));
  }

  /** Calls a function with the arguments of systemd that it has. */
  async act(fun: string): Promise<Value> {
    const { own, warnings } = await systemdKeywords(fun, this.kwargs, this.context);
    this.#warn(warnings);
    return await this.context.call(fun, [this.args.name], own);
  }

  /** Enables or disables it, if the state requests it. */
  async setBoot(enable: Value, started: boolean | null, result?: boolean): Promise<ResultParts> {
    const { name } = this.args;
    if (enable === true) return await enableService(name, { started, result }, this.kwargs, this.context);
    if (enable === false) return await disableService(name, { started, result }, this.kwargs, this.context);
    return {};
  }

  async wait(): Promise<void> {
    if (this.args.init_delay) await sleep(this.args.init_delay * 1000, this.context.signal);
  }

  done(result: StateResult, ...parts: readonly ResultParts[]): StateResult {
    const all: StateResult = Object.assign({ ...result }, ...parts);
    return this.warnings.length > 0 ? { ...all, warnings: this.warnings } : all;
  }
}

/** Runs `service.running`. */
export async function runRunning(
  args: ServiceArguments,
  kwargs: ValueMap,
  context: StateContext,
): Promise<StateResult> {
  const { name, init_delay } = args;
  const { result, enable, isDone } = await begin("running", args, kwargs, context);
  if (isDone) return result;
  const run = await ServiceRun.of(args, kwargs, context);
  const [before, enabledBefore] = [await run.status(), await run.isEnabled()];
  const unmasks = truthy(kwargs.get("unmask") ?? false);
  const runtime = truthy(kwargs.get("unmask_runtime") ?? false);
  const unmasked = unmasks
    ? str((await maskService(name, { wanted: false, runtime }, context)).comment.toString())
    : "";
  const withUnmasked = (comment: string) => [comment, unmasked].filter((line) => line !== "").join("\n");
  if (truthy(before)) {
    const comment = withUnmasked(`The service ${name} is already running`);
    const needsChange = (enable === true && !enabledBefore) || (enable === false && enabledBefore);
    return run.done(result, { comment }, needsChange ? await run.setBoot(enable, null) : {});
  }
  if (context.test) return run.done(result, { result: null, comment: withUnmasked(`Service ${name} is set to start`) });
  let started: Value;
  try {
    started = await run.act("service.start");
  } catch (error) {
    return run.done(result, { result: false, comment: failureText(error) });
  }
  if (!truthy(started)) {
    const parts = { result: false, comment: `Service ${name} failed to start` };
    return run.done(result, parts, await run.setBoot(enable, false, false));
  }
  await run.wait();
  const [after, enabledAfter] = [await run.status(), await run.isEnabled()];
  const changed = enabledBefore !== enabledAfter || truthy(before) !== truthy(after);
  const runs = truthy(after);
  const parts: ResultParts = {
    result: runs,
    comment: runs ? `Started service ${name}` : `Service ${name} failed to start`,
    ...changed && { changes: map({ [name]: after }) },
  };
  const all = run.done(result, parts, await run.setBoot(enable, runs, runs));
  const delayed = init_delay ? `\nDelayed return for ${init_delay} seconds` : "";
  return { ...all, comment: `${all.comment.toString()}${delayed}${unmasks ? `\n${unmasked}` : ""}` };
}

/** Runs `service.dead`. */
export async function runDead(args: ServiceArguments, kwargs: ValueMap, context: StateContext): Promise<StateResult> {
  const { name } = args;
  const { result, enable, isDone } = await begin("dead", args, kwargs, context);
  if (isDone) return result;
  const run = await ServiceRun.of(args, kwargs, context);
  const [before, enabledBefore] = [await run.status(), await run.isEnabled()];
  if (!truthy(before)) {
    const needsChange = (enable === true && !enabledBefore) || (enable === false && enabledBefore);
    const parts = { comment: `The service ${name} is already dead` };
    return run.done(result, parts, needsChange ? await run.setBoot(enable, null) : {});
  }
  if (context.test) return run.done(result, { result: null, comment: `Service ${name} is set to be killed` });
  if (!truthy(await run.act("service.stop"))) {
    const parts = { result: false, comment: `Service ${name} failed to die` };
    return run.done(result, parts, await run.setBoot(enable, true, false));
  }
  await run.wait();
  const [after, enabledAfter] = [await run.status(null), await run.isEnabled()];
  const runs = truthy(after);
  const changed = enabledBefore !== enabledAfter || !runs;
  const parts: ResultParts = {
    result: !runs,
    comment: runs ? `Service ${name} failed to die` : `Service ${name} was killed`,
    ...changed && { changes: map({ [name]: after }) },
  };
  return run.done(result, parts, await run.setBoot(enable, runs, !runs));
}

/** The arguments of `mod_watch`. */
export interface WatchArguments {
  readonly name: string;
  /** The state's function. */
  readonly sfun: string | null;
  readonly sig: Value;
  readonly reload: boolean;
  readonly full_restart: boolean;
  readonly init_delay: number | null;
  readonly force: boolean;
}

/** Restarts, reloads, starts or stops a service because a watched state has changed something. */
export async function runWatch(args: WatchArguments, kwargs: ValueMap, context: StateContext): Promise<StateResult> {
  const { name, sfun } = args;
  const run = await ServiceRun.of({ ...args, enable: null }, kwargs, context);
  const result = startResult(name);
  if (sfun !== "dead" && sfun !== "running") {
    return run.done(failState(name, `Unable to trigger watch for service.${sfun ?? "None"}`));
  }
  const isRunning = truthy(await run.status());
  if (sfun === "dead" && !isRunning) return run.done(result, { comment: "Service is already stopped" });
  const [fun, verb] = sfun === "dead"
    ? ["service.stop", "stop"]
    : isRunning
    ? await restarting(args, context)
    : ["service.start", "start"];
  const past = verb === "stop" ? "stopped" : `${verb}ed`;
  if (context.test) return run.done(result, { result: null, comment: `Service is set to be ${past}` });
  if (verb === "start" && await hasFunction("service.stop", context)) await context.call("service.stop", [name]);
  let outcome: Value;
  try {
    outcome = await run.act(fun);
  } catch (error) {
    return run.done(result, { result: false, comment: failureText(error) });
  }
  await run.wait();
  const isDone = truthy(outcome);
  return run.done(result, {
    result: isDone,
    changes: map({ [name]: outcome }),
    comment: isDone ? `Service ${past}` : `Failed to ${verb} the service`,
  });
}

/** The function that applies changes to a running service, and its verb. */
async function restarting(
  { reload, force, full_restart }: WatchArguments,
  context: StateContext,
): Promise<readonly [fun: string, verb: string]> {
  if (reload && await hasFunction("service.reload", context)) {
    return force && await hasFunction("service.force_reload", context)
      ? ["service.force_reload", "forcefully reload"]
      : ["service.reload", "reload"];
  }
  return full_restart && await hasFunction("service.full_restart", context)
    ? ["service.full_restart", "fully restart"]
    : ["service.restart", "restart"];
}
