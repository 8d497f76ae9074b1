/**
 * Execution module `quota`: how much of a file system users and groups may have.
 * Source: the functions of Salt 3008.3 `salt/modules/quota.py`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { parseModes, parseReport, parseStatistics } from "#lib/host/storage/quota_output.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{
    programs: ["setquota"],
    otherwise:
      "The quota execution module cannot be loaded: the module is only available on POSIX-like systems with the " +
      "setquota binary available.",
  }],
};

/** What a program writes to both of its outputs. */
async function outputOf(words: readonly string[], context: JobContext): Promise<string> {
  return (await runProgram(words, context, { joined: true, setsRetcode: true })).stdout;
}

async function reportQuotas(mount: string, kind: "Users" | "Groups", context: JobContext): Promise<ValueMap> {
  const option = kind === "Users" ? "-u" : "-g";
  return parseReport(await outputOf(["repquota", "-vp", option, checkedWord(mount, "mount point")], context), kind);
}

export const report: ModuleFunction<JobContext> = fn({
  doc: describe("Return the quotas of users and groups on a file system.", "quota.report /media/data"),
  permissions: "all",
  params: { mount: p.str() },
  run: async ({ mount }, context) =>
    new Map([[
      mount,
      map({
        "User Quotas": await reportQuotas(mount, "Users", context),
        "Group Quotas": await reportQuotas(mount, "Groups", context),
      }),
    ]]),
});

const LIMITS = ["block-soft-limit", "block-hard-limit", "file-soft-limit", "file-hard-limit"] as const;

const setLimits: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Set limits of a user or a group. Limits that are not given are kept; Salt clears them.

device
    The file system, by its mount point or device.

user, group
    One of them.

block-soft-limit, block-hard-limit, file-soft-limit, file-hard-limit
    In blocks of 1 KiB, and in files.`,
    "quota.set /media/data user=larry block-soft-limit=1048576",
    "quota.set /media/data group=painters file-hard-limit=1000",
  ),
  permissions: "all",
  params: { device: p.str() },
  varKwargs: "kwargs",
  run: async ({ device }, context, { kwargs }) => {
    const whose = (["user", "group"] as const).filter((one) => kwargs.has(one));
    if (whose.length > 1) throw new InvocationError("Please specify a user or group, not both.");
    const [kind] = whose;
    if (kind === undefined) throw new CommandError("A valid user or group was not found");
    const name = checkedWord(str(kwargs.get(kind) ?? ""), kind);
    const kinds = kind === "user" ? "Users" : "Groups";
    const quotas = (await reportQuotas(device, kinds, context)).get(kinds);
    const quota = isMap(quotas) ? quotas.get(name) : undefined;
    const now = mapOrEmpty(quota);
    const limits = new Map<Value, Value>(LIMITS.map((limit) => [limit, kwargs.get(limit) ?? now.get(limit) ?? 0]));
    const words = [
      ...["setquota", kind === "user" ? "-u" : "-g", name],
      ...[...limits.values()].map((limit) => checkedWord(str(limit), "limit")),
      checkedWord(device, "device"),
    ];
    const { retcode, stderr } = await runProgram(words, context, { setsRetcode: true });
    if (retcode !== 0) throw new CommandError(`Unable to set desired quota. Error follows: \n${stderr}`);
    return new Map([[`${kind === "user" ? "User" : "Group"}: ${name}`, limits]]);
  },
});

export { setLimits as set };

export const warn: ModuleFunction<JobContext> = fn({
  doc: describe("Send mails to users who exceed their limits, with `quotawarn`.", "quota.warn"),
  permissions: "all",
  params: {},
  run: async (_bound, context) => {
    await outputOf(["quotawarn"], context);
    return null;
  },
});

export const stats: ModuleFunction<JobContext> = fn({
  doc: describe("Return the kernel's quota statistics, from `quotastats`.", "quota.stats"),
  permissions: "all",
  params: {},
  run: async (_bound, context) => parseStatistics(await outputOf(["quotastats"], context)),
});

function switchingFunction(program: "quotaon" | "quotaoff", what: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      `Turn quotas ${what} on a file system. Always returns True.`,
      `quota.${what} /media/data`,
    ),
    permissions: "all",
    params: { device: p.str() },
    run: async ({ device }, context) => {
      await outputOf([program, checkedWord(device, "device")], context);
      return true;
    },
  });
}

export const on: ModuleFunction<JobContext> = switchingFunction("quotaon", "on");
export const off: ModuleFunction<JobContext> = switchingFunction("quotaoff", "off");

export const get_mode: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether quotas are on, by mount point.", "quota.get_mode /media/data"),
  permissions: "all",
  params: { device: p.str() },
  run: async ({ device }, context) =>
    parseModes(await outputOf(["quotaon", "-p", checkedWord(device, "device")], context), device),
});
