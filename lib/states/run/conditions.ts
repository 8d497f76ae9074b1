/**
 * Whether a state is called at all: `onlyif`, `unless`, `creates`; and what `check_cmd` makes of its result.
 * Source: Salt 3008.3, `State._run_check` and its parts in `salt/state.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { exists } from "#lib/os/file_kind.ts";
import type { Chunk } from "#lib/states/compiler/chunks.ts";
import { renderedText } from "#lib/states/compiler/high.ts";
import { asList, listOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { traverse } from "#lib/yaml/traverse.ts";
import { slotsInKeywords, slotsInList } from "./slots.ts";

/** What conditions need from a run. */
export interface ConditionHost {
  readonly grains: ValueMap;
  /** Calls an execution function. */
  call(name: string, args: Value[], kwargs: ValueMap): Promise<Value>;
  /** Whether there is an execution function of that name. */
  has(name: string): Promise<boolean>;
  /** The return code that the last function set; the caller sets it to 0 before. */
  retcode: number;
  log(level: "error" | "warning" | "debug", text: string): void;
}

/** The result of a check: the state is not called if `skip`. */
export interface Check {
  readonly skip: boolean;
  readonly comment: string;
  /** Whether the result says that `mod_watch` is not called either. */
  readonly skipWatch: boolean;
}

/** Arguments of a state that its conditions' commands get as well. Salt takes `umask` away before. */
const SHARED = ["cwd", "root", "runas", "env", "prepend_path", "timeout", "success_retcodes"] as const;

/** Whether a chunk has one of the conditions. */
export function hasConditions(chunk: Chunk): boolean {
  return chunk.has("unless") || chunk.has("onlyif") || chunk.has("creates");
}

/** Checks the conditions of a chunk; any of them may skip it. */
export async function checkConditions(chunk: Chunk, host: ConditionHost): Promise<Check> {
  const options = commandOptions(chunk, host.grains);
  const checks: Check[] = [];
  if (chunk.has("onlyif")) checks.push(await onlyIf(listOf(chunk.get("onlyif")), options, host));
  if (chunk.has("unless")) checks.push(await unless(listOf(chunk.get("unless")), options, host));
  if (chunk.has("creates")) checks.push(creates(chunk.get("creates") ?? null));
  return {
    skip: checks.some(({ skip }) => skip),
    comment: checks.map(({ comment }) => comment).join("\n"),
    skipWatch: checks.some(({ skipWatch }) => skipWatch),
  };
}

function listOf(value: Value | undefined): Value[] {
  return Array.isArray(value) ? value : [value ?? null];
}

/** The arguments of the state with which its conditions' commands run. */
function commandOptions(chunk: Chunk, grains: ValueMap): ValueMap {
  const excluded = chunk.has("cmd_opts_exclude") ? listOf(chunk.get("cmd_opts_exclude")) : [];
  const options: ValueMap = new Map();
  for (const name of SHARED) {
    const value = chunk.get(name) ?? null;
    if (value !== null && !excluded.includes(name)) options.set(name, value);
  }
  const shell = !excluded.includes("shell") && chunk.has("shell") ? chunk.get("shell") : grains.get("shell");
  if (shell !== undefined && shell !== null) options.set("shell", shell);
  return options;
}

function checkResult(what: string, holds: boolean, skip: boolean): Check {
  return { skip, comment: `${what} condition is ${holds}`, skipWatch: skip };
}

/** The result of an entry, or a text if it cannot be checked. */
type Entry = boolean | { readonly text: string; readonly ends: boolean };

/** The state is called if all entries hold. */
async function onlyIf(entries: readonly Value[], options: ValueMap, host: ConditionHost): Promise<Check> {
  let check: Check = { skip: false, comment: "", skipWatch: false };
  for (const entry of entries) {
    const holds = await holdsEntry(entry, { what: "onlyif", onFailure: false, options, host });
    if (typeof holds !== "boolean") return { skip: false, comment: holds.text, skipWatch: check.skipWatch };
    if (!holds) return checkResult("onlyif", false, true);
    check = checkResult("onlyif", true, false);
  }
  return check;
}

/** The state is skipped if all entries hold. */
async function unless(entries: readonly Value[], options: ValueMap, host: ConditionHost): Promise<Check> {
  let check: Check = { skip: false, comment: "", skipWatch: false };
  for (const entry of entries) {
    // A command that cannot run counts as successful: the state is skipped.
    const holds = await holdsEntry(entry, { what: "unless", onFailure: true, options, host });
    if (typeof holds !== "boolean") {
      check = { skip: holds.ends && check.skip, comment: holds.text, skipWatch: check.skipWatch };
      if (holds.ends) return check;
    } else if (!holds) return checkResult("unless", false, false);
    else check = checkResult("unless", true, true);
  }
  return check;
}

interface CheckRequest {
  readonly what: "onlyif" | "unless";
  /** The result for a command that cannot run. */
  readonly onFailure: boolean;
  readonly options: ValueMap;
  readonly host: ConditionHost;
}

async function holdsEntry(entry: Value, request: CheckRequest): Promise<Entry> {
  const { what, host } = request;
  if (typeof entry === "string") return await succeeds(entry, request);
  if (!isMap(entry)) {
    return what === "onlyif"
      ? { text: "onlyif execution failed, bad type passed", ends: true }
      : { text: "unless condition is false, bad type passed", ends: false };
  }
  const { fun, args, getReturn, kwargs } = functionOf(entry);
  if (fun === undefined) {
    const text = `no \`fun\` argument in ${what}: ${renderedText(entry)}`;
    host.log("warning", text);
    return { text, ends: true };
  }
  host.retcode = 0;
  const returned = await host.call(fun, await slotsInList(args, host), await slotsInKeywords(kwargs, host));
  const result = truthy(getReturn) && getReturn !== undefined ? dig(returned, getReturn) : returned;
  return host.retcode !== 0 ? false : truthy(result);
}

function dig(returned: Value, path: Value): Value {
  const value = isMap(returned) ? traverse(returned, path) : traverse(new Map([["", returned]]), ["", ...steps(path)]);
  return value ?? null;
}

function steps(path: Value): Value[] {
  return typeof path === "string" ? path.split(":") : asList(path);
}

function functionOf(entry: ValueMap) {
  const kwargs = new Map(entry);
  const [fun, args, getReturn] = ["fun", "args", "get_return"].map((key) => entry.get(key));
  for (const key of ["fun", "args", "get_return"]) kwargs.delete(key);
  return {
    fun: fun === undefined ? undefined : str(fun),
    args: listOrEmpty(args),
    getReturn,
    kwargs,
  };
}

async function succeeds(command: string, { onFailure, options, host }: CheckRequest): Promise<boolean> {
  try {
    const retcode = await host.call("cmd.retcode", [command], shellOptions(options));
    host.log("debug", `Last command return code: ${str(retcode)}`);
    return toNumber(retcode) === 0;
  } catch (error) {
    if (error instanceof CommandError) return onFailure;
    throw error;
  }
}

function shellOptions(options: ValueMap): ValueMap {
  return new Map<Value, Value>([["ignore_retcode", true], ["python_shell", true], ...options]);
}

function creates(paths: Value): Check {
  if (typeof paths === "string" && exists(paths)) {
    return { skip: true, comment: `${paths} exists`, skipWatch: true };
  }
  if (Array.isArray(paths) && paths.every((path) => exists(str(path)))) {
    return { skip: true, comment: "All files in creates exist", skipWatch: true };
  }
  return { skip: false, comment: "Creates files not found", skipWatch: false };
}

/** Runs `check_cmd` after the state: its result and comment replace the state's own. */
export async function checkCommand(
  chunk: Chunk,
  host: ConditionHost,
): Promise<{ readonly result: boolean; readonly comment?: string }> {
  const options: ValueMap = new Map();
  const shell = host.grains.get("shell");
  if (shell !== undefined) options.set("shell", shell);
  const commands = listOf(chunk.get("check_cmd"));
  for (const command of commands) {
    const retcode = await host.call("cmd.retcode", [command], shellOptions(options));
    if (toNumber(retcode) !== 0) return { result: false, comment: "check_cmd determined the state failed" };
  }
  return commands.length === 0
    ? { result: false }
    : { result: true, comment: "check_cmd determined the state succeeded" };
}
