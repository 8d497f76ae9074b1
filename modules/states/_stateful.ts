/**
 * Commands that report their own outcome (`stateful`): the last line of their output says whether they changed
 * anything. Source: Salt 3008.3 `salt/states/cmd.py` _reinterpreted_state.
 * @module
 */

import { InvocationError, JsonError } from "#lib/errors.ts";
import type { StateResult } from "#lib/plugins/state_module.ts";
import { rstrip } from "#lib/values/python_text.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

const UNREADABLE = "Failed parsing script output! Stdout must be JSON or a line of name=value pairs.";

/** The report of a script: its fields, and the number of characters before them; JSON is the whole output. */
interface Said {
  readonly fields: ValueMap;
  readonly before: number | undefined;
}

/** The result of a command whose output reports the outcome: `result.changes` holds what `cmd.run_all` returned. */
export function reinterpret(result: StateResult): StateResult {
  const ran = result.changes;
  const plain: StateResult = { ...result, changes: new Map(), comment: "" };
  const output = ran.get("stdout");
  if (!truthy(output)) {
    const stderr = ran.get("stderr");
    return truthy(stderr) ? { ...plain, comment: str(stderr ?? "") } : plain;
  }
  const parsed = readOutput(str(output ?? ""));
  if (parsed === undefined) return { ...plain, result: false, comment: UNREADABLE, changes: ran };
  if (parsed === "no map") {
    return { ...plain, result: false, comment: "script JSON output must be a JSON object (e.g., {})!" };
  }
  const { fields, before } = parsed;
  const changed = isTrue(fields.has("changed") ? fields.get("changed") ?? null : "no");
  const value = fields.get("comment") ?? "";
  const comment = Array.isArray(value) ? value.map(str) : str(value);
  fields.delete("comment");
  if (!changed) return { ...plain, comment };
  for (const [key, value] of ran) if (!fields.has(key)) fields.set(key, value);
  // Salt removes the last character if the words are the only line.
  const stdout = str(fields.get("stdout") ?? "");
  fields.set("stdout", before === undefined ? "" : stdout.slice(0, before));
  return { ...plain, comment, changes: fields };
}

function readOutput(output: string): Said | "no map" | undefined {
  try {
    const fields = parseJson(output);
    return isMap(fields) ? { fields, before: undefined } : "no map";
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  const before = rstrip(output).lastIndexOf("\n");
  const fields: ValueMap = new Map();
  for (const word of wordsOf(before === -1 ? output : output.slice(before + 1)) ?? [""]) {
    const pair = word.split("=");
    if (pair.length !== 2) return undefined;
    fields.set(pair[0], pair[1]);
  }
  return { fields, before };
}

/** The words of a line; `undefined` if a quote is open. */
function wordsOf(line: string): string[] | undefined {
  try {
    return shlexSplit(line);
  } catch (error) {
    if (error instanceof InvocationError) return undefined;
    throw error;
  }
}

/** @throws {InvocationError} If it is neither. */
function isTrue(value: Value): boolean {
  const word = str(value).toLowerCase();
  if (truthy(value) && ["true", "yes", "1"].includes(word)) return true;
  if (["false", "no", "0"].includes(word)) return false;
  throw new InvocationError(`Failed parsing boolean value: ${str(value)}`);
}
