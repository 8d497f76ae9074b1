/**
 * Held packages of yum and dnf, by the plugin `versionlock`.
 * Source: Salt 3008.3, `salt/modules/yumpkg.py`; yum-versionlock(1), dnf-versionlock(8).
 * @module
 */

import { heldPackages, isDnf, runYum, yumProgram } from "./yum.ts";
import { HOLD_PATTERN, parseHolds } from "./yum_output.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

/** The result for each package. */
export type HoldResults = Map<string, ValueMap>;

function outcome(name: string): ValueMap {
  return map({ name, changes: {}, result: false, comment: "" });
}

/** Holds packages, with the plugin that `requireVersionlock` asks for. */
export async function holdPackages(names: readonly string[], context: JobContext): Promise<HoldResults> {
  const held = await heldPackages({ full: false }, context);
  const results: HoldResults = new Map();
  for (const name of names) {
    const result = outcome(name);
    results.set(name, result);
    if (held.includes(name)) result.set("result", true).set("comment", `Package ${name} is already set to be held.`);
    else if (context.opts.test === true) {
      result.set("result", null).set("comment", `Package ${name} is set to be held.`);
    } else if ((await runYum(["versionlock", "add", checkedWord(name, "package name")], context)).retcode === 0) {
      result.set("result", true).set("comment", `Package ${name} is now being held.`);
      result.set("changes", map({ new: "hold", old: "" }));
    } else result.set("comment", `Package ${name} was unable to be held.`);
  }
  return results;
}

/** Releases packages, with the plugin that `requireVersionlock` asks for. */
export async function unholdPackages(names: readonly string[], context: JobContext): Promise<HoldResults> {
  const program = yumProgram();
  const held = await heldPackages({ full: program === "yum" }, context);
  const nameOf = (lock: string) => parseHolds(lock, { program, pattern: HOLD_PATTERN, full: false })[0];
  const results: HoldResults = new Map();
  for (const name of names) {
    const result = outcome(name);
    results.set(name, result);
    const locks = held.filter((one) => isDnf() ? one === name : one.includes(name) && nameOf(one) === name);
    if (locks.length === 0) result.set("result", true).set("comment", `Package ${name} is not being held.`);
    else if (context.opts.test === true) {
      result.set("result", null).set("comment", `Package ${name} is set to be unheld.`);
    } else if ((await runYum(["versionlock", "delete", ...locks], context)).retcode === 0) {
      result.set("result", true).set("comment", `Package ${name} is no longer held.`);
      result.set("changes", map({ new: "", old: "hold" }));
    } else result.set("comment", `Package ${name} was unable to be unheld.`);
  }
  return results;
}
