/**
 * State module `supervisord`: processes and groups of Supervisor.
 * Source: Salt 3006.28 `salt/states/supervisord.py`, which Salt 3008 has no longer.
 * @module
 */

import { hasFunction } from "./_execution.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str } from "#lib/values/value.ts";

/** Errors that say that it is done already. */
const HARMLESS = ["already started", "not running", "process group already active"];

/** Whether an answer of supervisorctl is a failure. */
function isFailure(answer: string): boolean {
  return answer.includes("ERROR") && !HARMLESS.some((text) => answer.includes(text));
}

const STOPPED = ["STOPPED", "STOPPING", "EXITED", "FATAL", "BACKOFF"];

const PLACE = { user: p.str(null), conf_file: p.str(null), bin_env: p.str(null) };
type Place = Readonly<Record<keyof typeof PLACE, string | null>>;

const PLACE_DOC =
  "\n\nuser\n    The user who runs supervisorctl.\n\nconf_file\n    The configuration file.\n\nbin_env\n    The path of supervisorctl, or of " +
  "a virtual environment with it.";

async function control(fun: string, name: string | null, place: Place, context: StateContext): Promise<string> {
  return str(await context.call(`supervisord.${fun}`, name === null ? [] : [name], map({ ...place })));
}

/** The processes that a name means, with their state; `kind` is undefined if there is none. */
interface Meant {
  readonly kind: "group" | "service" | undefined;
  readonly states: ReadonlyMap<string, string>;
}

async function find(name: string, place: Place, context: StateContext): Promise<Meant> {
  const all = mapOrEmpty(await context.call("supervisord.status", [], map({ ...place })));
  const stateOf = (process: string) => str(mapOrEmpty(all.get(process)).get("state") ?? "");
  const names = [...all.keys()].map(str);
  // A group is the part of its processes' names up to the colon.
  const group = names.filter((process) => process.slice(0, process.indexOf(":") + 1) === name && name !== "");
  const meant = group.length > 0 ? group : names.filter((process) => process === name);
  const kind = group.length > 0 ? "group" : meant.length > 0 ? "service" : undefined;
  return { kind, states: new Map(meant.map((process) => [process, stateOf(process)])) };
}

function isAnyStopped({ states }: Meant): boolean {
  return [...states.values()].some((state) => STOPPED.includes(state));
}

/** The result of test mode. */
function planned(name: string, { kind, states }: Meant): StateResult {
  const isGroup = name.endsWith(":");
  if (kind === undefined) {
    return {
      ...startResult(name, null),
      comment: `${isGroup ? `Group '${name}'` : `Service ${name}`} will be added and started`,
    };
  }
  const idle = [...states].filter(([, state]) => state.toLowerCase() !== "running").map(([process]) => process);
  if (idle.length === 0) {
    const comment = isGroup
      ? `All services in group '${name}' are already running`
      : `Service ${name} is already running`;
    return { ...startResult(name), comment };
  }
  const comment = !isGroup
    ? `Service ${name} will be started`
    : idle.length === states.size
    ? `All services in group '${name}' will be started`
    : `The following services will be started: ${idle.join(" ")}`;
  return { ...startResult(name, null), comment };
}

/** The arguments of `running`. */
interface Wanted extends Place {
  readonly name: string;
  readonly restart: boolean;
  readonly update: boolean;
}

async function run(given: Wanted, context: StateContext): Promise<StateResult> {
  const { restart, update, user, conf_file, bin_env } = given;
  const place = { user, conf_file, bin_env };
  const name = given.name.endsWith(":*") ? given.name.slice(0, -1) : given.name;
  if (!await hasFunction("supervisord.status", context)) {
    return failState(name, "Supervisord module not activated. Do you need to install supervisord?");
  }
  const meant = await find(name, place, context);
  if (context.test) return planned(name, meant);
  const done: string[] = [];
  let failure: string | undefined;
  let comment = "";
  /** Runs a step; its comment is the state's unless a later step has one. */
  const step = async (fun: string, target: string | null, text: string, isChange = true): Promise<string> => {
    const answer = await control(fun, target, place, context);
    comment = text;
    if (isFailure(answer)) failure = comment = answer;
    if (isChange) done.push(text);
    return answer;
  };
  let isUpdated = false;
  if (update) {
    const answer = await step("update", null, "Updating supervisor", false);
    isUpdated = answer.includes(`${name}: updated`);
    if (isUpdated) done.push("Updating supervisor");
  } else if (meant.kind === undefined) {
    await control("reread", null, place, context);
    await step("add", name, `Adding service: ${name}`);
  }
  const kind = meant.kind === undefined ? "" : ` ${meant.kind}`;
  if (meant.kind !== undefined && !isAnyStopped(meant)) {
    if (restart && !isUpdated) await step("restart", name, `Restarting${kind}: ${name}`);
    else if (failure === undefined) {
      comment = `Not starting ${isUpdated ? "updated" : "already running"}${kind}: ${name}`;
    }
  } else if (!isUpdated) {
    await step("start", name, `Starting${kind}: ${name}`);
  }
  if (failure !== undefined) return failState(name, failure);
  return { ...startResult(name), comment, changes: done.length > 0 ? map({ [name]: done.join(" ") }) : new Map() };
}

const RUNNING_DOC =
  "\n\nname\n    The process, or a group with a colon.\n\nrestart\n    Whether a running one is restarted.\n\nupdate\n    Whether the " +
  `configuration is read again, and what has changed is restarted.${PLACE_DOC}`;

export const running: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a process or a group is running.${RUNNING_DOC}`,
  params: { name: p.str(), restart: p.bool(false), update: p.bool(false), ...PLACE },
  varKwargs: "kwargs",
  run: (given, context) => run(given, context),
});

export const mod_watch: ModuleFunction<StateContext> = stateFn({
  doc: `Called when a watched state has changes: restarts the process or the group.${RUNNING_DOC}`,
  params: { name: p.str(), restart: p.bool(true), update: p.bool(false), ...PLACE },
  varKwargs: "kwargs",
  run: (given, context) => run(given, context),
});

export const dead: ModuleFunction<StateContext> = stateFn({
  doc:
    `Make sure that a process or a group is not running.\n\nname\n    The process, or a group with a colon.${PLACE_DOC}`,
  params: { name: p.str(), ...PLACE },
  varKwargs: "kwargs",
  run: async ({ name, ...place }, context): Promise<StateResult> => {
    const meant = await find(name, place, context);
    if (meant.kind === undefined) return { ...startResult(name), comment: `Service ${name} doesn't exist` };
    const isDead = [...meant.states.values()].every((state) => STOPPED.includes(state));
    if (isDead) return { ...startResult(name), comment: `Service ${name} is not running` };
    const text = `Stopping service: ${name}`;
    const changes = map({ [name]: text });
    if (context.test) return { ...startResult(name, null), comment: `Service ${name} is set to be stopped`, changes };
    const answer = await control("stop", name, place, context);
    return isFailure(answer) ? failState(name, answer) : { ...startResult(name), comment: text, changes };
  },
});
