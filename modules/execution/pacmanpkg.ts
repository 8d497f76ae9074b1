/**
 * Execution module `pkg` for Arch and its family.
 * Source: the functions of Salt 3008.3 `salt/modules/pacmanpkg.py`.
 * @module
 */

import {
  availableVersion,
  errorsOf,
  listFunction,
  removeFunction,
  upgradeAvailable,
  versionFunction,
} from "./_pkg_functions.ts";
import { CommandError } from "#lib/errors.ts";
import { checkedWord, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { changeFailure, changePackages, changesBetween } from "#lib/host/packages/changes.ts";
import { OfferedPackages } from "#lib/host/packages/offered_packages.ts";
import { type PackageVersions, versionTexts } from "#lib/host/packages/package_list.ts";
import { parseTargets } from "#lib/host/packages/package_targets.ts";
import * as output from "#lib/host/packages/pacman_output.ts";
import { noteRefresh } from "#lib/host/packages/refresh_tag.ts";
import { scopeWords } from "#lib/host/packages/scope.ts";
import { splitComparison } from "#lib/host/packages/version_match.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { refuseOtherKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { compareStrings, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "pkg",
  serves: [{
    grains: { os_family: ["Arch"] },
    otherwise: "The pacman module could not be loaded: unsupported OS family.",
  }],
};

const NAMES = { permissions: "all", params: {}, varKwargs: "kwargs" } as const;

function pacman(
  words: readonly string[],
  context: JobContext,
  { joined = false, scope = false, mayFail = false } = {},
): Promise<ProgramResult> {
  const before = scope ? scopeWords(context) : [];
  return runProgram([...before, "pacman", ...words], context, { joined, setsRetcode: !mayFail });
}

/** `-r` for a root directory that is another host's. */
function rootWords(root: Value | undefined): string[] {
  return root === undefined || root === null ? [] : ["-r", str(root)];
}

async function listInstalled(context: JobContext, root?: Value): Promise<PackageVersions> {
  return output.parsePacmanInstalled((await pacman(["-Q", ...rootWords(root)], context, { joined: true })).stdout);
}

async function refresh(root: Value, context: JobContext): Promise<ValueMap> {
  noteRefresh(context.opts);
  const { retcode, stdout, stderr } = await pacman(["-Sy", ...rootWords(root)], context);
  if (retcode === 0) return output.parsePacmanRefresh(stdout);
  throw new CommandError(`Error refreshing package database: ${stderr}`);
}

async function latest(names: readonly string[], kwargs: ValueMap, context: JobContext): Promise<Value> {
  if (names.length === 0) return "";
  if (isTrue(kwargs.get("refresh"))) await refresh(null, context);
  const checkedNames = names.map((name) => checkedWord(name, "package name"));
  const words = ["-Sp", "--needed", "--print-format", "%n %v", ...checkedNames, ...rootWords(kwargs.get("root"))];
  const printed = output.parsePrinted((await pacman(words, context)).stdout);
  if (names.length === 1) return printed.get(names[0]) ?? "";
  return new Map(names.map((name) => [name, printed.get(name) ?? ""]));
}

export const latest_version: ModuleFunction<JobContext> = fn({
  ...NAMES,
  doc: describe(
    "Return the version of a package that an installation or upgrade would bring, and an empty string if the newest is\n" +
      "installed or there is none; for several packages, a map.",
    "pkg.latest_version <package name>",
    "pkg.latest_version <package1> <package2> <package3> ...",
  ),
  varArgs: "names",
  run: (_bound, context, { args, kwargs }) => latest(args.map(str), kwargs, context),
});

export const available_version: ModuleFunction<JobContext> = availableVersion(latest_version);

export const upgrade_available: ModuleFunction<JobContext> = upgradeAvailable((name, context) =>
  latest([name], new Map(), context)
);

export const list_upgrades: ModuleFunction<JobContext> = fn({
  doc: describe("Return the packages that an upgrade would bring, with their new versions.", "pkg.list_upgrades"),
  permissions: "all",
  params: { refresh: p.bool(false), root: p.str(null) },
  varKwargs: "kwargs",
  async run({ refresh: refreshes, root }, context) {
    const words = ["-S", "-p", "-u", "--print-format", "%n %v", ...rootWords(root), ...refreshes ? ["-y"] : []];
    const { retcode, stdout, stderr } = await pacman(words, context);
    if (retcode === 0) return output.parsePrinted(stdout);
    const reason = stderr + stdout;
    throw new CommandError(`Error listing upgrades${reason === "" ? "" : `: ${reason}`}`);
  },
});

export const version: ModuleFunction<JobContext> = versionFunction((context, kwargs) =>
  listInstalled(context, kwargs.get("root"))
);

export const list_pkgs: ModuleFunction<JobContext> = listFunction(
  (context, kwargs) => listInstalled(context, kwargs.get("root")),
  { more: " root: the directory\nof another host.", examples: ["pkg.list_pkgs"] },
);

export const group_list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the groups of packages that are installed completely, and those installed partly.",
    "pkg.group_list",
  ),
  permissions: "all",
  params: {},
  async run(_bound, context) {
    const available = output.parsePacmanGroups((await pacman(["-Sgg"], context, { joined: true })).stdout);
    const there = output.parsePacmanGroups((await pacman(["-Qg"], context, { joined: true })).stdout);
    return output.sortGroups(available, there);
  },
});

const GROUP_KINDS = ["mandatory", "optional", "default", "conditional"];

/** The packages of a group, which pacman does not tell apart. */
async function groupMembers(name: string, context: JobContext): Promise<string[]> {
  const words = ["-Sgg", checkedWord(name, "group")];
  const groups = output.parsePacmanGroups((await pacman(words, context, { joined: true })).stdout);
  return [...new Set([...groups.values()].flat())].sort(compareStrings);
}

export const group_info: ModuleFunction<JobContext> = fn({
  doc: describe("Return the packages of a group, all as `default`.", "pkg.group_info 'xorg'"),
  permissions: "all",
  params: { name: p.str() },
  async run({ name }, context) {
    const members = await groupMembers(name, context);
    return new Map(GROUP_KINDS.map((kind) => [kind, kind === "default" ? members : []]));
  },
});

export const group_diff: ModuleFunction<JobContext> = fn({
  doc: describe("Return which packages of a group are installed, and which are not.", "pkg.group_diff 'xorg'"),
  permissions: "all",
  params: { name: p.str() },
  async run({ name }, context) {
    const there = await listInstalled(context);
    const members = await groupMembers(name, context);
    return new Map(GROUP_KINDS.map((kind) => {
      const shownMembers = kind === "default" ? members : [];
      return [kind, {
        installed: shownMembers.filter((one) => there.has(one)),
        "not installed": shownMembers.filter((one) => !there.has(one)),
      }];
    }));
  },
});

export const refresh_db: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Update the package lists of the repositories. Return for each repository True (updated) or False (up to date).",
    "pkg.refresh_db",
  ),
  permissions: "all",
  params: { root: p.str(null) },
  varKwargs: "kwargs",
  run: ({ root }, context) => refresh(root, context),
});

/** The words for pacman that packages with their versions mean. */
async function targetWords(
  packages: ReadonlyMap<string, string | null>,
  refreshes: boolean,
  context: JobContext,
): Promise<{ readonly words: string[]; readonly errors: string[]; readonly hasGlobs: boolean }> {
  const [words, errors]: [string[], string[]] = [[], []];
  const globs: (readonly [string, string])[] = [];
  for (const [name, wanted] of packages) {
    if (wanted === null) {
      words.push(name);
      continue;
    }
    const [operator, version] = splitComparison(wanted);
    const sign = operator || "=";
    if (!version.includes("*")) words.push(`${name}${sign}${version}`);
    else if (sign === "=") globs.push([name, version]);
    else errors.push(`Invalid wildcard for ${name}${sign}${version}`);
  }
  if (globs.length === 0) return { words, errors, hasGlobs: false };
  if (refreshes) await refresh(null, context);
  const offered = (await offeredPackages(globs.map(([name]) => name), [], context)).byName();
  for (const [name, glob] of globs) {
    const versions = offered.get(name);
    const candidates = listOrEmpty(versions).map(str);
    const match = candidates.find(compileGlob(glob));
    if (match !== undefined) words.push(`${name}=${match}`);
    else {
      const choices = candidates.length === 0 ? "none" : candidates.join(", ");
      errors.push(`No version matching '${glob}' found for package '${name}' (available: ${choices})`);
    }
  }
  return { words, errors, hasGlobs: true };
}

export const install: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install packages: name, or pkgs (a list of names, and of maps from a name to a version, which may begin with <, <=, >\n" +
      "or >=, or be a glob), or sources (a list of maps from a name to a file). sysupgrade=True also upgrades all other packages.\n" +
      "Return the old and the new version of each package that changed.",
    "pkg.install <package name>",
    `pkg.install pkgs='["foo", {"bar": "<1.2"}]'`,
    `pkg.install sources='[{"foo": "salt://foo.pkg.tar.xz"}]'`,
  ),
  permissions: "all",
  params: {
    name: p.str(null),
    refresh: p.bool(false),
    sysupgrade: p.any(null),
    pkgs: p.any(null),
    sources: p.any(null),
  },
  varKwargs: "kwargs",
  async run({ name, refresh: refreshes, sysupgrade, pkgs, sources }, context, { kwargs }) {
    const version = kwargs.get("version");
    const targets = await parseTargets({ name, pkgs, sources, version, saltenv: kwargs.get("saltenv") }, context);
    if (targets === undefined) return {};
    const failure = "Problem encountered installing package(s)";
    const quiet = ["--noprogressbar", "--noconfirm"];
    const root = rootWords(kwargs.get("root"));
    const list = () => versionTexts(listInstalled(context));
    if (targets.kind === "file") {
      const words = ["-U", ...quiet, ...targets.files.values(), ...root];
      return await changePackages({
        list,
        run: async () => errorsOf(await pacman(words, context, { scope: true })),
        failure,
      });
    }
    const { words, errors, hasGlobs } = await targetWords(targets.packages, refreshes, context);
    if (errors.length > 0) throw changeFailure(failure, { errors, changes: new Map() });
    const all = [
      "-S",
      ...refreshes && !hasGlobs ? ["-y"] : [],
      ...sysupgrade === true ? ["-u"] : [],
      ...quiet,
      "--needed",
      ...words,
      ...root,
    ];
    return await changePackages({
      list,
      run: async () => errorsOf(await pacman(all, context, { scope: true })),
      failure,
    });
  },
});

export const upgrade: ModuleFunction<JobContext> = fn({
  doc: describe("Upgrade all packages, and return what has changed.", "pkg.upgrade"),
  permissions: "all",
  params: { refresh: p.bool(false), root: p.str(null) },
  varKwargs: "kwargs",
  async run({ refresh: refreshes, root }, context) {
    const before = await versionTexts(listInstalled(context));
    const words = ["-Su", "--noprogressbar", "--noconfirm", ...refreshes ? ["-y"] : [], ...rootWords(root)];
    const result = await pacman(words, context, { scope: true });
    const changes = changesBetween(before, await versionTexts(listInstalled(context)));
    if (result.retcode === 0) return changes;
    throw changeFailure("Problem encountered upgrading packages", { changes, result: map({ ...result }) });
  },
});

function uninstall(action: "remove" | "purge", doc: string): ModuleFunction<JobContext> {
  return removeFunction(action, doc, {
    async remove(removal, context) {
      const targets = await parseTargets(removal, context);
      if (targets?.kind !== "repository") return {};
      const before = await versionTexts(listInstalled(context));
      const names = [...targets.packages.keys()].filter((one) => before.has(one));
      if (names.length === 0) return {};
      const words = [action === "purge" ? "-Rsc" : "-R", "--noprogressbar", "--noconfirm", ...names];
      const errors = errorsOf(await pacman(words, context, { scope: true }));
      const changes = changesBetween(before, await versionTexts(listInstalled(context)));
      if (errors.length === 0) return changes;
      throw changeFailure("Problem encountered removing package(s)", { errors, changes });
    },
  });
}

export const remove: ModuleFunction<JobContext> = uninstall(
  "remove",
  "Remove packages. Return the old and the new version of each package that changed.",
);

export const purge: ModuleFunction<JobContext> = uninstall(
  "purge",
  "Remove packages with what only they need, and with what needs them.",
);

/** The files of packages. The first name may be the root directory of another host. */
async function packageFiles(
  names: readonly string[],
  context: JobContext,
): Promise<ReturnType<typeof output.parseFiles>> {
  const hasRoot = names.length > 0 && lexistsOrThrow(names[0]);
  const packages = (hasRoot ? names.slice(1) : names).map((one) => checkedWord(one, "package name"));
  const words = ["-Ql", ...hasRoot ? ["-r", names[0]] : [], ...packages];
  return output.parseFiles((await pacman(words, context, { joined: true })).stdout);
}

export const file_list: ModuleFunction<JobContext> = fn({
  ...NAMES,
  doc: describe(
    "Return the files of the named packages, or of all installed packages, as one list.",
    "pkg.file_list httpd",
  ),
  varArgs: "packages",
  async run(_bound, context, { args }) {
    const { errors, files } = await packageFiles(args.map(str), context);
    return { errors, files: files.map(([, path]) => path) };
  },
});

export const file_dict: ModuleFunction<JobContext> = fn({
  ...NAMES,
  doc: describe(
    "Return the files of the named packages, or of all installed packages, by package.",
    "pkg.file_dict httpd",
  ),
  varArgs: "packages",
  async run(_bound, context, { args }) {
    const { errors, files } = await packageFiles(args.map(str), context);
    const packages = new Map<string, string[]>();
    for (const [name, path] of files) packages.set(name, [...packages.get(name) ?? [], path]);
    return { errors, packages };
  },
});

export const owner: ModuleFunction<JobContext> = fn({
  ...NAMES,
  doc: describe(
    "Return the package that a file belongs to; for several files, a map.",
    "pkg.owner /usr/bin/apachectl",
    "pkg.owner /usr/bin/apachectl /usr/bin/zsh",
  ),
  varArgs: "paths",
  async run(_bound, context, { args }) {
    const owners: ValueMap = new Map();
    for (const path of args.map(str)) {
      owners.set(path, (await pacman(["-Qqo", checkedWord(path, "path")], context)).stdout);
    }
    return owners.size === 0 ? "" : owners.size === 1 ? [...owners.values()][0] : owners;
  },
});

async function offeredPackages(
  globs: readonly string[],
  repositories: readonly string[],
  context: JobContext,
): Promise<OfferedPackages> {
  const offered = new OfferedPackages();
  const { stdout } = await pacman(["-Sl"], context, { mayFail: true });
  for (const line of stdout.split("\n")) {
    const [repository, name, version] = line.trim().split(/\s+/);
    if (version === undefined || (repositories.length > 0 && !repositories.includes(repository))) continue;
    if (globs.length === 0 || globs.some((glob) => compileGlob(glob)(name))) offered.add(repository, name, version);
  }
  return offered;
}

export const list_repo_pkgs: ModuleFunction<JobContext> = fn({
  ...NAMES,
  doc: describe(
    "Return the packages that the repositories offer, all or those that match, each with its versions; with byrepo=True by\n" +
      "repository. More keywords: fromrepo, refresh.",
    "pkg.list_repo_pkgs",
    "pkg.list_repo_pkgs foo bar baz",
    "pkg.list_repo_pkgs 'samba4*' fromrepo=base,updates",
  ),
  varArgs: "args",
  async run(_bound, context, { args, kwargs }) {
    refuseOtherKeywords(kwargs, ["fromrepo", "byrepo", "refresh"]);
    const from = kwargs.get("fromrepo") ?? null;
    if (isTrue(kwargs.get("refresh"))) await refresh(null, context);
    const offered = await offeredPackages(args.map(str), truthy(from) ? splitInput(from) : [], context);
    return isTrue(kwargs.get("byrepo")) ? offered.byRepository() : offered.byName();
  },
});
