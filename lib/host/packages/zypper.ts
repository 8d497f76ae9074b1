/**
 * Runs zypper, and waits while another one holds its lock.
 * Source: Salt 3008.3, `salt/modules/zypperpkg.py`; zypper(8).
 * @module
 */

import { scopeWords } from "./scope.ts";
import { CommandError } from "#lib/errors.ts";
import { type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { elementsNamed, parseXml, type XmlElement } from "#lib/text/xml.ts";
import { map, type Value } from "#lib/values/value.ts";

/** Return codes of a successful run: also if there are patches, or a restart is needed. */
export const SUCCESSES: readonly number[] = [0, 100, 101, 102, 103];
/** Return codes that are no failure: no repositories, a lock, one repository that failed, a script that failed. */
const WARNINGS = [6, 7, 106, 107];
const LOCKED = 7;
const LOCK_FILE = "/var/run/zypp.pid";
/** Milliseconds between two tries while another zypper runs. */
const LOCK_WAIT_MS = 5_000;
/** Number of tries: ten minutes. */
const LOCK_TRIES = 120;

/** Options for running zypper. */
export interface ZypperRun {
  /** The directory of another host. */
  readonly root?: Value;
  /** Whether it only reads, and so needs no lock. */
  readonly readsOnly?: boolean;
  /** Whether it may read the repositories again. */
  readonly refreshes?: boolean;
  /** Whether a failure is a result like others. */
  readonly soft?: boolean;
  /** Whether it runs in a systemd scope. */
  readonly scope?: boolean;
  /** Return codes that mean 0. */
  readonly successes?: readonly number[];
  /**
   * The pause before the next try while another process has the lock, in milliseconds.
   * @default 5000
   */
  readonly lockWaitMs?: number;
}

/**
 * Runs it.
 * @throws {CommandError} If it fails, unless that is a result.
 */
export async function runZypper(
  words: readonly string[],
  context: JobContext,
  run: ZypperRun = {},
): Promise<ProgramResult> {
  const { root, readsOnly = false, refreshes = false } = run;
  const inScope = run.scope ? scopeWords(context) : [];
  const isXml = words[0] === "--xmlout";
  const rest = isXml ? words.slice(1) : words;
  const command = [
    ...inScope,
    "zypper",
    "--non-interactive",
    ...isXml ? ["--xmlout"] : [],
    ...refreshes || rest.includes("--no-refresh") ? [] : ["--no-refresh"],
    ...root ? ["--root", String(root)] : [],
    ...rest,
  ];
  const env: Record<string, string> = readsOnly && !refreshes ? { ZYPP_READONLY_HACK: "1" } : {};
  let result = await runProgram(command, context, { env });
  for (let tries = 1; result.retcode === LOCKED && tries < LOCK_TRIES; tries++) {
    await fireBlocked(context);
    await sleep(run.lockWaitMs ?? LOCK_WAIT_MS, context.signal);
    result = await runProgram(command, context, { env });
    if (result.retcode !== LOCKED) {
      await fire({ success: true, info: "Zypper has been released" }, "zypper/released", context);
    }
  }
  if (run.successes?.includes(result.retcode)) return { ...result, retcode: 0 };
  if (isFailure(result.retcode)) {
    context.setRetcode(result.retcode);
    if (!run.soft) throw new CommandError(`Zypper command failure: ${reasonOf(result, isXml)}`);
  }
  return result;
}

/**
 * The same, returns the XML document that zypper prints.
 * @throws {CommandError} Also if it prints none.
 */
export async function zypperXml(
  words: readonly string[],
  context: JobContext,
  run: ZypperRun = {},
): Promise<XmlElement> {
  const { stdout } = await runZypper(["--xmlout", ...words], context, run);
  try {
    return parseXml(stdout);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CommandError(`zypper printed no XML: ${error.message}`);
  }
}

/** The attributes of all elements of that name. */
export function attributesOf(document: XmlElement, name: string): ReadonlyMap<string, string>[] {
  return [...elementsNamed(document, name)].map(({ attributes }) => attributes);
}

function isFailure(retcode: number): boolean {
  return !SUCCESSES.includes(retcode) && !WARNINGS.includes(retcode);
}

function reasonOf({ stdout, stderr }: ProgramResult, isXml: boolean): string {
  const fallback = "Check Zypper's logs.";
  if (!isXml) return (stderr.trim() + stdout.trim()) || fallback;
  try {
    const errors = [...elementsNamed(parseXml(stdout), "message")].filter(({ attributes }) =>
      attributes.get("type") === "error"
    );
    return errors.map(({ text }) => text).join("\n") || fallback;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return stderr.trim() || fallback;
  }
}

async function fireBlocked(context: JobContext): Promise<void> {
  const pid = readTextFileIfExists(LOCK_FILE)?.trim();
  const info = pid === undefined
    ? "Zypper is locked, but no Zypper lock has been found."
    : `Zypper is locked by the process ${pid}`;
  await fire({ info, success: pid !== undefined }, "zypper/blocked", context);
}

/** Tells the master, if there is one. */
async function fire(data: Readonly<Record<string, Value>>, tag: string, context: JobContext): Promise<void> {
  await context.call("event.fire_master", [map(data), tag]);
}
