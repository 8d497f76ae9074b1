/**
 * State module `disk`: how full file systems are. Nothing of the host is changed.
 * Source: Salt 3008.3 `salt/states/disk.py`.
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import { roundHalfEven } from "#lib/output/rounding.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { float, isMap, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** A bound as a number; or what is wrong with it. */
function readBound(name: string, value: Value, absolute: boolean): number | null | { readonly problem: string } {
  if (value === null) return null;
  const stripped = typeof value === "string" ? stripChars(value, absolute ? " KB" : " %") : value;
  const number = typeof stripped === "string"
    ? /^\s*[+-]?\d+\s*$/.test(stripped) ? Number(stripped) : undefined
    : toNumber(stripped);
  if (number === undefined) return { problem: `${name} must be an integer ` };
  const whole = Math.trunc(number);
  if (!absolute && (whole < 0 || whole > 100)) return { problem: `${name} must be in the range [0, 100] ` };
  return whole;
}

/** What is used and what is left: numbers as Python shows them. */
interface Space {
  readonly used: Value;
  readonly available: Value;
  /** What the result shows as `data`. */
  readonly data: Value;
}

function numberAt(of: Value | undefined, key: string): number {
  const value = isMap(of) ? of.get(key) : undefined;
  return typeof value === "string" ? Number(value) : toNumber(value) ?? 0;
}

function spaceOfMount(data: Value, absolute: boolean): Space {
  if (absolute) return { used: numberAt(data, "used"), available: numberAt(data, "available"), data };
  const capacity = isMap(data) ? str(data.get("capacity") ?? "") : "";
  const used = Number(stripChars(capacity, "%"));
  return { used, available: 100 - used, data };
}

function spaceOfPath(path: string, data: ValueMap, absolute: boolean): Space {
  const total = numberAt(data.get(path), "total"), available = numberAt(data.get(path), "available");
  if (absolute) return { used: total - available, available, data };
  if (total === 0) return { used: 0, available: 0, data };
  const percent = (part: number) => float(roundHalfEven(part / total * 100, 1));
  return { used: percent(total - available), available: percent(available), data };
}

interface Bounds {
  readonly minimum: number | null;
  readonly maximum: number | null;
  readonly absolute: boolean;
  /** Whether the bounds are of what is left. */
  readonly free: boolean;
}

/** What is wrong with the space; `undefined` if nothing is. */
function violation({ used, available }: Space, { minimum, maximum, absolute, free }: Bounds): string | undefined {
  const unit = absolute ? "KB" : "%";
  const [kind, value] = free ? ["available", available] : ["used", used];
  const number = toNumber(value) ?? 0;
  const outOfBounds = (which: string, bound: number) =>
    `Disk ${kind} space is ${which} of ${bound} ${unit} at ${str(value)} ${unit}`;
  if (minimum !== null && number < minimum) return outOfBounds("below minimum", minimum);
  if (maximum !== null && number > maximum) return outOfBounds("above maximum", maximum);
  return undefined;
}

export const status: ModuleFunction<StateContext> = stateFn({
  doc: `The used or free space of a file system is within bounds. The result's \`data\` has the numbers.

name
    The mount point, or a directory on the file system.

maximum, minimum
    The bounds, in percent.

absolute : False
    Whether the bounds are in kilobytes.

free : False
    Whether they are for the free space.`,
  params: { name: p.str(), maximum: p.any(null), minimum: p.any(null), absolute: p.bool(false), free: p.bool(false) },
  run: async ({ name, maximum: max, minimum: min, absolute, free }, context) => {
    const ret = (result: boolean, comment: string, data: Value = new Map()): StateResult => (
      { name, result, comment, changes: new Map(), data }
    );
    const maximum = readBound("maximum", max, absolute), minimum = readBound("minimum", min, absolute);
    const problems = [maximum, minimum].flatMap((one) => typeof one === "object" && one !== null ? [one.problem] : []);
    if (typeof minimum === "number" && typeof maximum === "number" && minimum >= maximum) {
      problems.push("minimum must be less than maximum ");
    }
    if (problems.length > 0 || isProblem(maximum) || isProblem(minimum)) return ret(false, problems.join(""));
    const mounts = await context.call("disk.usage");
    const mount = isMap(mounts) ? mounts.get(name) : undefined;
    if (mount === undefined && !isDirectory(name)) {
      return ret(false, `Disk mount ${name} not present. Directory ${name} does not exist or is not a directory`);
    }
    const space = mount === undefined ? await pathSpace(name, absolute, context) : spaceOfMount(mount, absolute);
    const problem = violation(space, { minimum, maximum, absolute, free });
    return ret(problem === undefined, problem ?? "Disk used space in acceptable range", space.data);
  },
});

function isProblem(bound: ReturnType<typeof readBound>): bound is { readonly problem: string } {
  return typeof bound === "object" && bound !== null;
}

async function pathSpace(path: string, absolute: boolean, context: StateContext): Promise<Space> {
  const data = await context.call("status.diskusage", [path]);
  return spaceOfPath(path, mapOrEmpty(data), absolute);
}
