/**
 * State `docker_container.run`: a container is made and run each time.
 * Source: Salt 3006.28 `salt/states/docker_container.py`, which Salt 3008 has no longer.
 * @module
 */

import { CONTAINER_KEYWORDS, LOG_ARGUMENTS } from "#lib/host/docker/argument_names.ts";
import { CLIENT_TIMEOUT_S } from "#lib/host/docker/engine.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { CONTAINER_DOC } from "./documentation.ts";
import { ContainerWork, dockerFailure, parseNetworks, resolveImage } from "./work.ts";

const UNSUPPORTED = ["watch_action", "start", "shutdown_timeout", "follow"];

/** How a run is judged, and what is left of it. */
interface RunOptions {
  readonly bg: boolean;
  readonly failhard: boolean;
  readonly ignore_collisions: boolean;
}

/**
 * Takes `auto_remove` and `rm`: the state removes the container itself, after it has read what came of it.
 * @returns Whether it does; a text: why the arguments are wrong.
 */
function takeRemoval(args: ValueMap, { bg, ignore_collisions }: RunOptions): boolean | string {
  if (bg) return false;
  const given = ["auto_remove", "rm"].filter((name) => args.has(name)).map((name) => {
    const value = truthy(args.get(name));
    args.delete(name);
    return value;
  });
  if (given.length > 1 && !ignore_collisions) return "'rm' is an alias for 'auto_remove', they cannot both be used";
  if (given.length > 0) args.set("auto_remove", false);
  return given[0] ?? false;
}

/** The result of a run. */
function judged(work: ContainerWork, outcome: ValueMap, { bg, failhard }: RunOptions): StateResult {
  for (const [key, value] of outcome) work.changes.set(key, value);
  if (bg) return work.end(true, "Container was run in the background");
  const code = outcome.get("ExitCode");
  if (code === undefined) return work.end(true);
  return work.end(!failhard || toNumber(code) === 0, `Container ran and exited with a return code of ${str(code)}`);
}

async function remove(work: ContainerWork, id: Value): Promise<void> {
  try {
    await work.call("rm", [id]);
  } catch (error) {
    work.warnings.push(`Failed to auto_remove container: ${dockerFailure(error)}`);
  }
}

export const run: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make a container and run it, each time that the state runs.\n\nname\n    The container.\n\nimage\n    Its image, which is pulled if it is " +
    "not there.\n\nbg\n    Whether the state does not wait for its end.\n\nfailhard\n    Whether a return code that is not 0 is a failure." +
    "\n\nreplace\n    Whether a container of that name is removed before.\n\nforce\n    Whether that is done even if it runs.\n\nnetworks\n    " +
    `The networks that it is in.${CONTAINER_DOC}`,
  params: {
    name: p.str(),
    image: p.any(null),
    bg: p.bool(false),
    failhard: p.bool(true),
    replace: p.bool(false),
    force: p.bool(false),
    skip_translate: p.any(null),
    ignore_collisions: p.bool(false),
    validate_ip_addrs: p.bool(true),
    client_timeout: p.any(CLIENT_TIMEOUT_S),
  },
  varKwargs: "kwargs",
  keywords: [...CONTAINER_KEYWORDS, ...LOG_ARGUMENTS, ...UNSUPPORTED, "networks"],
  async run({ name, image, failhard, ...options }, context, { kwargs }) {
    const work = new ContainerWork(name, context);
    const args = ownKeywords(kwargs);
    const wrong = UNSUPPORTED.find((argument) => args.has(argument));
    if (wrong !== undefined) return failState(name, `The '${wrong}' argument is not supported`);
    if (image === null) return failState(name, "The 'image' argument is required");
    try {
      const networks = args.get("networks") ?? null;
      if (networks !== null) args.set("networks", await parseNetworks(networks, work));
      await resolveImage(str(image), options.client_timeout, work);
    } catch (error) {
      return work.failed(error);
    }
    if (context.test) return work.end(null, `Container would be run${options.bg ? " in the background" : ""}`);
    const how = { ...options, failhard };
    const removes = takeRemoval(args, how);
    if (typeof removes === "string") return failState(name, removes);
    let outcome: ValueMap;
    try {
      const kwargs = new Map([...args, ...map({ ...options, name })]);
      outcome = mapOrEmpty(await work.call("run_container", [str(image)], kwargs));
    } catch (error) {
      return work.end(false, `Encountered error running container: ${dockerFailure(error)}`);
    }
    if (removes) await remove(work, outcome.get("Id") ?? null);
    work.changes.clear();
    return judged(work, outcome, how);
  },
});
