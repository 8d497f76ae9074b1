/**
 * `pkg.held` and `pkg.unheld`: packages that keep their version.
 * Source: Salt 3008.3 `salt/states/pkg.py`.
 * @module
 */

import { hasFunction } from "#modules/states/_execution.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, startResult, type StateResult } from "#lib/plugins/state_module.ts";
import { asList, listOrEmpty, mapOrEmpty, textOrNull } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** A package that is held. */
interface Lock {
  /** The held version; absent: any. */
  readonly version?: string;
  /** Whether it is one package's, not a pattern's or another object's. */
  readonly isPackage: boolean;
}

/** The held packages. */
interface Locks {
  readonly locks: ReadonlyMap<string, Lock>;
  /** Whether the package manager holds versions. */
  readonly haveVersions: boolean;
}

/** What yum's versionlock lists: name, epoch, version. */
const VERSIONLOCK = /^(.+)-(\d+):(.*)\.\*/;

async function readLocks(context: StateContext): Promise<Locks | undefined> {
  if (await hasFunction("pkg.list_locks", context)) {
    const all = await context.call("pkg.list_locks");
    const locks = [...isMap(all) ? all : []].map(([name, lock]): [string, Lock] => [str(name), parseLock(lock)]);
    return { locks: new Map(locks), haveVersions: true };
  }
  if (await hasFunction("pkg.list_holds", context)) {
    const all = await context.call("pkg.list_holds", [], map({ full: true }));
    const locks = listOrEmpty(all).map(str).map((lock): [string, Lock] => {
      const [, name, epoch, version] = VERSIONLOCK.exec(lock) ?? [];
      if (name === undefined) return [lock, { isPackage: true }];
      return [name, { version: `${epoch === "0" ? "" : `${epoch}:`}${version}`, isPackage: true }];
    });
    return { locks: new Map(locks), haveVersions: false };
  }
  if (await hasFunction("pkg.get_selections", context)) {
    const all = await context.call("pkg.get_selections", [], map({ state: "hold" }));
    const names = isMap(all) ? all.get("hold") : undefined;
    const locks = listOrEmpty(names).map((name): [string, Lock] => [str(name), { isPackage: true }]);
    return { locks: new Map(locks), haveVersions: false };
  }
  return undefined;
}

function parseLock(lock: Value): Lock {
  const fields = mapOrEmpty(lock);
  const version = fields.get("version");
  return {
    ...version !== undefined && { version: str(version).replace(/^[= ]+/, "") },
    isPackage: (fields.get("type") ?? "package") === "package",
  };
}

const NO_LIST =
  "No any function to get the list of held packages available.\nCheck if the package manager supports package locking.";

/** Names and versions of a state's `pkgs`, or of its name. */
function wantedPackages(
  name: string,
  version: Value,
  pkgs: Value,
): [name: string, version: string | null, asGiven: Value][] {
  const list = pkgs === null ? [truthy(version) ? new Map([[name, version]]) : name] : asList(pkgs);
  return list.map((one) => {
    if (!isMap(one)) return [str(one), null, one];
    const [[key, value]] = one.size === 0 ? [["", null] as const] : one;
    return [str(key), textOrNull(value), one];
  });
}

/** Whether the answer of `pkg.hold` says that a package was dealt with. */
function isDone(answer: Value | undefined, name: string): boolean {
  const own = isMap(answer) ? answer.get(name) : undefined;
  return isMap(own) && truthy(own.get("result"));
}

function commentOf(answer: Value, name: string): string {
  const own = isMap(answer) ? answer.get(name) : undefined;
  return isMap(own) ? str(own.get("comment") ?? "") : "";
}

/** What one of the states has done so far. */
class Report {
  readonly comments: string[] = [];
  readonly changes: ValueMap = new Map();
  result = true;

  constructor(readonly name: string) {}

  /** Releases one package. */
  async release(name: string, context: StateContext): Promise<void> {
    const answer = await context.call("pkg.unhold", [], map({ name: this.name, pkgs: [name] }));
    if (!isDone(answer, name)) this.result = false;
    const comment = commentOf(answer, name);
    if (comment !== "") this.comments.push(comment);
    this.add(answer);
  }

  add(answer: Value): void {
    for (const [key, change] of isMap(answer) ? answer : []) this.changes.set(key, change);
  }

  done(): StateResult {
    const comment = this.comments.join("\n");
    return {
      name: this.name,
      result: this.result,
      comment: comment === "" && this.changes.size === 0 ? "No changes made" : comment,
      changes: this.changes,
    };
  }
}

/** The arguments of `pkg.held`. */
export interface HeldArguments {
  readonly name: string;
  readonly version: Value;
  readonly pkgs: Value;
  /** Whether all other packages are released. */
  readonly replace: boolean;
}

/** Runs `pkg.held`. */
export async function runHeld(args: HeldArguments, context: StateContext): Promise<StateResult> {
  const { name, version, pkgs, replace } = args;
  if (Array.isArray(pkgs) && pkgs.length === 0 && !replace) {
    return { ...startResult(name), comment: "No packages to be held provided" };
  }
  const locks = await readLocks(context);
  if (locks === undefined) return failState(name, NO_LIST);
  if (!await hasFunction("pkg.hold", context)) {
    return failState(name, "`hold` function is not implemented for the package manager.");
  }
  const report = new Report(name);
  const held = new Set<string>();
  for (const [one, wantedVersion, given] of wantedPackages(name, version, pkgs)) {
    held.add(one);
    const lock = locks.locks.get(one);
    if (lock !== undefined && !(locks.haveVersions && (lock.version ?? null) !== wantedVersion)) continue;
    if (context.test) {
      const lockText = `${one}${wantedVersion ? ` (version = ${wantedVersion})` : ""}`;
      report.comments.push(
        lock === undefined
          ? `The following package would be held: ${lockText}`
          : `The following package's hold rule would be updated: ${lockText}`,
      );
      continue;
    }
    const released = lock === undefined ? undefined : await context.call("pkg.unhold", [], map({ name, pkgs: [one] }));
    const answer = await context.call("pkg.hold", [], map({ name, pkgs: [given] }));
    if (!isDone(answer, one)) {
      report.result = false;
      report.comments.push(`Package ${one} was not held`);
    } else {
      report.comments.push(
        isDone(released, one) ? `Package ${one} was updated with hold rule` : `Package ${one} is now being held`,
      );
    }
    report.add(answer);
  }
  for (const [one, { isPackage }] of replace ? locks.locks : []) {
    if (!isPackage || held.has(one)) continue;
    if (context.test) report.comments.push(`The following package would be unheld: ${one}`);
    else await report.release(one, context);
  }
  return report.done();
}

/** The arguments of `pkg.unheld`. */
export interface UnheldArguments {
  readonly name: string;
  readonly version: Value;
  readonly pkgs: Value;
  /** Whether every held package is released. */
  readonly all: boolean;
}

/** Runs `pkg.unheld`. */
export async function runUnheld(args: UnheldArguments, context: StateContext): Promise<StateResult> {
  const { name, version, pkgs, all } = args;
  if (Array.isArray(pkgs) && pkgs.length === 0 && !all) {
    return { ...startResult(name), comment: "No packages to be unheld provided" };
  }
  const locks = await readLocks(context);
  if (locks === undefined) return failState(name, NO_LIST);
  const versions = new Map(wantedPackages(name, version, pkgs).map(([one, wantedVersion]) => [one, wantedVersion]));
  const report = new Report(name);
  for (const [one, lock] of locks.locks) {
    if (!lock.isPackage) continue;
    const lockVersion = locks.haveVersions ? lock.version ?? null : null;
    const isMeant = versions.has(one) && (!lockVersion || lockVersion === versions.get(one));
    if (!all && !isMeant) continue;
    if (context.test) {
      const lockText = versions.get(one) ? ` (version = ${lockVersion ?? "None"})` : "";
      report.comments.push(`The following package would be unheld: ${one}${lockText}`);
    } else await report.release(one, context);
  }
  return report.done();
}
