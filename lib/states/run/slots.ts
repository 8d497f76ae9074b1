/**
 * Slots: arguments of a state that are the result of an execution function, `__slot__:salt:grains.get(id) ~ /more`.
 * Source: Salt 3008.3, `State.format_slots`, `__eval_slot` of `salt/state.py`, `parse_function` of
 * `salt/utils/args.py`.
 * @module
 */

import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import { strip } from "#lib/values/python_text.ts";
import { traverse } from "#lib/yaml/traverse.ts";
import { parseCall } from "./slot_call.ts";

const SLOT = "__slot__:";

/** What slots need from a run. */
export interface SlotHost {
  /** Whether there is an execution function of that name. */
  has(name: string): Promise<boolean>;
  call(name: string, args: Value[], kwargs: ValueMap): Promise<Value>;
  log(level: "warning" | "error", text: string): void;
}

/** Arguments by name, with the values of their slots; without slots the very same map. */
export async function slotsInKeywords(given: ValueMap, host: SlotHost): Promise<ValueMap> {
  return await inValues(given, (value) => inArgument(value, host));
}

/** The same of positional arguments. */
export async function slotsInList(given: Value[], host: SlotHost): Promise<Value[]> {
  return await inItems(given, (value) => inArgument(value, host));
}

/** An argument: a text, a map or list of texts, a list of maps of texts. What is deeper is left alone. */
async function inArgument(value: Value, host: SlotHost): Promise<Value> {
  const text = (one: Value) => inText(one, host);
  if (isMap(value)) return await inValues(value, text);
  if (!Array.isArray(value)) return await text(value);
  return await inItems(value, (item) => isMap(item) ? inValues(item, text) : text(item));
}

async function inText(value: Value, host: SlotHost): Promise<Value> {
  return typeof value === "string" && value.startsWith(SLOT) ? await evaluate(value, host) : value;
}

async function inValues(given: ValueMap, fill: (value: Value) => Promise<Value>): Promise<ValueMap> {
  let result = given;
  for (const [key, value] of given) {
    if (!mayHoldSlot(value)) continue;
    const filled = await fill(value);
    if (filled === value) continue;
    if (result === given) result = new Map(given);
    result.set(key, filled);
  }
  return result;
}

async function inItems(given: Value[], fill: (value: Value) => Promise<Value>): Promise<Value[]> {
  let result = given;
  for (const [i, value] of given.entries()) {
    if (!mayHoldSlot(value)) continue;
    const filled = await fill(value);
    if (filled === value) continue;
    if (result === given) result = [...given];
    result[i] = filled;
  }
  return result;
}

/** Almost no argument has a slot: waiting for each would take longer than many states. */
function mayHoldSlot(value: Value): boolean {
  return typeof value === "string" ? value.startsWith(SLOT) : typeof value === "object" && value !== null;
}

/** The value of a slot; a malformed one stays the text that it is. */
async function evaluate(slot: string, host: SlotHost): Promise<Value> {
  const [, source, ...rest] = slot.split(":");
  const reportMalformed = (why: string) => {
    host.log("warning", `Malformed slot: ${slot}${why}`);
    return slot;
  };
  if (rest.length === 0) return reportMalformed("");
  if (source !== "salt") {
    return reportMalformed(": only execution functions are supported, so it begins with __slot__:salt:");
  }
  const text = rest.join(":");
  const call = parseCall(text);
  if (call === undefined || !await host.has(call.fun)) {
    return reportMalformed(": a function call is wanted: test.arg('arg', kw='kwarg')");
  }
  const returned = await host.call(call.fun, call.args, call.kwargs);
  const [before, ...behind] = splitOnce(text, "~");
  const value = within(returned, before);
  if (behind.length === 0) return value;
  if (typeof value === "string") return value + unquote(strip(behind[0]));
  host.log("error", "Ignoring slot append, slot result is not a string");
  return value;
}

function splitOnce(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** The part of a call's result at the path after it: `f().a.b`. */
function within(returned: Value, text: string): Value {
  const close = text.lastIndexOf(")");
  const path = close < 0 ? "" : text.slice(close + 1);
  if (!path.includes(".")) return returned;
  const steps = strip(path.slice(path.indexOf(".") + 1));
  return isMap(returned) ? traverse(returned, steps, ".") ?? null : null;
}

function unquote(text: string): string {
  const quote = text[0];
  return text.length >= 2 && (quote === '"' || quote === "'") && text.endsWith(quote) ? text.slice(1, -1) : text;
}
