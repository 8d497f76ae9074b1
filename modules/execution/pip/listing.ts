/**
 * The functions of the module `pip` that tell which packages are installed, and which versions there are.
 * Source: the functions of Salt 3008.3 `salt/modules/pip.py`.
 * @module
 */

import { freezePackages, listFrozen, packagesOf, upgradesOf } from "./packages.ts";
import { isPipOlderThan, runPip, versionOf, WHERE } from "./running.ts";
import { checkedUrl } from "#lib/host/language_packages/pip_command.ts";
import { parseVersions } from "#lib/host/language_packages/pip_output.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { map, str } from "#lib/values/value.ts";

export const freeze: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the installed packages as lines of requirements.",
    "pip.freeze bin_env=/home/code/path/to/virtualenv/",
  ),
  permissions: "all",
  params: { ...WHERE, use_vt: p.bool(false), env_vars: p.any(null) },
  varKwargs: "kwargs",
  run: (bound, context, { kwargs }) => freezePackages(bound, kwargs, context),
});

const LISTING = { prefix: p.str(null), ...WHERE, env_vars: p.any(null) };

export const list_freeze_parse: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the installed packages with their versions, as pip freeze prints them; with prefix those whose names begin with it.",
    "pip.list_freeze_parse salt",
  ),
  permissions: "all",
  params: LISTING,
  varKwargs: "kwargs",
  run: ({ prefix, ...pip }, context, { kwargs }) => listFrozen(prefix, pip, kwargs, context),
});

export const list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the installed packages with their versions; with prefix those whose names begin with it.",
    "pip.list salt",
  ),
  permissions: "all",
  params: LISTING,
  varKwargs: "kwargs",
  run: ({ prefix, ...pip }, context, { kwargs }) => packagesOf(prefix, pip, kwargs, context),
});

export const list_upgrades: ModuleFunction<JobContext> = fn({
  doc: describe("Return the packages that have a newer version, with that version.", "pip.list_upgrades"),
  permissions: "all",
  params: WHERE,
  run: (pip, context) => upgradesOf(pip, context),
});

export const is_installed: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a package is installed.", "pip.is_installed salt"),
  permissions: "all",
  params: { pkgname: p.str(), ...WHERE },
  run: async ({ pkgname, ...pip }, context) =>
    [...(await packagesOf(pkgname, pip, new Map(), context)).keys()].some((one) =>
      str(one).toLowerCase() === pkgname.toLowerCase()
    ),
});

export const upgrade_available: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether there is a newer version of a package.", "pip.upgrade_available <package name>"),
  permissions: "all",
  params: { pkg: p.str(), ...WHERE },
  run: async ({ pkg, ...pip }, context) => (await upgradesOf(pip, context)).has(pkg),
});

export const list_all_versions: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return all versions of a package that the index has, the oldest first, without alpha, beta and release candidate versions\n" +
      "unless requested; None if there are none.",
    "pip.list_all_versions <package name>",
  ),
  permissions: "all",
  params: {
    pkg: p.str(),
    bin_env: p.str(null),
    include_alpha: p.bool(false),
    include_beta: p.bool(false),
    include_rc: p.bool(false),
    user: p.str(null),
    cwd: p.str(null),
    index_url: p.str(null),
    extra_index_url: p.str(null),
  },
  async run({ pkg, include_alpha, include_beta, include_rc, index_url, extra_index_url, ...pip }, context) {
    const version = await versionOf(pip, context);
    const legacy = isPipOlderThan(version, "20.3") ? [] : ["--use-deprecated=legacy-resolver"];
    const words = [
      "--disable-pip-version-check",
      ...isPipOlderThan(version, "21.2") ? [...legacy, "install", `${pkg}==versions`] : ["index", "versions", pkg],
      ...index_url ? ["--index-url", checkedUrl(index_url)] : [],
      ...extra_index_url ? ["--extra-index-url", checkedUrl(extra_index_url)] : [],
    ];
    const more = map({ output_loglevel: "quiet" });
    const result = await runPip(words, pip, { context, more, joined: true });
    const left = [...include_alpha ? [] : ["a"], ...include_beta ? [] : ["b"], ...include_rc ? [] : ["rc"]];
    const isWanted = (one: string) => !left.some((word) => one.includes(word));
    const versions = parseVersions(str(result.get("stdout") ?? ""), isWanted);
    return versions.length === 0 ? null : versions;
  },
});
