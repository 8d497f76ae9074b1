/**
 * What functions of `docker` ask the engine: containers, images, their names and states.
 * Source: Salt 3006.28 `salt/modules/dockermod.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { type DockerEngine, DockerError, enginePath } from "#lib/host/docker/engine.ts";
import { humanSize } from "#lib/host/docker/human_size.ts";
import { dumpJson } from "#lib/values/json.ts";
import { asList, listOrEmpty, mapOrEmpty, onlyStrings } from "#lib/values/shape.ts";
import { isAmong, isMap, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The zone's short name, as Python's `%Z` has it. */
function zoneName(time: Date): string {
  const parts = new Intl.DateTimeFormat("en-US", { timeZoneName: "short" }).formatToParts(time);
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
}

/** Seconds since 1970 as local time: `2026-01-31 12:00:00 UTC`. */
export function localTime(epoch: Value): string {
  const time = new Date((toNumber(epoch) ?? 0) * 1000);
  const two = (n: number) => String(n).padStart(2, "0");
  const date = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join("-");
  return `${date} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(":")} ${zoneName(time)}`;
}

/** A map of the engine without its id, with its time of creation for people. */
function withTimes(item: ValueMap): ValueMap {
  const shown = new Map(
    [...item].filter(([key]) => key !== "Id").map(([key, value]): [Value, Value] => [
      key === "Created" ? "Time_Created_Epoch" : key,
      value,
    ]),
  );
  const epoch = shown.get("Time_Created_Epoch");
  if (epoch !== undefined) shown.set("Time_Created_Local", localTime(epoch));
  return shown;
}

/** Adds sizes for people. */
export function withSizes(item: ValueMap, ...names: readonly string[]): ValueMap {
  for (const name of names) {
    const size = toNumber(item.get(name) ?? null);
    if (size !== undefined) item.set(`${name}_Human`, humanSize(size));
  }
  return item;
}

/** Filters in the engine's form: lists of texts, as JSON. */
export function filterQuery(filters: Value): string | undefined {
  if (!isMap(filters) || filters.size === 0) return undefined;
  const word = (value: Value) => typeof value === "boolean" ? String(value) : str(value);
  return dumpJson(new Map([...filters].map(([key, value]): [Value, Value] => [key, asList(value).map(word)])));
}

/** What the engine says about a container. */
export async function inspectContainer(engine: DockerEngine, name: string): Promise<ValueMap> {
  return mapOrEmpty(await engine.ask({ method: "GET", path: enginePath("containers", name, "json") }));
}

/** What the engine says about an image. */
export async function inspectImage(engine: DockerEngine, name: string): Promise<ValueMap> {
  const image = mapOrEmpty(await engine.ask({ method: "GET", path: enginePath("images", name, "json") }));
  return withSizes(image, "Size", "VirtualSize");
}

/** What the engine says about a network. */
export async function inspectNetwork(engine: DockerEngine, name: string): Promise<ValueMap> {
  return mapOrEmpty(await engine.ask({ method: "GET", path: enginePath("networks", name) }));
}

/** `paused`, `running` or `stopped`. */
export function stateOfContainer(inspected: ValueMap): string {
  const state = mapOrEmpty(inspected.get("State"));
  if (truthy(state.get("Paused"))) return "paused";
  return truthy(state.get("Running")) ? "running" : "stopped";
}

/** Asks for a container, and says whether it is `paused`, `running` or `stopped`. */
export async function containerState(engine: DockerEngine, name: string): Promise<string> {
  return stateOfContainer(await inspectContainer(engine, name));
}

/** @throws {CommandError} If a container does not run, or is paused. */
export async function needRunning(engine: DockerEngine, name: string): Promise<void> {
  if (await containerState(engine, name) !== "running") throw new CommandError(`Container '${name}' is not running`);
}

/** The containers by id; those that run come first. */
export async function containers(
  engine: DockerEngine,
  { all, filters = null }: { readonly all: boolean; readonly filters?: Value },
): Promise<ValueMap> {
  const query = { limit: -1, all: 1, size: 0, trunc_cmd: 0, filters: filterQuery(filters) };
  const found = listOrEmpty(await engine.ask({ method: "GET", path: enginePath("containers", "json"), query }));
  const [up, down]: [ValueMap, ValueMap] = [new Map(), new Map()];
  for (const container of found.filter(isMap)) {
    const isUp = str(container.get("Status") ?? "").toLowerCase().startsWith("up ");
    (isUp ? up : down).set(container.get("Id") ?? null, withTimes(container));
  }
  return all ? new Map([...up, ...down]) : up;
}

/** The names of containers, in order. */
export async function containerNames(engine: DockerEngine, all: boolean): Promise<string[]> {
  const found = [...(await containers(engine, { all })).values()].filter(isMap);
  const names = found.flatMap((one) => onlyStrings(one.get("Names")).map((name) => name.replace(/^\/+/, "")));
  return [...new Set(names)].sort();
}

/** The images by id; with `all` those without a tag too, which come last. */
export async function imagesById(engine: DockerEngine, all: boolean): Promise<ValueMap> {
  const query = { only_ids: 0, all: all ? 1 : 0 };
  const found = listOrEmpty(await engine.ask({ method: "GET", path: enginePath("images", "json"), query }));
  const [tagged, untagged]: [ValueMap, ValueMap] = [new Map(), new Map()];
  for (const image of found.filter(isMap)) {
    const isUntagged = isAmong(image.get("RepoTags") ?? null, [null, ["<none>:<none>"]]);
    const shown = withSizes(withTimes(image), "Size", "VirtualSize");
    (isUntagged ? untagged : tagged).set(image.get("Id") ?? null, shown);
  }
  return all ? new Map([...tagged, ...untagged]) : tagged;
}

/** The tags of all images, in order. */
export async function imageTags(engine: DockerEngine): Promise<string[]> {
  const found = [...(await imagesById(engine, false)).values()].filter(isMap);
  return [...new Set(found.flatMap((image) => onlyStrings(image.get("RepoTags"))))].sort();
}

/** The id of an image; `false`: there is none. */
export async function imageId(engine: DockerEngine, name: string): Promise<Value> {
  try {
    return (await inspectImage(engine, name)).get("Id") ?? false;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return false;
  }
}

/** What is found, or `undefined` if the engine says that there is none. */
export async function ifThere<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof DockerError && error.status === 404) return undefined;
    throw error;
  }
}

/** Seconds since a moment of `performance.now()`. */
export function elapsedSince(startMs: number): ValueMap {
  return map({ Time_Elapsed: (performance.now() - startMs) / 1000 });
}
