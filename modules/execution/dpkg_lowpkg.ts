/**
 * Execution module `lowpkg` for Debian and its family.
 * Source: the functions of Salt 3008.3 `salt/modules/dpkg_lowpkg.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { lexists } from "#lib/os/file_kind.ts";
import * as apt from "#lib/host/debian_packages/apt.ts";
import * as dpkg from "#lib/host/debian_packages/dpkg.ts";
import { parseAvailable, parseInstalledNames } from "#lib/host/debian_packages/apt_output.ts";
import { changesBetween } from "#lib/host/packages/changes.ts";
import { asVersions } from "#lib/host/packages/package_list.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { refuseOtherKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { map, str, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "lowpkg",
  serves: [{
    grains: { os_family: ["Debian"] },
    otherwise: "The dpkg execution module cannot be loaded: only works on Debian family systems.",
  }],
};

const NAMES = { permissions: "all", params: {}, varArgs: "packages", varKwargs: "kwargs" } as const;

export const bin_pkg_info: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the name, version and architecture of a package file. path: a path on this host, or a URL.",
    "lowpkg.bin_pkg_info /root/foo-1.2.3-1ubuntu1_all.deb",
    "lowpkg.bin_pkg_info salt://foo-1.2.3-1ubuntu1_all.deb",
  ),
  permissions: "all",
  params: { path: p.str(), saltenv: p.str("base") },
  async run({ path, saltenv }, context) {
    if (!/^(salt|https?|ftp|s3|swift|file):\/\//.test(path)) {
      if (!lexists(path) || !path.startsWith("/")) throw new CommandError(`${path} does not exist on minion`);
      return await dpkg.archiveInfo(path, context);
    }
    const cached = str(await context.call("cp.cache_file", [path], map({ saltenv })));
    if (!cached.startsWith("/")) throw new CommandError(`Unable to retrieve ${path} from saltenv '${saltenv}'`);
    return await dpkg.archiveInfo(cached, context);
  },
});

export const unpurge: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Unmark packages that are marked to be purged. Return the changed marks.",
    "lowpkg.unpurge curl",
  ),
  permissions: "all",
  params: {},
  varArgs: "packages",
  async run(_bound, context, { args }) {
    if (args.length === 0) return {};
    const purgeDesired = async () => asVersions((await apt.debianPackages(context)).purgeDesired, false);
    const before = await purgeDesired();
    const stdin = args.map((name) => `${checkedWord(str(name), "package name")} install`).join("\n");
    await runProgram(["dpkg", "--set-selections"], context, { stdin, setsRetcode: true });
    return changesBetween(before, await purgeDesired());
  },
});

export const list_pkgs: ModuleFunction<JobContext> = fn({
  ...NAMES,
  doc: describe("Return the installed packages with their versions, all or those named.", "lowpkg.list_pkgs hostname"),
  async run(_bound, context, { args }) {
    const names = args.map((name) => checkedWord(str(name), "package name"));
    const format = "-f=${db:Status-Status}\t${binary:Package}\t${Version}\n";
    const { retcode, stdout, stderr } = await runProgram(["dpkg-query", format, "-W", ...names], context, {
      setsRetcode: true,
    });
    return retcode === 0 ? parseInstalledNames(stdout) : `Error:  ${stderr}`;
  },
});

export const file_list: ModuleFunction<JobContext> = fn({
  ...NAMES,
  doc: describe(
    "Return the files of the named packages, or of all installed packages, as one list.",
    "lowpkg.file_list hostname",
  ),
  run: async (_bound, context, { args }) => dpkg.asFileList(await dpkg.packageFiles(args.map(str), context)),
});

export const file_dict: ModuleFunction<JobContext> = fn({
  ...NAMES,
  doc: describe(
    "Return the files of the named packages, or of all installed packages, by package.",
    "lowpkg.file_dict hostname",
  ),
  run: async (_bound, context, { args }) => dpkg.asFilesByPackage(await dpkg.packageFiles(args.map(str), context)),
});

/** Fields that `lowpkg.info` does not show. */
const NOT_SHOWN = [
  "installed_size",
  "depends",
  "recommends",
  "provides",
  "replaces",
  "conflicts",
  "bugs",
  "description-md5",
  "task",
];

export const info: ModuleFunction<JobContext> = fn({
  ...NAMES,
  doc: describe(
    "Return dpkg's information about the named packages, or about all installed packages. failhard=False leaves out packages that are not installed.",
    "lowpkg.info apache2 bash",
    "lowpkg.info 'php5*' failhard=false",
  ),
  async run(_bound, context, { args, kwargs }) {
    refuseOtherKeywords(kwargs, ["failhard"]);
    const available = await availablePackages(context);
    const packages: ValueMap = new Map();
    for (const info of await dpkg.packageInfo(args.map(str), context, isTrue(kwargs.get("failhard") ?? true))) {
      const name = str(info.get("package") ?? "");
      for (const [key, value] of available.get(name) ?? []) if (!info.has(key)) info.set(key, value);
      for (const key of NOT_SHOWN) info.delete(key);
      const licence = dpkg.licenceOf(name);
      if (licence !== "") info.set("license", licence);
      packages.set(name, info);
    }
    return packages;
  },
});

async function availablePackages(context: JobContext): Promise<ReadonlyMap<string, ValueMap>> {
  if (which("dselect") === undefined) return new Map();
  const { retcode, stdout } = await runProgram(["dpkg-query", "--print-avail"], context);
  return retcode === 0 ? parseAvailable(stdout) : new Map();
}
