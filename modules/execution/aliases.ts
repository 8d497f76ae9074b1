/**
 * Execution module `aliases`: the file of mail aliases, by default `/etc/aliases`; the option `aliases.file` names
 * another. Source: the functions of Salt 3008.3 `salt/modules/aliases.py`.
 * @module
 */

import { type AliasLine, formatAliases, parseAliases } from "#lib/host/etc_files/aliases_file.ts";
import { InvocationError } from "#lib/errors.ts";
import { readUtf8File, replaceFile } from "#lib/host/filesystem/contents.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { which } from "#lib/programs/which.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { str, type Value } from "#lib/values/value.ts";

async function aliasesFile({ call }: JobContext): Promise<string> {
  return realPath(str(await call("config.option", ["aliases.file"])));
}

async function readLines(context: JobContext): Promise<AliasLine[]> {
  const path = await aliasesFile(context);
  return isFile(path) ? parseAliases(readUtf8File(path)) : [];
}

/** The targets by name. */
async function targets(context: JobContext): Promise<Map<string, string>> {
  const lines = await readLines(context);
  return new Map(lines.flatMap(({ alias = "", target }) => alias.trim() === "" ? [] : [[alias, target]]));
}

/** Writes the file, and has the mail system read it if that has a program to. */
async function writeLines(lines: readonly AliasLine[], context: JobContext): Promise<void> {
  replaceFile(await aliasesFile(context), new TextEncoder().encode(formatAliases(lines)), { mode: 0o644 });
  const program = which("newaliases");
  if (program !== undefined) await context.call("cmd.run", [program]);
}

/** Several targets as one text. */
function targetText(target: Value): string {
  return Array.isArray(target) ? target.map(str).join(", ") : str(target);
}

function refuseEmpty(value: Value, name: string): void {
  if (value === "") throw new InvocationError(`${name} can not be an empty string`);
}

export const list_aliases: ModuleFunction<JobContext> = fn({
  doc: describe("Return the targets by alias.", "aliases.list_aliases"),
  outputter: "yaml",
  permissions: { read: true },
  params: {},
  run: (_bound, context) => targets(context),
});

export const get_target: ModuleFunction<JobContext> = fn({
  doc: describe("Return the target of an alias; empty text if there is none.", "aliases.get_target alias"),
  outputter: "txt",
  permissions: { read: true },
  params: { alias: p.str() },
  run: async ({ alias }, context) => (await targets(context)).get(alias) ?? "",
});

export const has_target: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether an alias has a target, or exactly the targets of a list.",
    "aliases.has_target alias target",
  ),
  outputter: "txt",
  permissions: { read: true },
  params: { alias: p.str(), target: p.any() },
  async run({ alias, target }, context) {
    refuseEmpty(target, "target");
    return (await targets(context)).get(alias) === targetText(target);
  },
});

export const set_target: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the target of an alias, or a list of targets. The alias may be new.",
    "aliases.set_target alias target",
  ),
  outputter: "txt",
  permissions: "all",
  params: { alias: p.str(), target: p.any() },
  async run({ alias, target }, context) {
    refuseEmpty(alias, "alias");
    refuseEmpty(target, "target");
    const lines = await readLines(context);
    const first = lines.findIndex((line) => line.alias === alias);
    if (lines.findLast((line) => line.alias === alias)?.target === target) return true;
    const now = { alias, target: targetText(target), comment: first < 0 ? "" : lines[first].comment };
    const others = lines.filter((line, i) => line.alias !== alias || i === first);
    await writeLines(first < 0 ? [...others, now] : others.with(others.indexOf(lines[first]), now), context);
    return true;
  },
});

export const rm_alias: ModuleFunction<JobContext> = fn({
  doc: describe("Remove an alias.", "aliases.rm_alias alias"),
  outputter: "txt",
  permissions: "all",
  params: { alias: p.str() },
  async run({ alias }, context) {
    const lines = await readLines(context);
    const target = lines.findLast((line) => line.alias === alias)?.target ?? "";
    if (target !== "") await writeLines(lines.filter((line) => line.alias !== alias), context);
    return true;
  },
});
