/**
 * Execution module `rvm`: Rubies and gemsets of RVM.
 * Source: the functions of Salt 3006.28 `salt/modules/rvm.py`, which Salt 3008 has no longer.
 * @module
 */

import { callRunAll } from "./_file_host.ts";
import { CommandError } from "#lib/errors.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { exists } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { isExecutableFile } from "#lib/programs/which.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

const INSTALLER = "https://raw.githubusercontent.com/rvm/rvm/master/binscripts/rvm-installer";

/** As whom rvm runs, where, and with which variables. */
interface Running {
  readonly runas: string | null;
  readonly cwd?: string | null;
  readonly env?: Value;
}

const RUNAS = { runas: p.str(null) };

/** The program of a user's own RVM, or that of all users. */
function rvmPath(runas: string | null): string {
  const own = runas ? expandUser(`~${runas}/.rvm/bin/rvm`) : undefined;
  return own !== undefined && exists(own) ? own : "/usr/local/rvm/bin/rvm";
}

/** What rvm prints; False if it fails or is not there. */
async function rvm(
  words: readonly string[],
  { runas, cwd, env }: Running,
  context: JobContext,
): Promise<string | false> {
  const set = runas ?? await context.call("config.option", ["rvm.runas"]);
  const user = truthy(set) ? str(set) : null;
  const program = rvmPath(user);
  if (!isExecutableFile(program)) return false;
  const more: ValueMap = map({ runas: user, cwd: cwd ?? null, env: env ?? null });
  const result = await callRunAll(context, [program, ...words], { more });
  return result.get("retcode") === 0 ? str(result.get("stdout") ?? "") : false;
}

/** Runs a command with a Ruby. */
function rvmDo(ruby: string, words: readonly string[], how: Running, context: JobContext): Promise<string | false> {
  return rvm([checkedWord(ruby || "default", "ruby"), "do", ...words], how, context);
}

/** The first group of a pattern, of each line that it matches. */
function matchesOf(output: string | false, pattern: RegExp): string[] {
  return splitLines(output || "").flatMap((line) => pattern.exec(line)?.[1] ?? []);
}

export const is_installed: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether RVM is installed.", "rvm.is_installed"),
  permissions: "all",
  params: RUNAS,
  run: ({ runas }) => isExecutableFile(rvmPath(runas)),
});

export const install: ModuleFunction<JobContext> = fn({
  doc: describe("Install RVM for all users, or with runas for one: its installer is fetched and run.", "rvm.install"),
  permissions: "all",
  params: RUNAS,
  async run({ runas }, context) {
    const kwargs = map({ runas, python_shell: true, shell: "/bin/sh" });
    const result = mapOrEmpty(await context.call("cmd.run_all", [`curl -Ls ${INSTALLER} | bash -s stable`], kwargs));
    if ((toNumber(result.get("retcode")) ?? 0) <= 0) return true;
    const stderr = str(result.get("stderr") ?? "");
    const more = stderr === "" ? "" : `. stderr follows:\n\n${stderr}`;
    throw new CommandError(`Error encountered while downloading the RVM installer${more}`);
  },
});

export const install_ruby: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install a Ruby, with options for rvm and variables. Another user than root gets no packages and no binaries.",
    "rvm.install_ruby 1.9.3-p385",
  ),
  permissions: "all",
  params: { ruby: p.str(), ...RUNAS, opts: p.list(null), env: p.any(null) },
  async run({ ruby, runas, opts, env }, context) {
    const options = listOrEmpty(opts).map(str);
    const word = checkedWord(ruby, "ruby");
    if (!runas || runas === "root") return await rvm(["install", word, ...options], { runas, env }, context);
    await rvm(["autolibs", "disable", word, ...options], { runas }, context);
    return await rvm(["install", word, ...options, "--disable-binary"], { runas, env }, context);
  },
});

export const reinstall_ruby: ModuleFunction<JobContext> = fn({
  doc: describe("Install a Ruby again.", "rvm.reinstall_ruby 1.9.3-p385"),
  permissions: "all",
  params: { ruby: p.str(), ...RUNAS, env: p.any(null) },
  run: ({ ruby, ...how }, context) => rvm(["reinstall", checkedWord(ruby, "ruby")], how, context),
});

export const list: ModuleFunction<JobContext> = fn({
  doc: describe("Return the installed Rubies: implementation, version, and whether it is the default.", "rvm.list"),
  permissions: "all",
  params: RUNAS,
  async run(how, context) {
    return splitLines(await rvm(["list"], how, context) || "").flatMap((line) => {
      const [, mark, name, version] = /^[= ]([*> ]) ([^- ]+)-([^ ]+) \[ (.*) \]/.exec(line) ?? [];
      return mark === undefined ? [] : [[name, version, mark === "*"]];
    });
  },
});

export const set_default: ModuleFunction<JobContext> = fn({
  doc: describe("Make a Ruby the default.", "rvm.set_default 2.0.0"),
  permissions: "all",
  params: { ruby: p.str(), ...RUNAS },
  run: ({ ruby, ...how }, context) => rvm(["alias", "create", "default", checkedWord(ruby, "ruby")], how, context),
});

export const get: ModuleFunction<JobContext> = fn({
  doc: describe("Update RVM to a version: stable, head.", "rvm.get"),
  permissions: "all",
  params: { version: p.str("stable"), ...RUNAS },
  run: ({ version, ...how }, context) => rvm(["get", checkedWord(version, "version")], how, context),
});

export const wrapper: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make wrappers of programs for a Ruby or a gemset, by default of ruby, gem, rake, irb, rdoc, ri and testrb.",
    "rvm.wrapper <ruby_string> <wrapper_prefix>",
  ),
  permissions: "all",
  params: { ruby_string: p.str(), wrapper_prefix: p.str(), ...RUNAS },
  varArgs: "binaries",
  run({ ruby_string, wrapper_prefix, ...how }, context, { args }) {
    const words = [ruby_string, wrapper_prefix, ...args.map(str)].map((word) => checkedWord(word, "name"));
    return rvm(["wrapper", ...words], how, context);
  },
});

export const rubygems: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install a version of rubygems in a Ruby; `remove`: the one that came with it.",
    "rvm.rubygems 2.0.0 1.8.24",
  ),
  permissions: "all",
  params: { ruby: p.str(), version: p.str(), ...RUNAS },
  run: ({ ruby, version, ...how }, context) => rvmDo(ruby, ["rubygems", checkedWord(version, "version")], how, context),
});

/** A function that changes a gemset. */
function changing(name: string, text: string, words: readonly string[]): ModuleFunction<JobContext> {
  return fn({
    doc: describe(text, `rvm.${name} 2.0.0 foobar`),
    permissions: "all",
    params: { ruby: p.str(), gemset: p.str(), ...RUNAS },
    run: ({ ruby, gemset, ...how }, context) =>
      rvmDo(ruby, ["rvm", ...words, checkedWord(gemset, "gemset")], how, context),
  });
}

export const gemset_create: ModuleFunction<JobContext> = changing("gemset_create", "Make a gemset.", [
  "gemset",
  "create",
]);
export const gemset_delete: ModuleFunction<JobContext> = changing(
  "gemset_delete",
  "Remove a gemset.",
  ["--force", "gemset", "delete"],
);
export const gemset_empty: ModuleFunction<JobContext> = changing(
  "gemset_empty",
  "Remove all gems of a gemset.",
  ["--force", "gemset", "empty"],
);

export const gemset_list: ModuleFunction<JobContext> = fn({
  doc: describe("Return the gemsets of a Ruby.", "rvm.gemset_list"),
  permissions: "all",
  params: { ruby: p.str("default"), ...RUNAS },
  run: async ({ ruby, ...how }, context) =>
    matchesOf(await rvmDo(ruby, ["rvm", "gemset", "list"], how, context), /^ {3}([^ ]+)/),
});

export const gemset_copy: ModuleFunction<JobContext> = fn({
  doc: describe("Copy the gems of a gemset, named with its Ruby, to another.", "rvm.gemset_copy foobar bazquo"),
  permissions: "all",
  params: { source: p.str(), destination: p.str(), ...RUNAS },
  run: ({ source, destination, ...how }, context) =>
    rvm(["gemset", "copy", checkedWord(source, "gemset"), checkedWord(destination, "gemset")], how, context),
});

export const gemset_list_all: ModuleFunction<JobContext> = fn({
  doc: describe("Return the gemsets by Ruby; there must be a default one.", "rvm.gemset_list_all"),
  permissions: "all",
  params: RUNAS,
  async run(how, context) {
    const gemsets = new Map<Value, Value[]>();
    let current: string[] | undefined;
    for (const line of splitLines(await rvmDo("default", ["rvm", "gemset", "list_all"], how, context) || "")) {
      const ruby = /^gemsets for ([^ ]+)/.exec(line)?.[1];
      if (ruby !== undefined) gemsets.set(ruby, current = []);
      const gemset = /^ {3}([^ ]+)/.exec(line)?.[1];
      if (gemset !== undefined) current?.push(gemset);
    }
    return gemsets;
  },
});

export const do_: ModuleFunction<JobContext> = fn({
  doc: describe("Run a command with a Ruby. Return what it prints, or False if it fails.", "rvm.do 2.0.0 <command>"),
  permissions: "all",
  params: { ruby: p.str(), command: p.str(), ...RUNAS, cwd: p.str(null), env: p.any(null) },
  run: ({ ruby, command, ...how }, context) => rvmDo(ruby, shlexSplit(command), how, context),
});
