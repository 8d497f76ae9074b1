/**
 * Execution module `lowpkg` for hosts with rpm.
 * Source: the functions of Salt 3008.3 `salt/modules/rpm_lowpkg.py`.
 * @module
 */

import { ofNames, OTHER_SYSTEMS } from "./_rpm_declarations.ts";
import { CommandError } from "#lib/errors.ts";
import { checkedWord, needPrograms } from "#lib/programs/run_program.ts";
import { isFile } from "#lib/os/file_kind.ts";
import * as rpm from "#lib/host/packages/rpm.ts";
import { rpmOrder } from "#lib/host/packages/rpm_version.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { quoteShellWord } from "#lib/text/shell_words.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { str } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "lowpkg",
  serves: [
    { programs: ["rpm"], otherwise: "The rpm execution module failed to load: rpm binary is not in the path." },
    {
      grains: [{ os_family: ["RedHat", "Suse"] }, { os: OTHER_SYSTEMS }],
      otherwise:
        "The rpm execution module failed to load: only available on redhat/suse type systems or amazon, xcp, " +
        "xenserver, virtuozzolinux, virtuozzo, issabel pbx, openeuler or vmware photon os.",
    },
  ],
};

export const bin_pkg_info: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the name, version and architecture of a package file. path: a path on this host, or a URL.",
    "lowpkg.bin_pkg_info /root/salt-2015.5.1-2.el7.noarch.rpm",
  ),
  permissions: "all",
  params: { path: p.str(), saltenv: p.str("base") },
  async run({ path, saltenv }, context) {
    const info = await rpm.packageFileInfo(path, saltenv, context);
    return info === undefined ? null : rpm.packageMap(info);
  },
});

export const list_pkgs: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return the installed packages with their versions, all or those named. root: the root directory of another system.",
    "lowpkg.list_pkgs",
  ),
  async (names, kwargs, context) => (await rpm.queryPackageNames(names, kwargs.get("root"), context)).packages,
);

export const verify: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return the files of packages, of all without names, that are not as they were packed, with what differs.\n" +
      "ignore_types: types of files that are left out: config, doc, ghost, license, readme. verify_options: options of rpm.",
    "lowpkg.verify httpd",
    "lowpkg.verify httpd ignore_types=['config','doc']",
    "lowpkg.verify httpd verify_options=['nodeps','nosize']",
  ),
  rpm.verifyPackages,
);

export const modified: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return the files that have changed since they were packed, with what has changed. A keyword (size, mode, checksum, …)\n" +
      "keeps those of which that has changed, or with False has not.",
    "lowpkg.modified httpd",
    "lowpkg.modified mode=True",
  ),
  rpm.modifiedFiles,
  { varKwargs: "flags" },
);

export const file_list: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return the files of the named packages, or of all installed packages, as one list.",
    "lowpkg.file_list httpd",
  ),
  (names, kwargs, context) => rpm.filesOf(names, kwargs.get("root"), context),
);

export const file_dict: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return the files of the named packages, or of all installed packages, by package.",
    "lowpkg.file_dict httpd",
  ),
  (names, kwargs, context) => rpm.filesByPackage(names, kwargs.get("root"), context),
);

export const owner: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return the package that a file belongs to, an empty string if it belongs to none; for several files, a map.",
    "lowpkg.owner /usr/bin/apachectl",
  ),
  (paths, kwargs, context) => rpm.ownersOf(paths, kwargs.get("root"), context),
  { varArgs: "paths" },
);

export const diff: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the diff between a file and the same file in a package file.",
    "lowpkg.diff /path/to/apache2.rpm /etc/apache2/httpd.conf",
  ),
  permissions: "all",
  params: { package_path: p.str(), path: p.str() },
  async run({ package_path, path }, context) {
    needPrograms("rpm2cpio", "cpio", "diff");
    const quotePath = (word: string) => quoteShellWord(checkedWord(word, "path"));
    const labels = `--label ${quotePath(`A ${path}`)} --from-file=- --label ${quotePath(`B ${path}`)}`;
    const command = `rpm2cpio ${quotePath(package_path)} | cpio -i --quiet --to-stdout ${quotePath(`.${path}`)} | ` +
      `diff -u ${labels} ${quotePath(path)}`;
    const output = str(await context.call("cmd.shell", [command]));
    return output.startsWith("Binary file") ? `File '${path}' is binary and its content has been modified.` : output;
  },
});

export const info: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return what rpm knows of installed packages, of all without names. attr: only these attributes, with commas between.\n" +
      "all_versions=True: of each package a list.",
    "lowpkg.info apache2 bash",
    "lowpkg.info apache2 bash attr=version",
    "lowpkg.info apache2 bash attr=version,build_date_iso,size",
    "lowpkg.info apache2 bash attr=version,build_date_iso,size all_versions=True",
  ),
  async (names, kwargs, context) => {
    const options = { root: kwargs.get("root"), attr: kwargs.get("attr") };
    const info = await rpm.infoOf(names, options, context);
    if (isTrue(kwargs.get("all_versions"))) return info;
    for (const [newest] of info.values()) newest.delete("edition");
    return new Map([...info].map(([name, [newest]]) => [name, newest]));
  },
);

export const version_cmp: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Compare two versions: -1 if the first is older, 0 if they are equal, 1 if it is newer. ignore_epoch=True leaves out what\n" +
      "is before a colon.",
    "lowpkg.version_cmp '0.2-001' '0.2.0.1-002'",
  ),
  params: { ver1: p.str(), ver2: p.str(), ignore_epoch: p.bool(false) },
  // Whether rpm is there is looked at with the function's own permissions.
  permissions: "all",
  run: ({ ver1, ver2, ignore_epoch }) => rpmOrder(ignore_epoch)(ver1, ver2),
});

export const checksum: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return for each file of a package whether its checksum and signature are right.",
    "lowpkg.checksum /path/to/package1.rpm",
  ),
  async (paths, kwargs, context) => {
    if (paths.length === 0) throw new CommandError("No package files has been specified.");
    const results = new Map<string, boolean>();
    for (const path of paths) {
      const words = rpm.rpmWords(kwargs.get("root"), "-K", "--quiet", checkedWord(path, "path"));
      results.set(path, isFile(path) && (await rpm.runRpm(words, context)).retcode === 0);
    }
    return results;
  },
  { varArgs: "paths" },
);
