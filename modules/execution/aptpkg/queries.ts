/**
 * The functions of the module `pkg` of Debian that tell of packages: their files, states and descriptions.
 * Source: the functions of Salt 3008.3 `salt/modules/aptpkg.py`.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { CommandNotFoundError, InvocationError } from "#lib/errors.ts";
import { checkedWord, outputOf, runProgram } from "#lib/programs/run_program.ts";
import { which as findProgram } from "#lib/programs/which.ts";
import { lexists } from "#lib/os/file_kind.ts";
import * as apt from "#lib/host/debian_packages/apt.ts";
import * as dpkg from "#lib/host/debian_packages/dpkg.ts";
import { runApt } from "#lib/host/debian_packages/run_apt.ts";
import { parseSelections, parseServicesToRestart, parseShow } from "#lib/host/debian_packages/apt_output.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { refuseOtherKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { asList } from "#lib/values/shape.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";

export const file_list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the files of the named packages, or of all installed packages, as one list. This takes a while for many packages.",
    "pkg.file_list httpd",
    "pkg.file_list httpd postfix",
  ),
  permissions: "all",
  params: {},
  varArgs: "packages",
  varKwargs: "kwargs",
  run: async (_bound, context, { args }) => dpkg.asFileList(await dpkg.packageFiles(args.map(str), context)),
});

export const file_dict: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the files of the named packages, or of all installed packages, by package.",
    "pkg.file_dict httpd",
    "pkg.file_dict httpd postfix",
  ),
  permissions: "all",
  params: {},
  varArgs: "packages",
  varKwargs: "kwargs",
  run: async (_bound, context, { args }) => dpkg.asFilesByPackage(await dpkg.packageFiles(args.map(str), context)),
});

export const get_selections: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return dpkg's selections, the packages by their state: all, those that a pattern matches, or those in one state.",
    "pkg.get_selections",
    "pkg.get_selections 'python-*'",
    "pkg.get_selections state=hold",
  ),
  permissions: "all",
  params: { pattern: p.str(null), state: p.str(null) },
  async run({ pattern, state }, context) {
    const states = await dpkg.selections(context, pattern ?? "*");
    return state ? map({ [state]: states.get(state) ?? [] }) : new Map(states);
  },
});

const STATES = ["install", "hold", "deinstall", "purge"];

export const set_selections: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set dpkg's selections: a map of lists of packages by state in selection, or a file as dpkg --get-selections prints it in\n" +
      "path. clear=True forgets all others first. Return what has changed.",
    `pkg.set_selections selection='{"install": ["netcat"]}'`,
    `pkg.set_selections selection='{"hold": ["openssh-server", "openssh-client"]}'`,
    "pkg.set_selections /path/to/file",
    "pkg.set_selections /path/to/file clear=True",
  ),
  permissions: "all",
  params: { path: p.str(null), selection: p.any(null), clear: p.bool(false), saltenv: p.str("base") },
  async run({ path, selection, clear, saltenv }, context) {
    if (!path && !truthy(selection)) return {};
    if (path && truthy(selection)) {
      throw new InvocationError(
        "The 'selection' and 'path' arguments to pkg.set_selections are mutually exclusive, and cannot be specified together",
      );
    }
    const wanted = path ? await selectionFile(path, saltenv, context) : selectionMap(selection);
    const bad = [...wanted.keys()].filter((state) => !STATES.includes(state));
    if (bad.length > 0) throw new InvocationError(`Invalid state(s): ${bad.join(", ")}`);
    if (context.opts.test === true) return {};
    if (clear) await dpkg.clearSelections(context);
    const changes: ValueMap = new Map();
    for (const [state, names] of wanted) {
      for (const [name, change] of await dpkg.select(state, names, context)) changes.set(name, change);
    }
    return changes;
  },
});

async function selectionFile(path: string, saltenv: string, context: JobContext): Promise<Map<string, string[]>> {
  const local = path.startsWith("/") ? path : str(await context.call("cp.cache_file", [path], map({ saltenv })));
  return parseSelections(await Deno.readTextFile(local));
}

function selectionMap(given: Value): Map<string, string[]> {
  const value = typeof given === "string" ? loadYaml(given) : given;
  if (!isMap(value)) throw new InvocationError(`Improperly-formatted selection: ${str(given)}`);
  return new Map(
    [...value].map(([state, names]) => [str(state), asList(names).map(str)]),
  );
}

export const owner: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the package that a file belongs to, an empty string if it belongs to none; for several files, a map.",
    "pkg.owner /usr/bin/apachectl",
    "pkg.owner /usr/bin/apachectl /usr/bin/basename",
  ),
  permissions: "all",
  params: {},
  varArgs: "paths",
  varKwargs: "kwargs",
  async run(_bound, context, { args }) {
    const owners: ValueMap = new Map();
    for (const path of args.map(str)) {
      const { stdout } = await runProgram(["dpkg", "-S", checkedWord(path, "path")], context);
      const name = stdout.split(":", 1)[0];
      owners.set(path, name.toLowerCase().includes("no path found") ? "" : name);
    }
    return owners.size === 0 ? "" : owners.size === 1 ? [...owners.values()][0] : owners;
  },
});

export const show: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the repositories' data on packages, by name and version; filter: only these fields. refresh=True reads\n" +
      "the repositories first.",
    "pkg.show gawk",
    "pkg.show 'nginx' filter=description,maintainer",
  ),
  permissions: "all",
  params: {},
  varArgs: "names",
  varKwargs: "kwargs",
  async run(_bound, context, { args, kwargs }) {
    refuseOtherKeywords(kwargs, ["refresh", "filter"]);
    await apt.refreshIfAsked(kwargs, context, kwargs.get("refresh") ?? false);
    if (args.length === 0) return {};
    const filter = kwargs.get("filter");
    const wanted = filter === undefined ? [] : splitInput(filter).map((field) => field.toLowerCase());
    const names = args.map((name) => checkedWord(str(name), "package name"));
    return parseShow((await runApt(["apt-cache", "show", ...names], context, { scope: false })).stdout, wanted);
  },
});

/** Salt's names of dpkg's fields. */
const INFO_NAMES: Readonly<Record<string, string>> = {
  package: "name",
  origin: "vendor",
  section: "group",
  maintainer: "packager",
  homepage: "url",
};

/** Fields that `pkg.info_installed` does not show. */
const NOT_SHOWN = [
  "status",
  "installed_size",
  "depends",
  "recommends",
  "provides",
  "replaces",
  "conflicts",
  "bugs",
  "task",
];

export const info_installed: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return dpkg's information about the named packages, or about all installed packages. failhard=False leaves out packages that are not installed.",
    "pkg.info_installed <package1>",
    "pkg.info_installed <package1> <package2> <package3> ...",
    "pkg.info_installed <package1> failhard=false",
  ),
  permissions: "all",
  params: {},
  varArgs: "names",
  varKwargs: "kwargs",
  async run(_bound, context, { args, kwargs }) {
    refuseOtherKeywords(kwargs, ["failhard"]);
    const failhard = isTrue(kwargs.get("failhard") ?? true);
    const packages: ValueMap = new Map();
    for (const info of await dpkg.packageInfo(args.map(str), context, failhard)) {
      const name = str(info.get("package") ?? "");
      if (str(info.get("status") ?? "ii")[1] !== "i") continue;
      const fields = [...info].filter(([key]) => !NOT_SHOWN.includes(str(key)));
      const licence = dpkg.licenceOf(name);
      if (licence !== "") fields.push(["license", licence]);
      packages.set(name, new Map(fields.map(([key, value]) => [INFO_NAMES[str(key)] ?? key, value])));
    }
    return packages;
  },
});

export const list_downloaded: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the packages' files that apt has downloaded, by name and version; with root, those below that directory.",
    "pkg.list_downloaded",
  ),
  permissions: "all",
  params: { root: p.str(null) },
  varKwargs: "kwargs",
  async run({ root }, context) {
    const packages = new Map<string, ValueMap>();
    for (const path of debFiles(`${rstripChars(root ?? "", "/")}/var/cache/apt`)) {
      const { name, version } = await dpkg.archiveInfo(path, context);
      const { size, ctime, mtime } = Deno.statSync(path);
      const seconds = Math.floor((ctime ?? mtime ?? new Date(0)).getTime() / 1000);
      const versions = packages.get(name) ?? new Map();
      versions.set(
        version,
        map({
          path,
          size,
          creation_date_time_t: seconds,
          creation_date_time: new Date(seconds * 1000).toISOString().slice(0, 19),
        }),
      );
      packages.set(name, versions);
    }
    return new Map(packages);
  },
});

function debFiles(directory: string): string[] {
  if (!lexists(directory)) return [];
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory, isFile }) =>
    isDirectory ? debFiles(`${directory}/${name}`) : isFile && name.endsWith(".deb") ? [`${directory}/${name}`] : []
  );
}

export const services_need_restart: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the services that still use files replaced by an upgrade. This needs checkrestart, of the package debian-goodies.",
    "pkg.services_need_restart",
  ),
  permissions: "all",
  params: {},
  varKwargs: "kwargs",
  async run(_bound, context) {
    if (findProgram("checkrestart") === undefined) {
      throw new CommandNotFoundError(
        "'checkrestart' is needed. It is part of the 'debian-goodies' package which can be installed from official repositories.",
      );
    }
    return parseServicesToRestart(await outputOf(["checkrestart", "--machine", "--package"], context));
  },
});

export const which: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the package that a file belongs to; an empty string if it belongs to none, False if it is not there or its path is not\n" +
      "absolute.",
    "pkg.which <file name>",
  ),
  permissions: "all",
  params: { path: p.str() },
  async run({ path }, context) {
    if (!path.startsWith("/") || !lexists(path)) return false;
    const { stdout } = await runApt(["dpkg", "-S", checkedWord(path, "path")], context);
    // dpkg says so on stderr, which Salt does not read: None, as Salt's documentation says, is never returned.
    return stdout.split(":", 1)[0];
  },
});
