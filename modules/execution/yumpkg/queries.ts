/**
 * The functions of the module `pkg` of yum and dnf that tell of packages and repositories.
 * Source: the functions of Salt 3008.3 `salt/modules/yumpkg.py`.
 * @module
 */

import { ofNames } from "#modules/execution/_rpm_declarations.ts";
import { diffPackageFiles, downloadedPackages } from "#lib/host/packages/rpm_files.ts";
import { availableVersions, downloadPackages, offeredPackages, patches } from "#lib/host/packages/yum_queries.ts";
import { CommandError } from "#lib/errors.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import { lexists } from "#lib/os/file_kind.ts";
import { isDnf, listingOf, refreshYum, runYum, yumOptions, yumProgram } from "#lib/host/packages/yum.ts";
import * as repositories from "#lib/host/packages/yum_repositories.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { str } from "#lib/values/value.ts";

export const list_repo_pkgs: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the packages that the repositories offer, all or those that match, each with its versions; with byrepo=True by\n" +
      "repository. More keywords: fromrepo, enablerepo, disablerepo, cacheonly.",
    "pkg.list_repo_pkgs",
    "pkg.list_repo_pkgs foo bar baz",
    "pkg.list_repo_pkgs 'samba4*' fromrepo=base,updates",
  ),
  permissions: "all",
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  async run(_bound, context, { args, kwargs }) {
    const globs = args.map(str);
    if (!isTrue(kwargs.get("byrepo"))) return await availableVersions(globs, kwargs, context);
    return (await offeredPackages(globs, kwargs, context)).byRepository();
  },
});

export const list_upgrades: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the packages that an upgrade would bring, with their new versions. refresh=False leaves out asking the\n" +
      "repositories.",
    "pkg.list_upgrades",
  ),
  permissions: "all",
  params: { refresh: p.bool(true) },
  varKwargs: "kwargs",
  async run({ refresh }, context, { kwargs }) {
    const options = yumOptions(kwargs);
    if (refresh) await refreshYum(kwargs, context, { checkUpdate: false });
    const words = ["--quiet", ...options, "list", isDnf() ? "--upgrades" : "updates"];
    const result = await runYum(words, context, { mayFail: true });
    return new Map(listingOf(result, context).map(({ name, version }) => [name, version]));
  },
});

export const list_updates: ModuleFunction<JobContext> = {
  ...list_upgrades,
  doc: describe("The same as pkg.list_upgrades.", "pkg.list_updates"),
};

export const list_downloaded: ModuleFunction<JobContext> = fn({
  doc: describe("Return the packages' files that were downloaded, by name and version.", "pkg.list_downloaded"),
  permissions: "all",
  params: {},
  varKwargs: "kwargs",
  run: (_bound, context) => downloadedPackages(`/var/cache/${yumProgram()}`, context),
});

export const download: ModuleFunction<JobContext> = ofNames(
  describe(
    "Download packages with yumdownloader, of yum-utils, and return their files.",
    "pkg.download httpd",
    "pkg.download httpd postfix",
  ),
  (given, _kwargs, context) => downloadPackages(given, context),
);

export const diff: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return how files differ from those in their packages, which are downloaded for it.",
    "pkg.diff /etc/apache2/httpd.conf /etc/sudoers",
  ),
  (paths, kwargs, context) =>
    diffPackageFiles(paths, kwargs.get("root"), { download: (names) => downloadPackages(names, context), context }),
  { varArgs: "paths" },
);

export const list_patches: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the advisories by their ids, with their packages, and whether all of them are installed.",
    "pkg.list_patches",
  ),
  permissions: "all",
  params: { refresh: p.bool(false) },
  varKwargs: "kwargs",
  async run({ refresh }, context) {
    if (refresh) await refreshYum(new Map(), context);
    return await patches(context);
  },
});

export const list_installed_patches: ModuleFunction<JobContext> = fn({
  doc: describe("Return the advisories whose packages are all installed.", "pkg.list_installed_patches"),
  permissions: "all",
  params: {},
  varKwargs: "kwargs",
  run: async (_bound, context) => new Map([...await patches(context)].filter(([, { installed }]) => installed)),
});

const PLACE = { permissions: "all", varKwargs: "kwargs" } as const;

export const list_repos: ModuleFunction<JobContext> = fn({
  ...PLACE,
  doc: describe(
    "Return the repositories by name, with their options and files. basedir: directories in place of the configured ones.",
    "pkg.list_repos",
    "pkg.list_repos basedir=/path/to/dir",
    "pkg.list_repos basedir=/path/to/dir,/path/to/another/dir",
  ),
  params: { basedir: p.any(null) },
  run: ({ basedir }, _context, { kwargs }) =>
    repositories.listYumRepositories(repositories.findRepositoryPlace(basedir, kwargs)),
});

export const get_repo: ModuleFunction<JobContext> = fn({
  ...PLACE,
  doc: describe(
    "Return a repository, an empty map if it is not there. `copr:owner/project` is one of COPR.",
    "pkg.get_repo myrepo",
    "pkg.get_repo copr:mymaintainer/myrepo",
  ),
  params: { repo: p.str(), basedir: p.any(null) },
  run: ({ repo, basedir }, _context, { kwargs }) =>
    repositories.getYumRepository(repo, repositories.findRepositoryPlace(basedir, kwargs)),
});

export const del_repo: ModuleFunction<JobContext> = fn({
  ...PLACE,
  doc: describe(
    "Delete a repository, and its file if there is nothing else in it.",
    "pkg.del_repo myrepo",
    "pkg.del_repo myrepo basedir=/path/to/dir",
  ),
  params: { repo: p.str(), basedir: p.any(null) },
  run: ({ repo, basedir }, _context, { kwargs }) =>
    repositories.deleteYumRepository(repo, repositories.findRepositoryPlace(basedir, kwargs)),
});

export const mod_repo: ModuleFunction<JobContext> = fn({
  ...PLACE,
  doc: describe(
    "Change a repository, or add it: every keyword is one of its options, an empty one removes the option. A new one needs\n" +
      "name, and one of baseurl, mirrorlist and metalink. Return the repositories of its file, by the file.",
    "pkg.mod_repo reponame enabled=1 gpgcheck=1",
    "pkg.mod_repo reponame basedir=/path/to/dir enabled=1 strict_config=False",
    "pkg.mod_repo reponame baseurl= mirrorlist=http://host.com/",
  ),
  params: { repo: p.str(), basedir: p.any(null) },
  run({ repo, basedir }, context, { kwargs }) {
    const options = new Map([...ownKeywords(kwargs)].filter(([key]) => key !== "saltenv"));
    return repositories.changeYumRepository(
      repo,
      { options, place: repositories.findRepositoryPlace(basedir, kwargs) },
      context,
    );
  },
});

export const services_need_restart: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the services that still use files replaced by an upgrade. This needs dnf and systemd.",
    "pkg.services_need_restart",
  ),
  permissions: "all",
  params: {},
  varKwargs: "kwargs",
  async run(_bound, context) {
    if (!isDnf()) throw new CommandError("dnf or dnf5 is required to list outdated services.");
    if (!lexists("/run/systemd/system")) {
      throw new CommandError("systemd is required to list outdated services.");
    }
    const { stdout } = await runProgram([yumProgram(), "--quiet", "needs-restarting"], context, { setsRetcode: true });
    const services = new Set<string>();
    for (const [, pid] of stdout.matchAll(/^\s*(\d+)\s*:/gm)) {
      const unit = await runProgram(["systemctl", "--output", "json", "status", pid], context);
      const [, service] = /"_SYSTEMD_UNIT"\s*:\s*"([^"]+?)\.service"/.exec(unit.stdout) ?? [];
      if (service !== undefined) services.add(service);
    }
    return [...services];
  },
});
