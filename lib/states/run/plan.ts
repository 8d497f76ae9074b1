/**
 * Plans: `state.plan` runs states in test mode and makes a hash of everything that the result depends on. `state.apply
 * plan=<hash>` runs them if nothing of that has changed, or reports the changes. A plan is kept in
 * `<cachedir>/state_plans/<hash>`. Not in Salt.
 *
 * The record has hashes of what a plan depends on, not the pillar or the arguments themselves, which may be secret; and
 * the results that the operator was shown, so that a refusal can say what was found then and is found now.
 *
 * A plan depends on the low data of the states (SLS files, templates, grains as far as they use them), the pillar, the
 * files of the file server that the states name, and what the states in test mode found on the host.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { readFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { type Chunk, chunkTag } from "#lib/states/compiler/chunks.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { compareStrings, equals, isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The hashes of all that a plan depends on, by kind and by name. */
export type PlanParts = Readonly<Record<PlanKind, ReadonlyMap<string, string>>>;

const KINDS = {
  low: "states",
  pillar: "pillar",
  files: "files of the file server",
  host: "what is found on the host",
} as const;

/** A kind of what a plan depends on. */
export type PlanKind = keyof typeof KINDS;

/** A plan as it is kept. */
export interface RunPlan {
  /** What was planned: SLS names, or none for the top file. */
  readonly mods: Value;
  readonly kwargs: ValueMap;
  readonly parts: PlanParts;
  /** The results that were shown: what a refusal compares with. */
  readonly shown: ValueMap;
}

/** Something that has changed since a plan was made. */
export interface Moved {
  readonly kind: PlanKind;
  /** The tag of a state, the key of the pillar, or the URL of a file. */
  readonly name: string;
  /** What has changed, in a line. */
  readonly text: string;
}

/** Number of plans that are kept. */
const MAX_PLANS = 20;
/** Hexadecimal digits of a plan's name: enough to avoid hitting another plan by mistake. */
const NAME_DIGITS = 32;

/** Fields that differ from run to run and are ignored. */
const CHANGING: ReadonlySet<unknown> = new Set(["start_time", "duration", "__run_num__", "pid"]);

/** What a run in test mode depends on. */
export interface Planned {
  /** The chunks as they were compiled, before they ran. */
  readonly low: ReadonlyMap<string, string>;
  readonly pillar: ValueMap;
  /** The hash of every file of the file server that the chunks name. */
  readonly files: ReadonlyMap<string, string>;
  /** The results by tag. */
  readonly results: ValueMap;
}

/** The hashes of chunks by tag, taken before they run: a run changes them. */
export function lowHashes(chunks: readonly Chunk[]): Map<string, string> {
  return new Map(
    chunks.map((chunk) => [chunkTag(chunk), hashOf(new Map([...chunk].filter(([key]) => !isPassing(key))))]),
  );
}

/** Notes of the compiler and the runtime in a chunk. */
function isPassing(key: Value): boolean {
  return key === "__prereq__" || key === "__prerequiring__" || key === "__umask__" || key === "__agg__";
}

/** The files of the file server that chunks name anywhere in their arguments, each with its environment. */
export function serverFiles(chunks: readonly Chunk[]): Map<string, string> {
  const files = new Map<string, string>();
  const look = (value: Value, saltenv: string): void => {
    if (typeof value === "string" && value.startsWith("salt://")) files.set(value, saltenv);
    else if (Array.isArray(value)) { for (const item of value) look(item, saltenv); }
    else if (isMap(value)) { for (const item of value.values()) look(item, saltenv); }
  };
  for (const chunk of chunks) look(chunk, str(chunk.get("saltenv") ?? chunk.get("__env__") ?? "base"));
  return files;
}

/** The hashes of all that a run in test mode depends on. */
export function planParts({ low, pillar, files, results }: Planned): PlanParts {
  const each = (values: ValueMap) => new Map([...values].map(([key, value]) => [str(key), hashOf(value)]));
  return { low, pillar: each(pillar), files, host: each(results) };
}

/** The name of a plan: the hash of its parts. */
export function planName(parts: PlanParts): string {
  return hashHex(encode(partsMap(parts), "disk"), "sha256").slice(0, NAME_DIGITS);
}

/** The hash of a value, independent of the order of maps and without transient fields. */
function hashOf(value: Value): string {
  return hashHex(encode(sortKeys(value), "disk"), "sha256").slice(0, NAME_DIGITS);
}

function sortKeys(value: Value): Value {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isMap(value)) return value;
  const pairs = [...value].filter(([key]) => !CHANGING.has(key)).map((
    [key, item],
  ): [Value, Value] => [key, sortKeys(item)]);
  return new Map(pairs.sort(([a], [b]) => compareStrings(str(a), str(b))));
}

function partsMap(parts: PlanParts): ValueMap {
  const kinds = Object.keys(KINDS).filter(isKind);
  return new Map(kinds.map((kind) => [kind, sortKeys(new Map<Value, Value>(parts[kind]))]));
}

function isKind(kind: string): kind is PlanKind {
  return Object.hasOwn(KINDS, kind);
}

/** The changes since a plan was made; empty: none. */
export function movedSince(then: PlanParts, now: PlanParts): Moved[] {
  return Object.keys(KINDS).filter(isKind).flatMap((kind) => {
    const names = [...new Set([...then[kind].keys(), ...now[kind].keys()])];
    return names.flatMap((name) => {
      const [before, after] = [then[kind].get(name), now[kind].get(name)];
      if (before === after) return [];
      const how = before === undefined ? "is new" : after === undefined ? "is gone" : "has changed";
      return [{ kind, name, text: `${KINDS[kind]}: ${shownName(name)} ${how}` }];
    });
  });
}

/** A tag as `file.managed of /etc/x`; other texts unchanged. */
function shownName(name: string): string {
  const [state, id, , fun] = name.split("_|-");
  return fun === undefined ? name : `${state}.${fun} of ${id}`;
}

function directoryIn(cachedir: string): string {
  return `${cachedir}/state_plans`;
}

/** Keeps a plan under its name. */
export function keepPlan(cachedir: string, name: string, { mods, kwargs, parts, shown }: RunPlan): void {
  const directory = directoryIn(cachedir);
  Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const fields = map({ mods, kwargs, parts: partsMap(parts), shown });
  writeFileAtomic(`${directory}/${name}`, encode(fields, "disk"), { mode: 0o600 });
  const plans = [...Deno.readDirSync(directory)].map((file) => `${directory}/${file.name}`);
  const byAge = plans.map((path) => ({ path, at: Deno.lstatSync(path).mtime?.getTime() ?? 0 })).sort((a, b) =>
    b.at - a.at
  );
  for (const { path } of byAge.slice(MAX_PLANS)) removeIfExists(path);
}

/** The plan of that name; `undefined` if there is none. */
export function readPlan(cachedir: string, name: string): RunPlan | undefined {
  if (!/^[0-9a-f]+$/.test(name)) return undefined;
  const bytes = readFileIfExists(`${directoryIn(cachedir)}/${name}`);
  const plan = bytes === undefined ? null : decode(bytes, "disk");
  if (!isMap(plan)) return undefined;
  const [kwargs, parts] = [plan.get("kwargs"), plan.get("parts")];
  if (!isMap(kwargs) || !isMap(parts)) return undefined;
  const hashes = (kind: PlanKind): ReadonlyMap<string, string> => {
    const stored = parts.get(kind);
    return new Map([...isMap(stored) ? stored : []].map(([key, hash]) => [str(key), str(hash)]));
  };
  const shownValues = plan.get("shown");
  return {
    mods: plan.get("mods") ?? null,
    kwargs,
    shown: mapOrEmpty(shownValues),
    parts: { low: hashes("low"), pillar: hashes("pillar"), files: hashes("files"), host: hashes("host") },
  };
}

/** The error texts for a plan that is not applied. */
export function refusalTexts(name: string, moved: readonly string[]): string[] {
  return [`The plan ${name} is not applied: what it stands on has changed since.`, ...moved];
}

/** Lines of one value that are shown. */
const MOST_LINES = 30;

/** The fields of a result that are compared. */
const FIELDS = ["result", "comment", "changes"] as const;

/** Lines that say what the plan has shown of a state, and what is so now; none for other kinds of differences. */
export function differences({ kind, name }: Moved, then: ValueMap, now: Value): string[] {
  if (kind !== "host" || !isMap(now)) return [];
  const before = then.get(name), after = now.get(name);
  if (!isMap(before) || !isMap(after)) return [];
  return FIELDS.flatMap((field) => {
    const [old, current] = [before.get(field) ?? null, after.get(field) ?? null];
    if (equals(old, current)) return [];
    return [...shownValue(`${field} in the plan`, old), ...shownValue(`${field} now`, current)];
  });
}

function shownValue(label: string, value: Value): string[] {
  const lines = linesOf(value);
  if (lines.length === 1) return [`  ${label}: ${lines[0]}`];
  const more = lines.length - MOST_LINES;
  const shortened = more > 0 ? [...lines.slice(0, MOST_LINES), `… ${more} more lines`] : lines;
  return [`  ${label}:`, ...shortened.map((line) => `    ${line}`)];
}

function linesOf(value: Value): string[] {
  if (!isMap(value)) return rstripChars(str(value), "\n").split("\n");
  if (value.size === 0) return ["none"];
  return [...value].flatMap(([key, item]) => {
    const lines = linesOf(item);
    return lines.length === 1 ? [`${str(key)}: ${lines[0]}`] : [`${str(key)}:`, ...lines.map((line) => `  ${line}`)];
  });
}
