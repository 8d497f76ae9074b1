/**
 * Reactions: what the files of an event say is to be done. Made of low chunks; the table of the forms of arguments is
 * that of Salt. Source: Salt 3008.3 `salt/utils/reactor.py` ReactWrap.run.
 * @module
 */

import { WireError } from "#lib/errors.ts";
import type { FunctionSignature } from "#lib/plugins/call.ts";
import { nearestName } from "#lib/text/nearest_name.ts";
import { truncateRepr } from "#lib/text/truncate.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import type { ReactorMistake } from "./reactor_map.ts";

/** Where a reaction runs: on minions, as a runner, as a wheel function, or as a function of this host. */
export type ReactionKind = "local" | "runner" | "wheel" | "caller";

const KINDS: readonly ReactionKind[] = ["local", "runner", "wheel", "caller"];

/** One call. */
export interface Reaction {
  readonly kind: ReactionKind;
  /** The function, `state.apply`. */
  readonly fun: string;
  readonly args: readonly Value[];
  readonly kwargs: ValueMap;
  /** The id in the file. */
  readonly id: string;
  /** Its path on this host. */
  readonly file: string;
  /** Of `local`: the target. */
  readonly tgt: Value;
  readonly tgtType: string;
  /** Of `local`: the returners. */
  readonly ret: string;
  /** Of `local`: the other fields of the publish: `metadata`, `timeout`. */
  readonly publish: ValueMap;
}

/** Keys of a chunk that are no arguments. */
const INTERNAL = new Set(["__id__", "__sls__", "__env__", "name", "order", "fun", "key", "state", "name_order"]);
/** Keys that say how a reaction runs. */
const FORM = new Set(["arg", "kwarg", "args"]);
const OF_LOCAL = new Set(["tgt", "tgt_type", "ret", "names"]);
const REQUISITES = new Set(["require", "require_in", "onchanges", "onfail", "watch", "prereq", "listen", "use"]);

/** Finds the functions of this host. */
export interface HostFunctions {
  /** A function of a runner or a wheel module; `undefined` if there is none. */
  find(kind: "runner" | "wheel", fun: string): Promise<FunctionSignature | undefined>;
}

/**
 * The reaction of a chunk.
 * @returns What is wrong with it, if it cannot be one.
 */
export async function readReaction(chunk: ValueMap, functions: HostFunctions): Promise<Reaction | ReactorMistake> {
  const text = (key: string) => str(chunk.get(key) ?? "");
  const id = text("__id__"), file = text("__sls__"), fun = text("fun"), state = text("state");
  const kind = state === "cmd" ? "local" : KINDS.find((each) => each === state);
  const mistake = (what: string): ReactorMistake => ({ file, text: `Reactor '${id}': ${what}` });
  if (kind === undefined) {
    const near = nearestName(state, [...KINDS, "cmd"]);
    const hint = near === undefined ? "" : `; did you mean ${near}.${fun}?`;
    return mistake(`there is no reaction of the type '${state}' (${state}.${fun})${hint}`);
  }
  const tgt = chunk.get("tgt") ?? null;
  if (kind === "local" && tgt === null) return mistake(`${state}.${fun} has no target (tgt)`);
  const call = await readCall(chunk, kind, functions);
  if (typeof call === "string") return mistake(`failed to execute ${kind} '${fun}': ${call}`);
  const publish = [...chunk].filter(([key]) =>
    typeof key === "string" && !INTERNAL.has(key) && !FORM.has(key) && !OF_LOCAL.has(key) && !REQUISITES.has(key)
  );
  return {
    kind,
    fun,
    ...call,
    id,
    file,
    tgt,
    tgtType: str(chunk.get("tgt_type") ?? "glob"),
    ret: str(chunk.get("ret") ?? ""),
    publish: new Map(kind === "local" ? publish : []),
  };
}

interface Call {
  readonly args: readonly Value[];
  readonly kwargs: ValueMap;
}

/** The arguments, or what is wrong with them. */
async function readCall(chunk: ValueMap, kind: ReactionKind, functions: HostFunctions): Promise<Call | string> {
  const fun = str(chunk.get("fun") ?? "");
  const signature = kind === "runner" || kind === "wheel" ? await functions.find(kind, fun) : undefined;
  if ((kind === "runner" || kind === "wheel") && signature === undefined) return "function not available";
  const args = chunk.get("args");
  if (args !== undefined) {
    if (kind === "caller" && Array.isArray(args) && !args.every(isMap)) return { args, kwargs: new Map() };
    const kwargs = isMap(args) ? args : repack(args);
    if (kwargs === undefined || (kwargs.size === 0 && !isMap(args))) {
      return "Incorrect argument format, check the Reactor System documentation for the correct format";
    }
    return { args: [], kwargs };
  }
  const arg = chunk.get("arg"), kwarg = chunk.get("kwarg");
  if (kwarg !== undefined && !isMap(kwarg)) return `kwarg is no map: ${truncateRepr(kwarg)}`;
  const positional = arg === undefined ? undefined : Array.isArray(arg) ? arg : [arg];
  if (signature === undefined || (positional !== undefined && kwarg !== undefined)) {
    return { args: positional ?? [], kwargs: kwarg ?? new Map() };
  }
  const beside = readBeside(chunk, signature);
  if (typeof beside === "string") return beside;
  return { args: positional ?? beside.args, kwargs: kwarg ?? beside.kwargs };
}

/** A list of maps as one map; a value that is no map is a key without a value. `undefined`: it is none of these. */
function repack(args: Value): ValueMap | undefined {
  if (!Array.isArray(args)) return undefined;
  const packed: ValueMap = new Map();
  for (const item of args) {
    if (!isMap(item)) packed.set(item, null);
    else if (item.size === 1) { for (const [key, value] of item) packed.set(key, value); }
    else return undefined;
  }
  return packed;
}

/** The keys of the chunk that the function takes: those without a default by their places, others by their names. */
function readBeside(chunk: ValueMap, { params, varKwargs }: FunctionSignature): Call | string {
  const args: Value[] = [], kwargs: ValueMap = new Map();
  const missing: string[] = [];
  for (const [name, declared] of Object.entries(params)) {
    const given = chunk.get(name);
    if (declared.default === undefined) {
      if (given === undefined) missing.push(name);
      else args.push(given);
    } else if (given !== undefined) kwargs.set(name, given);
  }
  if (missing.length > 0) return `it takes the arguments ${missing.join(", ")}, which are not given`;
  const rest = [...chunk].filter(([key]) =>
    typeof key === "string" && !INTERNAL.has(key) && !Object.hasOwn(params, key) && !REQUISITES.has(key)
  );
  if (varKwargs !== undefined) { for (const [key, value] of rest) kwargs.set(key, value); }
  const unknown = rest.filter(([key]) => !FORM.has(str(key)));
  if (varKwargs === undefined && unknown.length > 0) {
    return `it takes no argument ${unknown.map(([key]) => str(key)).join(", ")}`;
  }
  return { args, kwargs };
}

/** A reaction as a value, for the journal, the processes, and operators. */
export function reactionValue({ args, ...reaction }: Reaction): ValueMap {
  return map({ ...reaction, args: [...args] });
}

/**
 * The reaction in a value of {@linkcode reactionValue}.
 * @throws {WireError} If it is none.
 */
export function parseReaction(value: Value): Reaction {
  const field = (name: string): Value => isMap(value) ? value.get(name) ?? null : null;
  const kind = KINDS.find((each) => each === field("kind"));
  const args = field("args"), kwargs = field("kwargs"), publish = field("publish");
  if (kind === undefined || !Array.isArray(args) || !isMap(kwargs) || !isMap(publish)) {
    throw new WireError("invalid reaction", "reaction");
  }
  return {
    kind,
    fun: str(field("fun")),
    args,
    kwargs,
    id: str(field("id")),
    file: str(field("file")),
    tgt: field("tgt"),
    tgtType: str(field("tgtType")),
    ret: str(field("ret")),
    publish,
  };
}
