/**
 * Execution module `system`: stopping the host, its clock, and its names. Source: the functions of Salt 3008.3
 * `salt/modules/system.py` for Linux; those for NI Linux Real-Time return an error.
 * @module
 */

import { runForText, runTool } from "./_file_host.ts";
import { CommandError, InvocationError, messageOf } from "#lib/errors.ts";
import { replaceFile } from "#lib/host/filesystem/contents.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { clockNow, clockText, dateDigits, parseClock, parseDay, type WallClock } from "#lib/host/kernel/clock.ts";
import { prettyName, withPrettyName } from "#lib/host/kernel/machine_info.ts";
import { str, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ grains: { kernel: ["Linux"] }, otherwise: "This module is available on Linux alone" }],
};

/** A function that runs one program without arguments. */
function programFunction(name: string, what: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`${what} Return what \`${name}\` says.`, `system.${name}`),
    permissions: "all",
    params: {},
    run: (_bound, context) => runForText(context, [name]),
  });
}

export const halt: ModuleFunction<JobContext> = programFunction("halt", "Halt the host.");
export const poweroff: ModuleFunction<JobContext> = programFunction("poweroff", "Power the host off.");

export const init: ModuleFunction<JobContext> = fn({
  doc: describe("Change to a runlevel.", "system.init 3"),
  permissions: "all",
  params: { runlevel: p.any() },
  run: ({ runlevel }, context) => runForText(context, ["init", checkedWord(str(runlevel), "runlevel")]),
});

function shutdownFunction(name: string, flag: string, what: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      `${what} at a time in the notation of \`shutdown\`, by default now.`,
      `system.${name}`,
      `system.${name} 5`,
    ),
    permissions: "all",
    params: { at_time: p.any(null) },
    run({ at_time }, context) {
      const when = at_time === null || at_time === "" || at_time === 0 || at_time === false ? "now" : str(at_time);
      return runForText(context, ["shutdown", flag, checkedWord(when, "time")]);
    },
  });
}

export const reboot: ModuleFunction<JobContext> = shutdownFunction("reboot", "-r", "Start the host again");
export const shutdown: ModuleFunction<JobContext> = shutdownFunction("shutdown", "-h", "Shut the host down");

async function canSetHardwareClock(context: JobContext): Promise<boolean> {
  if (which("hwclock") === undefined) return false;
  return (await runTool(context, ["hwclock", "--test", "--systohc"], { ignoreRetcode: true })).retcode === 0;
}

export const has_settable_hwclock: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether the host has a clock of its own that can be set.", "system.has_settable_hwclock"),
  permissions: "all",
  params: {},
  run: (_bound, context) => canSetHardwareClock(context),
});

const OFFSET = { utc_offset: p.str(null) };
const OFFSET_DOC = "utc_offset is +HHMM or -HHMM; without it the time is the host's own.";

function clockFunction(name: string, format: string, what: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return ${what}. ${OFFSET_DOC}`, `system.${name}`, `system.${name} "'-0500'"`),
    params: OFFSET,
    run: ({ utc_offset }) => clockText(clockNow(utc_offset), format),
  });
}

export const get_system_time: ModuleFunction<JobContext> = clockFunction("get_system_time", "%I:%M:%S %p", "the time");
export const get_system_date: ModuleFunction<JobContext> = clockFunction("get_system_date", "%a %m/%d/%Y", "the date");
export const get_system_date_time: ModuleFunction<JobContext> = clockFunction(
  "get_system_date_time",
  "%Y-%m-%d %H:%M:%S",
  "date and time",
);

/**
 * Sets the clock of the system, and then the host's own if it can be set.
 * @throws {CommandError}
 */
async function setClock(change: Partial<WallClock>, utc_offset: string | null, context: JobContext): Promise<boolean> {
  const now = clockNow(utc_offset);
  const digits = dateDigits({ ...now, ...change }, now.offset);
  const command = ["date", ...now.offset === undefined ? [] : ["-u"]];
  const first = await runTool(context, [...command, digits.withSeconds]);
  // POSIX knows no seconds.
  if (first.retcode !== 0 && (await runTool(context, [...command, digits.withoutSeconds])).retcode !== 0) {
    throw new CommandError(`date failed: ${first.stderr}`);
  }
  if (await canSetHardwareClock(context)) {
    const { retcode, stderr } = await runTool(context, ["hwclock", "--systohc"]);
    if (retcode !== 0) {
      context.log("warning", `hwclock failed to set hardware clock from software clock: ${stderr}`);
    }
  }
  return true;
}

export const set_system_time: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Set the time: 11:20, 11:20:30, 11:20 AM. Return whether this succeeded. ${OFFSET_DOC}`,
    `system.set_system_time "'11:20 AM'"`,
  ),
  permissions: "all",
  params: { newtime: p.str(), ...OFFSET },
  run({ newtime, utc_offset }, context) {
    const time = parseClock(newtime);
    return time === undefined ? false : setClock(time, utc_offset, context);
  },
});

export const set_system_date: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Set the date: 2015-03-13, 03-13-15, 03/13/2015. Return whether this succeeded. ${OFFSET_DOC}`,
    `system.set_system_date "'03-28-13'"`,
  ),
  permissions: "all",
  params: { newdate: p.str(), ...OFFSET },
  run({ newdate, utc_offset }, context) {
    const day = parseDay(newdate);
    if (day === undefined) throw new InvocationError("Invalid date format");
    return setClock(day, utc_offset, context);
  },
});

export const set_system_date_time: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Set date and time; parts that are not given are kept. Return whether this succeeded. ${OFFSET_DOC}`,
    `system.set_system_date_time 2015 5 12 11 37 53 "'-0500'"`,
  ),
  permissions: "all",
  params: {
    years: p.int(null),
    months: p.int(null),
    days: p.int(null),
    hours: p.int(null),
    minutes: p.int(null),
    seconds: p.int(null),
    ...OFFSET,
  },
  run({ utc_offset, ...given }, context) {
    const change = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
    return setClock(change, utc_offset, context);
  },
});

const MACHINE_INFO = "/etc/machine-info";

export const get_computer_desc: ModuleFunction<JobContext> = fn({
  doc: describe("Return the host's pretty name; False if it has none.", "system.get_computer_desc"),
  permissions: "all",
  params: {},
  async run(_bound, context) {
    const hostnamectl = which("hostnamectl");
    const pretty = hostnamectl === undefined
      ? prettyName(readTextFileIfExists(MACHINE_INFO) ?? "")
      : await runForText(context, [hostnamectl, "status", "--pretty"]);
    if (pretty === undefined) return false;
    return pretty.replaceAll("\\\\", "\\").replaceAll('\\"', '"').replaceAll("\\n", "\n").replaceAll("\\t", "\t");
  },
});

export const set_computer_desc: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the host's pretty name. Return whether this succeeded.",
    `system.set_computer_desc "Michael's laptop"`,
  ),
  permissions: "all",
  params: { desc: p.str() },
  async run({ desc }, context) {
    const escaped = desc.replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("\t", "\\t");
    const hostnamectl = which("hostnamectl");
    if (hostnamectl !== undefined) {
      const words = [hostnamectl, "set-hostname", "--pretty", "--", escaped];
      return (await runTool(context, words)).retcode === 0;
    }
    try {
      const now = withPrettyName(readTextFileIfExists(MACHINE_INFO) ?? "", escaped);
      replaceFile(MACHINE_INFO, new TextEncoder().encode(now), { mode: 0o644 });
      return true;
    } catch (error) {
      context.log("error", `Cannot write ${MACHINE_INFO}: ${messageOf(error)}`);
      return false;
    }
  },
});

export const set_computer_name: ModuleFunction<JobContext> = fn({
  doc: describe("Change the host's name, as network.mod_hostname.", "system.set_computer_name master.saltstack.com"),
  permissions: "all",
  params: { hostname: p.str() },
  run: ({ hostname }, { call }) => call("network.mod_hostname", [hostname]),
});

export const get_computer_name: ModuleFunction<JobContext> = fn({
  doc: describe("Return the host's name.", "system.get_computer_name"),
  permissions: { sys: ["hostname"] },
  params: {},
  run: () => Deno.hostname(),
});

/** Salt has these functions on NI Linux Real-Time alone. */
function onNilrt(name: string, what: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`${what} Only for NI Linux Real-Time, which is not supported.`, `system.${name}`),
    params: {},
    run: (): Value => {
      throw new CommandError(`system.${name} is for NI Linux Real-Time alone`);
    },
  });
}

export const set_reboot_required_witnessed: ModuleFunction<JobContext> = onNilrt(
  "set_reboot_required_witnessed",
  "Note that a restart is needed.",
);
export const get_reboot_required_witnessed: ModuleFunction<JobContext> = onNilrt(
  "get_reboot_required_witnessed",
  "Return whether a restart is needed.",
);
