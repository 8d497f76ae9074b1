/**
 * Execution module `alternatives`: which of several programs a common name leads to.
 * Source: the functions of Salt 3008.3 `salt/modules/alternatives.py`; update-alternatives(1).
 * @module
 */

import { runTool } from "./_file_host.ts";
import { linkTarget } from "#lib/os/disk_paths.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { parseLink } from "#lib/programs/alternatives.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { splitLines } from "#lib/text/split_lines.ts";

export const virtual: Virtual = {
  serves: [{
    programs: ["update-alternatives", "alternatives"],
    otherwise: "Cannot load alternatives module: there is no update-alternatives",
  }],
};

function family({ grains }: JobContext): string {
  return String(grains.get("os_family") ?? "");
}

function run(context: JobContext, words: readonly string[], ignoreRetcode = false) {
  const program = family(context) === "RedHat" ? "alternatives" : "update-alternatives";
  return runTool(context, [program, ...words], { ignoreRetcode });
}

const NAME = { name: p.str() };
const PATH = { name: p.str(), path: p.str() };

export const display: ModuleFunction<JobContext> = fn({
  doc: describe("Return information about a name.", "alternatives.display editor"),
  outputter: "txt",
  permissions: "all",
  params: NAME,
  run: async ({ name }, context) => {
    const { retcode, stdout, stderr } = await run(context, ["--display", name], true);
    return retcode > 0 && stderr !== "" ? stderr : stdout;
  },
});

export const show_link: ModuleFunction<JobContext> = fn({
  doc: describe("Return the link of a name; False if there is none.", "alternatives.show_link editor"),
  permissions: "all",
  params: NAME,
  run: async ({ name }, context) => {
    const directories: Readonly<Record<string, string>> = {
      RedHat: "/var/lib/alternatives",
      Suse: "/var/lib/rpm/alternatives",
    };
    const os = family(context);
    if (!Object.hasOwn(directories, os)) {
      const { retcode, stdout, stderr } = await run(context, ["--query", name], true);
      return retcode > 0 && stderr !== "" ? false : parseLink(stdout) ?? false;
    }
    try {
      return splitLines(await Deno.readTextFile(`${directories[os]}/${name}`)).at(1) ?? false;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      context.log("error", `alternatives: ${name} does not exist`);
      return false;
    }
  },
});

export const show_current: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the current program of a name; False if there is no such name.",
    "alternatives.show_current editor",
  ),
  permissions: "all",
  params: NAME,
  run: ({ name }) => linkTarget(`/etc/alternatives/${name}`) ?? false,
});

export const check_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a program is an alternative for a name.", "alternatives.check_exists name path"),
  permissions: "all",
  params: PATH,
  run: async ({ name, path }, context) => {
    const { retcode, stdout, stderr } = await run(context, ["--display", name], true);
    return !(retcode > 0 && stderr !== "") && splitLines(stdout).some((line) => line.startsWith(path));
  },
});

export const check_installed: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a program is the current one of a name.", "alternatives.check_installed name path"),
  permissions: "all",
  params: PATH,
  run: ({ name, path }) => linkTarget(`/etc/alternatives/${name}`) === path,
});

export const install: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a program as an alternative for a name.",
    "alternatives.install editor /usr/bin/editor /usr/bin/emacs23 50",
  ),
  outputter: "txt",
  permissions: "all",
  params: { name: p.str(), link: p.str(), path: p.str(), priority: p.int() },
  run: async ({ name, link, path, priority }, context) => {
    const { retcode, stdout, stderr } = await run(context, ["--install", link, name, path, String(priority)]);
    return retcode > 0 && stderr !== "" ? stderr : stdout;
  },
});

export const remove: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a program from the alternatives for a name.", "alternatives.remove name path"),
  outputter: "txt",
  permissions: "all",
  params: PATH,
  run: async ({ name, path }, context) => {
    const { retcode, stdout, stderr } = await run(context, ["--remove", name, path]);
    return retcode > 0 ? stderr : stdout;
  },
});

export const auto: ModuleFunction<JobContext> = fn({
  doc: describe("Let the alternative with the highest priority be the current one.", "alternatives.auto name"),
  permissions: "all",
  params: NAME,
  run: async ({ name }, context) => {
    const { retcode, stdout, stderr } = await run(context, ["--auto", name]);
    return retcode > 0 ? stderr : stdout;
  },
});

export const set: ModuleFunction<JobContext> = fn({
  doc: describe("Let a program be the current alternative for a name.", "alternatives.set editor /usr/bin/emacs23"),
  permissions: "all",
  params: PATH,
  run: async ({ name, path }, context) => {
    const { retcode, stdout, stderr } = await run(context, ["--set", name, path]);
    return retcode > 0 ? stderr : stdout;
  },
});
