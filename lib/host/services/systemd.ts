/**
 * The units of systemd, and the scripts of System V's init that it starts as services.
 * Source: Salt 3008.3, `salt/modules/systemd_service.py`; systemctl(1).
 * @module
 */

import { currentRunlevel, initScriptPath, initScripts, listNamesIn, startedIn } from "./init_scripts.ts";
import { serviceName } from "./service_names.ts";
import * as output from "./systemctl_output.ts";
import { CommandError } from "#lib/errors.ts";
import { checkedWord, type ProgramResult, requireProgram, runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { isMap, str, type ValueMap } from "#lib/values/value.ts";

const UNIT_DIRECTORIES = ["/lib/systemd/system", "/usr/lib/systemd/system"];
const LOCAL_UNITS = "/etc/systemd/system";
/** The first version whose `systemctl status` has a return code for missing units. */
const STATUS_CODE_VERSION = 231;

/** Options of an action on a unit. */
export interface UnitOptions {
  /** The root directory of another system. */
  readonly root?: string | null;
  /** Whether to return before the action ends. */
  readonly noBlock?: boolean;
}

function systemctl(
  words: readonly string[],
  context: JobContext,
  { root = null, noBlock, scope }: UnitOptions & { readonly scope?: boolean } = {},
): Promise<ProgramResult> {
  const inScope = scope && hasScope(context) ? [requireProgram("systemd-run"), "--scope"] : [];
  const options = [...noBlock ? ["--no-block"] : [], ...root ? ["--root", checkedWord(root, "root directory")] : []];
  return runProgram([...inScope, requireProgram("systemctl"), ...options, ...words], context);
}

/** Whether systemd can give a program its own scope, so that a restart of the minion does not end it. */
function hasScope({ grains, opts }: JobContext): boolean {
  const wanted = opts.extra.get("systemd.scope");
  return wanted !== false && grains.get("init") === "systemd" && version(grains) >= 205;
}

function version(grains: ValueMap): number {
  const systemd = grains.get("systemd");
  return isMap(systemd) ? Number(str(systemd.get("version") ?? "0")) || 0 : 0;
}

/**
 * Whether this process runs in a system that systemd has not booted: a chroot. The directory may be empty;
 * sd_booted(3).
 */
export function isOffline(): boolean {
  return which("systemctl") !== undefined && !isDirectory("/run/systemd/system");
}

async function statusText(name: string, context: JobContext): Promise<ProgramResult> {
  return await systemctl(["status", output.unitName(serviceName(name)), "-n", "0"], context);
}

async function isKnown(name: string, context: JobContext): Promise<boolean> {
  const { retcode, stdout, stderr } = await statusText(name, context);
  if (version(context.grains) >= STATUS_CODE_VERSION) return retcode >= 0 && retcode < 4;
  const loaded = output.parseLoaded(`${stdout}\n${stderr}`);
  if (loaded !== undefined) return loaded;
  throw new CommandError(`Failed to get information on unit '${name}'`);
}

/** Reads changed units, as systemd asks for: one whose file has changed, or one that it does not know yet. */
async function readChanges(name: string, context: JobContext): Promise<void> {
  const isNew = isFile(`${LOCAL_UNITS}/${output.unitName(serviceName(name))}`) && !await isKnown(name, context);
  const { stdout, stderr } = await statusText(name, context);
  if (isNew || `${stdout}${stderr}`.toLowerCase().includes("'systemctl daemon-reload'")) await reloadSystemd(context);
}

/**
 * Makes systemd reload its units.
 * @throws {CommandError} If it fails.
 */
export async function reloadSystemd(context: JobContext): Promise<void> {
  const { retcode, stdout, stderr } = await systemctl(["--system", "daemon-reload"], context);
  if (retcode !== 0) throw new CommandError(`Problem performing systemctl daemon-reload: ${stdout || stderr}`);
}

/** Whether there is such a unit. */
export async function isAvailable(name: string, context: JobContext): Promise<boolean> {
  await readChanges(name, context);
  return await isKnown(name, context);
}

function unitsOf(root: string | null): Set<string> {
  const files = [...UNIT_DIRECTORIES, LOCAL_UNITS].flatMap((directory) => listNamesIn(initScriptPath(directory, root)));
  return new Set(files.flatMap((file) => output.listedName(file) ?? []));
}

/** The scripts of init that are not units as well. */
export function onlyScripts(root: string | null, units: ReadonlySet<string> = unitsOf(root)): string[] {
  return initScripts(root).filter((name) => !units.has(name));
}

/** All units and scripts, sorted. */
export function allUnits(root: string | null = null): string[] {
  const units = unitsOf(root);
  return [...new Set([...units, ...onlyScripts(root, units)])].sort();
}

/** The running units, sorted. */
export async function runningUnits(context: JobContext): Promise<string[]> {
  const { stdout } = await systemctl(["--full", "--no-legend", "--no-pager"], context);
  return [...new Set(output.parseRunning(stdout))].sort();
}

/** The units whose files are in that state, sorted; scripts by whether the runlevel starts them. */
export async function unitsInState(
  state: "enabled" | "disabled" | "static",
  context: JobContext,
  root: string | null,
): Promise<string[]> {
  const { stdout } = await systemctl(["--full", "--no-legend", "--no-pager", "list-unit-files"], context, { root });
  const scripts = state === "static" ? [] : onlyScripts(root);
  const started = scripts.length === 0 ? [] : startedIn(await currentRunlevel(context), root);
  const chosen = scripts.filter((name) => started.includes(name) === (state === "enabled"));
  return [...new Set([...output.parseUnitFiles(stdout, state), ...chosen])].sort();
}

/** Unmasks a unit first, by the arguments `unmask` and `unmask_runtime` of other functions. */
export interface Unmasking {
  readonly unmask: boolean;
  readonly unmaskRuntime: boolean;
}

async function unmaskFirst(
  name: string,
  { unmask: always, unmaskRuntime }: Unmasking,
  context: JobContext,
  root: string | null = null,
): Promise<void> {
  if (always) await unmask(name, context, { runtime: false, root });
  if (unmaskRuntime) await unmask(name, context, { runtime: true, root });
}

/**
 * Starts, restarts or reloads a unit.
 * @throws {CommandError} With systemctl's message.
 */
export async function actOn(
  action: "start" | "restart" | "reload" | "force-reload",
  name: string,
  context: JobContext,
  options: UnitOptions & Unmasking,
): Promise<true> {
  await readChanges(name, context);
  await unmaskFirst(name, options, context);
  const { noBlock } = options;
  const { retcode, stderr } = await systemctl([action, output.unitName(name)], context, { noBlock, scope: true });
  if (retcode !== 0) throw new CommandError(output.withoutScope(stderr));
  return true;
}

/**
 * Stops a unit.
 * @returns Whether systemctl succeeded.
 */
export async function stop(name: string, context: JobContext, noBlock: boolean): Promise<boolean> {
  await readChanges(name, context);
  return (await systemctl(["stop", output.unitName(name)], context, { noBlock, scope: true })).retcode === 0;
}

/** Whether a unit is active. */
export async function isActive(name: string, context: JobContext): Promise<boolean> {
  await readChanges(name, context);
  return (await systemctl(["is-active", output.unitName(name)], context)).retcode === 0;
}

/**
 * Enables a unit.
 * @returns Whether this succeeded.
 * @throws {CommandError}
 */
export async function enable(
  name: string,
  context: JobContext,
  options: UnitOptions & Unmasking,
): Promise<boolean> {
  const { root = null, noBlock } = options;
  await readChanges(name, context);
  await unmaskFirst(name, options, context, root);
  if (onlyScripts(root).includes(name)) return await switchScript(name, true, context);
  const { retcode, stderr } = await systemctl(["enable", output.unitName(name)], context, {
    root,
    noBlock,
    scope: true,
  });
  if (retcode !== 0) throw new CommandError(output.withoutScope(stderr));
  return true;
}

/**
 * Disables a unit.
 * @returns Whether this succeeded.
 */
export async function disable(name: string, context: JobContext, options: UnitOptions): Promise<boolean> {
  const { root = null, noBlock } = options;
  await readChanges(name, context);
  if (onlyScripts(root).includes(name)) return await switchScript(name, false, context);
  return (await systemctl(["disable", output.unitName(name)], context, { root, noBlock, scope: true })).retcode === 0;
}

async function switchScript(name: string, on: boolean, context: JobContext): Promise<boolean> {
  const inScope = hasScope(context) ? ["systemd-run", "--scope"] : [];
  const words = which("update-rc.d") !== undefined
    ? ["update-rc.d", "-f", name, ...on ? ["defaults", "99"] : ["remove"]]
    : which("chkconfig") !== undefined
    ? ["chkconfig", name, on ? "on" : "off"]
    : undefined;
  if (words === undefined) {
    throw new CommandError("Unable to find sysv service manager (tried update-rc.d, chkconfig)");
  }
  return (await runProgram([...inScope, ...words], context)).retcode === 0;
}

/** Whether a unit is enabled. */
export async function isEnabled(name: string, context: JobContext, root: string | null): Promise<boolean> {
  const unit = output.unitName(serviceName(name));
  const { retcode, stdout } = await systemctl(["is-enabled", unit], context, { root });
  if (retcode === 0 && stdout !== "alias") return true;
  if (stdout === "alias") {
    const id = (await systemctl(["show", unit, "-P", "Id"], context, { root })).stdout;
    return (await systemctl(["is-enabled", output.unitName(serviceName(id))], context, { root })).retcode === 0;
  }
  // The link of an instance of a template unit.
  if (name.includes("@")) return hasLink(LOCAL_UNITS, name);
  if (onlyScripts(root).includes(name)) return startedIn(await currentRunlevel(context), root).includes(name);
  return false;
}

function hasLink(directory: string, name: string): boolean {
  return listNamesIn(directory).some((entry) => {
    const { isSymlink, isDirectory } = Deno.lstatSync(`${directory}/${entry}`);
    return isSymlink ? entry === name : isDirectory && hasLink(`${directory}/${entry}`, name);
  });
}

/** Masking: permanently, or until the next boot. */
export interface MaskOptions {
  readonly runtime: boolean;
  readonly root: string | null;
}

/** Whether a unit is masked. */
export async function isMasked(name: string, context: JobContext, { runtime, root }: MaskOptions): Promise<boolean> {
  await readChanges(name, context);
  const path = initScriptPath(`${runtime ? "/run" : "/etc"}/systemd/system/${output.unitName(name)}`, root);
  try {
    return Deno.readLinkSync(path) === "/dev/null";
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) context.log("debug", `${path} is not a link`);
    return false;
  }
}

/**
 * Masks a unit.
 * @throws {CommandError} If systemctl fails.
 */
export async function mask(name: string, context: JobContext, { runtime, root }: MaskOptions): Promise<true> {
  await readChanges(name, context);
  const words = ["mask", ...runtime ? ["--runtime"] : [], output.unitName(name)];
  const { retcode, stdout, stderr } = await systemctl(words, context, { root, scope: true });
  if (retcode === 0) return true;
  const message = [stdout, stderr].filter(Boolean).join("\n");
  throw new CommandError(
    `Failed to mask service '${name}'${message === "" ? "" : `. Additional info follows:\n\n${message}`}`,
  );
}

/**
 * Unmasks a unit.
 * @throws {CommandError} If systemctl fails.
 */
export async function unmask(name: string, context: JobContext, options: MaskOptions): Promise<true> {
  if (!await isMasked(name, context, options)) return true;
  const words = ["unmask", ...options.runtime ? ["--runtime"] : [], output.unitName(name)];
  const { retcode } = await systemctl(words, context, { root: options.root, scope: true });
  if (retcode === 0) return true;
  throw new CommandError(`Failed to unmask service '${name}'`);
}

/** The properties of a unit from `systemctl show`; empty strings for a missing unit. */
export async function unitProperties(name: string, context: JobContext, root: string | null): Promise<ValueMap> {
  const { stdout } = await systemctl(["show", output.unitName(serviceName(name))], context, { root });
  return output.parseProperties(stdout);
}
