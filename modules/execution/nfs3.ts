/**
 * Execution module `nfs3`: what a server of NFS exports.
 * Source: the functions of Salt 3008.3 `salt/modules/nfs3.py`; exports(5).
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { type ExportClient, ExportsFile } from "#lib/host/etc_files/exports_file.ts";
import { replaceFile } from "#lib/host/filesystem/contents.ts";
import { asCommandError } from "#lib/os/command_error.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import { asListIfTruthy } from "#lib/values/shape.ts";
import { str, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{
    programs: ["showmount"],
    otherwise: "The nfs3 execution module failed to load: the showmount binary is not in the path.",
  }],
};

const EXPORTS = { exports: p.str("/etc/exports") };

function open(exports: string): ExportsFile {
  try {
    return new ExportsFile(Deno.readTextFileSync(exports));
  } catch (error) {
    throw asCommandError(error, exports);
  }
}

function save(exports: string, text: string): void {
  try {
    replaceFile(realPath(exports), new TextEncoder().encode(text));
  } catch (error) {
    throw asCommandError(error, exports);
  }
}

/** @throws {InvocationError} If a word would be more than one in the file. */
function checkedPart(word: string, what: string): string {
  if (word !== "" && !/[\s()#,\\"\0]/.test(word)) return word;
  throw new InvocationError(`Invalid ${what}: ${JSON.stringify(word)}`);
}

/** Options as a list, or as a text with commas. */
function optionList(options: Value): string[] {
  return asListIfTruthy(options).flatMap((one) => str(one).split(",")).map((one) => checkedPart(one, "option"));
}

export const list_exports: ModuleFunction<JobContext> = fn({
  doc: describe("Return the exported paths with the hosts that may use them, and their options.", "nfs3.list_exports"),
  permissions: "all",
  params: EXPORTS,
  run: ({ exports }) => open(exports).exports(),
});

export const del_export: ModuleFunction<JobContext> = fn({
  doc: describe("Remove an export. Return those that are left.", "nfs3.del_export path=/media/storage"),
  permissions: "all",
  params: { ...EXPORTS, path: p.str(null) },
  run({ exports, path }) {
    const file = open(exports);
    const left = file.exports();
    if (path === null || !left.delete(path)) throw new CommandError(`${path ?? "None"} is not exported`);
    save(exports, file.withExport(path, undefined));
    return left;
  },
});

export const add_export: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add hosts to the export of a path. Return them with their options.",
    "nfs3.add_export path='/srv/test' hosts='127.0.0.1' options=['rw']",
  ),
  permissions: "all",
  params: { ...EXPORTS, path: p.str(null), hosts: p.any(null), options: p.any(null) },
  run({ exports, path, hosts, options }): ExportClient {
    if (typeof hosts !== "string") throw new InvocationError("hosts argument must be a string");
    const place = checkedPart(path ?? "", "path");
    if (!place.startsWith("/")) throw new InvocationError(`Invalid path: ${JSON.stringify(place)}`);
    const client = { hosts: checkedPart(hosts, "hosts"), options: optionList(options) };
    const file = open(exports);
    save(exports, file.withExport(place, [...file.exports().get(place) ?? [], client]));
    return client;
  },
});

export const reload_exports: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make the exports of the file active. Return what exportfs says, and whether it was done.",
    "nfs3.reload_exports",
  ),
  permissions: "all",
  params: {},
  async run(_, context) {
    const { stdout, stderr } = await runProgram(["exportfs", "-r"], context, { setsRetcode: true });
    return { stdout, stderr, result: stderr === "" };
  },
});
