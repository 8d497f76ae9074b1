/**
 * The functions that the modules `pkg` of all package managers with rpm have in common: what rpm itself tells.
 * Source: the functions of Salt 3008.3 `salt/modules/yumpkg.py`, `salt/modules/zypperpkg.py`.
 * @module
 */

import * as rpm from "#lib/host/packages/rpm.ts";
import { ofNames } from "./_rpm_declarations.ts";
import { describe } from "#lib/plugins/docs.ts";
import { type JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { type ValueMap } from "#lib/values/value.ts";

export const info_installed: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return what rpm knows of installed packages, of all without names. attr: only these attributes, with commas between.\n" +
      "all_versions=True: of each package a list.",
    "pkg.info_installed <package1>",
    "pkg.info_installed <package1> <package2> <package3> ...",
    "pkg.info_installed <package1> attr=version,vendor",
  ),
  async (given, kwargs, context) => {
    const info = await rpm.infoOf(given, { root: kwargs.get("root"), attr: kwargs.get("attr") }, context);
    const renameSource = (one: ValueMap): ValueMap =>
      new Map([...one].map(([key, value]) => [key === "source_rpm" ? "source" : key, value]));
    if (isTrue(kwargs.get("all_versions"))) {
      return new Map([...info].map(([name, all]) => [name, all.map(renameSource)]));
    }
    for (const [newest] of info.values()) newest.delete("edition");
    return new Map([...info].map(([name, [newest]]) => [name, renameSource(newest)]));
  },
  { varArgs: "names" },
);

export const verify: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return the files of packages, of all without names, that are not as they were packed, with what differs.",
    "pkg.verify httpd",
    "pkg.verify httpd ignore_types=['config','doc']",
    "pkg.verify httpd verify_options=['nodeps','nosize']",
  ),
  rpm.verifyPackages,
  { varArgs: "names" },
);

export const modified: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return the files that have changed since they were packed, with what has changed.",
    "pkg.modified httpd",
    "pkg.modified httpd size=True",
  ),
  rpm.modifiedFiles,
  { varKwargs: "flags" },
);

export const file_list: ModuleFunction<JobContext> = ofNames(
  describe("Return the files of the named packages, or of all installed packages, as one list.", "pkg.file_list httpd"),
  (given, kwargs, context) => rpm.filesOf(given, kwargs.get("root"), context),
);

export const file_dict: ModuleFunction<JobContext> = ofNames(
  describe("Return the files of the named packages, or of all installed packages, by package.", "pkg.file_dict httpd"),
  (given, kwargs, context) => rpm.filesByPackage(given, kwargs.get("root"), context),
);

export const owner: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return the package that a file belongs to, an empty string if it belongs to none; for several files, a map.",
    "pkg.owner /usr/bin/apachectl",
    "pkg.owner /usr/bin/apachectl /etc/httpd/conf/httpd.conf",
  ),
  (given, kwargs, context) => rpm.ownersOf(given, kwargs.get("root"), context),
  { varArgs: "paths" },
);
