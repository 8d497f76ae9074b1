/**
 * State `docker_container.running`: a container runs and is as the SLS file says. One that differs is replaced.
 * Source: Salt 3006.28 `salt/states/docker_container.py`, which Salt 3008 has no longer.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { CONTAINER_KEYWORDS } from "#lib/host/docker/argument_names.ts";
import { CLIENT_TIMEOUT_S } from "#lib/host/docker/engine.ts";
import { DetailedError } from "#lib/host/docker/translate_input.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { mapOrEmpty, mapUnder } from "#lib/values/shape.ts";
import { compare, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { CONTAINER_DOC } from "./documentation.ts";
import { connectNew, noteAddresses, renewNetworks } from "./networking.ts";
import { ContainerWork, dockerFailure, parseNetworks, resolveImage } from "./work.ts";

/** What is wanted of a container. */
interface Wanted {
  readonly image: string;
  readonly skip_translate: Value;
  readonly ignore_collisions: boolean;
  readonly validate_ip_addrs: boolean;
  readonly force: boolean;
  readonly watch_action: Value;
  readonly start: boolean;
  readonly shutdown_timeout: Value;
  readonly client_timeout: Value;
  /** Whether the SLS file names networks, also none. */
  readonly hasNetworks: boolean;
  readonly networks: ValueMap;
  readonly sendsSignal: boolean;
  /** The arguments of the container. */
  readonly args: ValueMap;
}

/** What there is before. */
interface Existing {
  /** The id of the image of the container; `null`: there is no container. */
  readonly imageId: Value;
  /** Whether that container runs: running, stopped or paused. */
  readonly state: Value;
  /** The id of the wanted image. */
  readonly wantedId: Value;
  /** Whether it is replaced, or made, without a comparison. */
  readonly isReplaced: boolean;
}

/** A container that is made to be compared, or to be used. */
interface Made {
  readonly name: string;
  readonly id: Value;
}

async function look(work: ContainerWork, wanted: Wanted, wantedId: Value): Promise<Existing | StateResult> {
  let imageId: Value = null;
  try {
    const inspected = mapOrEmpty(await work.call("inspect_container", [work.name]));
    const found = inspected.get("Image");
    if (found === undefined) {
      const text =
        `Unable to detect current image for container '${work.name}'. This might be due to a change in the ` +
        "Docker API.";
      return work.end(false, text);
    }
    imageId = found;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
  }
  const state = imageId === null ? null : await work.call("state", [work.name]);
  return { imageId, state, wantedId, isReplaced: wanted.force || imageId === null || imageId !== wantedId };
}

async function make(work: ContainerWork, wanted: Wanted, isThere: boolean): Promise<Made | StateResult> {
  const { skip_translate, ignore_collisions, validate_ip_addrs, client_timeout, networks, args } = wanted;
  const kwargs = new Map([
    ...args,
    ...map({ skip_translate, ignore_collisions, validate_ip_addrs, client_timeout }),
    ...networks.size > 0 ? map({ networks }) : [],
    ...isThere ? [] : map({ name: work.name }),
  ]);
  try {
    const made = mapOrEmpty(await work.call("create", [wanted.image], kwargs));
    return { name: str(made.get("Name") ?? ""), id: made.get("Id") ?? null };
  } catch (error) {
    const isInvalid = error instanceof DetailedError && isMap(error.details) && error.details.has("invalid");
    const hint = isInvalid
      ? "\n\nIf you feel this information is incorrect, the skip_translate argument can be used to skip input translation for the " +
        "argument(s) identified as invalid. See the documentation for details."
      : "";
    return work.end(false, `${dockerFailure(error)}${hint}`);
  }
}

/** Puts the container that was made in the place of the other one. */
async function replace(work: ContainerWork, made: Made, { shutdown_timeout }: Wanted): Promise<boolean> {
  const options = { stop: true, ...shutdown_timeout !== null && { timeout: shutdown_timeout } };
  mapUnder(work.changes, "container_id").set("removed", await work.call("rm", [work.name], options));
  let isRenamed = false;
  try {
    isRenamed = truthy(await work.call("rename", [made.name, work.name]));
  } catch (error) {
    work.comments.push(`Failed to rename temp container: ${dockerFailure(error)}`);
  }
  work.comments.push(isRenamed ? `Replaced container '${work.name}'` : `Failed to replace container '${work.name}'`);
  return isRenamed;
}

/** Whether something that was empty is now None, as earlier versions of Salt left it. */
function areOddDifferences(differences: ValueMap): boolean {
  const items = [...differences.values()].flatMap((part) => [...mapOrEmpty(part).values()]).map(mapOrEmpty);
  return items.some((item) => {
    const old = item.get("old") ?? null;
    if (item.get("new") !== null) return false;
    return old === "" || (Array.isArray(old) && old.every((one) => one === "")) || (isMap(old) && old.size === 0);
  });
}

/** What is not compared: names of hosts, and from version 25 on addresses, which the engine makes up. */
async function ignoredItems(work: ContainerWork): Promise<string> {
  const version = mapOrEmpty(await work.call("version")).get("VersionInfo") ?? null;
  const isOld = Array.isArray(version) && compare([...version], [25, 0]) < 0;
  return isOld ? "Hostname" : "Hostname,MacAddress";
}

/** How a comparison ended. */
interface Compared {
  /** The state's result, if it is at its end. */
  readonly ends?: StateResult;
  /** Whether the container that was made is removed. */
  readonly removesMade: boolean;
}

/** Compares the container with the one that was made, and replaces it if it differs. */
async function compareAndReplace(work: ContainerWork, wanted: Wanted, made: Made): Promise<Compared> {
  const { name, context: { test } } = work;
  const ignore = await ignoredItems(work);
  const differences = mapOrEmpty(await work.call("compare_containers", [name, made.name], { ignore }));
  if (differences.size === 0) {
    const ends = wanted.sendsSignal ? await sendSignal(work, wanted) : undefined;
    if (!wanted.sendsSignal) work.comments.push(`Container '${name}' is already configured as specified`);
    return { removesMade: true, ...ends !== undefined && { ends } };
  }
  if (areOddDifferences(differences)) {
    work.warnings.push(
      `The detected changes may be due to incorrect handling of arguments in earlier Salt releases. If this warning persists after ` +
        `running the state again${
          test ? " without test=True" : ""
        }, and no changes were made to the SLS file, then please report this.`,
    );
  }
  for (const [key, one] of differences) mapUnder(work.changes, "container").set(key, one);
  if (test) {
    work.comments.push(`Container '${name}' would be replaced`);
    return { removesMade: true };
  }
  if (!await replace(work, made, wanted)) return { removesMade: false, ends: work.end(false) };
  mapUnder(work.changes, "container_id").set("added", made.id);
  return { removesMade: false };
}

/** Sends the signal of a watch; a result: it could not. */
async function sendSignal(work: ContainerWork, { watch_action }: Wanted): Promise<StateResult | undefined> {
  const word = str(watch_action);
  if (work.context.test) {
    work.comments.push(`Signal ${word} would be sent to container`);
    return undefined;
  }
  try {
    await work.call("signal", [work.name], { signal: watch_action });
  } catch (error) {
    return work.end(false, `Failed to signal container: ${dockerFailure(error)}`);
  }
  work.changes.set("signal", watch_action);
  work.comments.push(`Sent signal ${word} to container`);
  return undefined;
}

/** Connects the container that was made, and compares it with the one that is there, if there is one. */
async function compareAll(work: ContainerWork, wanted: Wanted, made: Made, existing: Existing): Promise<Compared> {
  const { name, context: { test } } = work;
  const isThere = existing.imageId !== null;
  const removesMade = !existing.isReplaced;
  const before = await work.call("inspect_container", [isThere ? name : made.name]);
  let after: ValueMap;
  try {
    after = await connectNew(work, made.name, wanted.networks, wanted.hasNetworks);
  } catch (error) {
    // Beside a container that stays, the other one would be left over by each run.
    return { removesMade: isThere, ends: work.end(false, dockerFailure(error)) };
  }
  const differences = mapOrEmpty(await work.call("compare_container_networks", [before, after]));
  const compared = existing.isReplaced ? { removesMade } : await compareAndReplace(work, wanted, made);
  if (compared.ends !== undefined || differences.size === 0) return compared;
  mapUnder(work.changes, "container").set("Networks", differences);
  if (test) work.comments.push("Network configuration would be updated");
  else if (compared.removesMade && !await renewNetworks(work, { networks: wanted.networks, differences })) {
    return { removesMade: true, ends: work.end(false) };
  }
  return compared;
}

/** Starts it; a result: that is the end. */
async function started(work: ContainerWork): Promise<Value | StateResult> {
  try {
    const done = mapOrEmpty(await work.call("start", [work.name]));
    return mapOrEmpty(done.get("state")).get("new") ?? null;
  } catch (error) {
    return work.end(false, `Failed to start container '${work.name}': '${dockerFailure(error)}'`);
  }
}

function isResult(value: Value | StateResult): value is StateResult {
  return typeof value === "object" && value !== null && "comment" in value;
}

/** What is left after the container is as wanted: it runs, and the changes say so. */
async function finish(
  work: ContainerWork,
  wanted: Wanted,
  existing: Existing,
  removesMade: boolean,
): Promise<StateResult> {
  const { name, context: { test } } = work;
  const isThere = existing.imageId !== null;
  const isNew = !removesMade && (!isThere || wanted.start);
  const needsStart = isNew || (wanted.start && removesMade && existing.state !== "running");
  const hasChanges = work.changes.size > 0;
  if (needsStart && test) return work.end(null, "Container would be started");
  const state = needsStart ? await started(work) : await work.call("state", [name]);
  if (isResult(state)) return state;
  if (!test && state === "running") await noteAddresses(work);
  if (existing.state !== state) {
    work.changes.set("state", map({ old: existing.state, new: state }));
    if (existing.state !== null) {
      work.comments.push(`State changed from '${str(existing.state)}' to '${str(state)}'`);
    }
  }
  if (isThere && existing.imageId !== existing.wantedId) {
    work.comments.push("Container has a new image");
    work.changes.set("image", map({ old: existing.imageId, new: existing.wantedId }));
  }
  if (state !== "running" && wanted.start) return work.end(false, "Container is not running");
  return work.end(test && hasChanges ? null : true);
}

/** Makes the container, compares it, and uses it or removes it. */
async function reach(work: ContainerWork, wanted: Wanted, existing: Existing): Promise<StateResult> {
  const isThere = existing.imageId !== null;
  const made = await make(work, wanted, isThere);
  if ("comment" in made) return made;
  let removesMade = !existing.isReplaced;
  try {
    const compared = await compareAll(work, wanted, made, existing);
    removesMade = compared.removesMade;
    if (compared.ends !== undefined) return compared.ends;
  } finally {
    if (removesMade) await work.call("rm", [made.name]);
  }
  if (existing.isReplaced) {
    if (!isThere) work.comments.push(`Created container '${work.name}'`);
    else if (!await replace(work, made, wanted)) return work.end(false);
    mapUnder(work.changes, "container_id").set("added", made.id);
  }
  return await finish(work, wanted, existing, removesMade);
}

/** What test mode says of a container that would be made or replaced without a comparison. */
function predicted(work: ContainerWork, { force }: Wanted, { imageId, wantedId }: Existing): StateResult {
  if (force) work.changes.set("forced_update", true);
  else if (imageId !== wantedId) work.changes.set("image", map({ old: imageId, new: wantedId }));
  return work.end(null, `Container '${work.name}' would be ${imageId === null ? "created" : "replaced"}`);
}

/** The parameters of the state. */
const RUNNING = {
  name: p.str(),
  image: p.any(null),
  skip_translate: p.any(null),
  ignore_collisions: p.bool(false),
  validate_ip_addrs: p.bool(true),
  force: p.bool(false),
  watch_action: p.any("force"),
  start: p.bool(true),
  shutdown_timeout: p.any(null),
  client_timeout: p.any(CLIENT_TIMEOUT_S),
  networks: p.any(null),
};

export const running: ModuleFunction<StateContext> = stateFn({
  doc:
    `Make sure that a container runs, of this image and with these arguments. One that differs is replaced.\n\nname\n    The container.\n\n` +
    "image\n    Its image, which is pulled if it is not there.\n\nforce\n    Whether it is replaced in any case.\n\nwatch_action\n    What a " +
    "watched change does: `force` replaces it, any other word is a signal that it gets.\n\nstart\n    Whether one that is stopped is " +
    "started.\n\nshutdown_timeout\n    Seconds that one which is replaced has to end.\n\nnetworks\n    The networks that it is in: a list of " +
    `names, or of maps of a name and its aliases, links, ipv4_address, ipv6_address.${CONTAINER_DOC}`,
  params: RUNNING,
  varKwargs: "kwargs",
  keywords: [...CONTAINER_KEYWORDS, "send_signal"],
  async run({ name, image, networks: given, ...options }, context, { kwargs }) {
    if (image === null) return failState(name, "The 'image' argument is required");
    const work = new ContainerWork(name, context);
    const args = ownKeywords(kwargs);
    const sendsSignal = truthy(args.get("send_signal"));
    args.delete("send_signal");
    let existing: Existing | StateResult;
    let wanted: Wanted;
    try {
      const networks = await parseNetworks(given, work);
      wanted = { ...options, image: str(image), networks, hasNetworks: given !== null, sendsSignal, args };
      existing = await look(work, wanted, await resolveImage(wanted.image, options.client_timeout, work));
    } catch (error) {
      return work.failed(error);
    }
    if ("comment" in existing) return existing;
    if (existing.isReplaced && context.test) return predicted(work, wanted, existing);
    return await reach(work, wanted, existing);
  },
});
