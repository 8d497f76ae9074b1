/**
 * State module `pkg`: packages of the host's package manager.
 * Source: Salt 3008.3 `salt/states/pkg.py`.
 * @module
 */

import { hasFunction } from "#modules/states/_execution.ts";
import { aggregatePackages } from "./aggregate.ts";
import { runDownloaded, runPatches } from "./downloads.ts";
import { runGroupInstalled } from "./groups.ts";
import { runHeld, runUnheld } from "./holds.ts";
import { runInstalled } from "./installed.ts";
import { runLatest } from "./latest.ts";
import { type RemovalAction, runRemoval } from "./removed.ts";
import { runUptodate } from "./upgrades.ts";
import { askForRefresh } from "#lib/host/packages/refresh_tag.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { declare, type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, stateFn, stateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { str, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["pkg.install"], otherwise: "pkg module could not be loaded" }],
};

const MORE =
  `Further arguments are passed on to the functions of the module pkg, such as pkg.install; what one does not know it
ignores.`;
const PKGS = `pkgs
    A list of packages, instead of the name. An entry is a name, or a map from a name to a version.`;
const VERSION = `version
    The version, or conditions separated by commas: \`1.2.3-4\`, \`>=1.2, <2, !=1.4\`. An equal version may have the
    wildcards of a shell; \`latest\` is the newest that the repositories have.`;
const IGNORE_EPOCH = `ignore_epoch
    Whether the epoch of versions (before the colon) is ignored. Default: it is ignored if an equal version without
    an epoch is requested.`;
const NORMALIZE = `normalize : True
    Whether the host's own architecture is removed from package names.`;
const FROMREPO = `fromrepo
    The repository, or on Debian the release, to take packages from.`;
const REFRESH = `refresh
    Whether the package lists are updated first. Default: once in a run.`;
const SKIP_VERIFY = `skip_verify : False
    Whether packages without a valid signature are installed.`;

const PACKAGES = { name: p.str(), version: p.any(null), pkgs: p.any(null) };
const NAMES = { normalize: p.bool(true), ignore_epoch: p.bool(null) };

export const installed: ModuleFunction<StateContext> = stateFn({
  doc: `Packages are installed, optionally in given versions.

name
    The package. Ignored if there are pkgs or sources.

${VERSION}

${REFRESH}

${FROMREPO}

${SKIP_VERIFY}

skip_suggestions : False
    Whether names are not checked in the package database first, on package managers that support this.

${PKGS}

sources
    A list of maps from a package's name to its file: a path, or a URL (salt, http, https, ftp, file).

allow_updates : False
    Whether a newer version than the requested one is accepted.

pkg_verify : False
    Whether the files of installed packages are verified; a package that differs is installed
    again. Or a list with \`ignore_types\` and \`verify_options\`, lists themselves. (rpm)

${NORMALIZE}

${IGNORE_EPOCH}

reinstall : False
    Whether installed packages are installed again.

update_holds : False
    Whether held packages are updated. (yum, zypper)

hold
    Whether the packages are held, or released, afterwards. Default: unchanged.

${MORE}`,
  params: {
    name: p.str(),
    version: p.any(null),
    refresh: p.any(null),
    fromrepo: p.any(null),
    skip_verify: p.bool(false),
    skip_suggestions: p.bool(false),
    pkgs: p.any(null),
    sources: p.any(null),
    allow_updates: p.bool(false),
    pkg_verify: p.any(false),
    normalize: p.bool(true),
    ignore_epoch: p.bool(null),
    reinstall: p.bool(false),
    update_holds: p.bool(false),
  },
  varKwargs: "kwargs",
  run: (bound, context, { kwargs }) => runInstalled(bound, kwargs, context),
});

export const downloaded: ModuleFunction<StateContext> = stateFn({
  doc: `Packages are in the package manager's cache, without being installed. (yum, zypper)

name
    The package.

${VERSION}

${PKGS}

${FROMREPO}

${IGNORE_EPOCH}

${MORE}`,
  params: { ...PACKAGES, fromrepo: p.any(null), ignore_epoch: p.bool(null) },
  varKwargs: "kwargs",
  run: (bound, context, { kwargs }) => runDownloaded(bound, kwargs, context),
});

const ADVISORY_IDS = `name
    The advisory's id. Ignored if there are advisory_ids.

advisory_ids
    A list of advisories' ids.`;

export const patch_installed: ModuleFunction<StateContext> = stateFn({
  doc: `The patches of advisories are installed. (yum, zypper)

${ADVISORY_IDS}

downloadonly
    Whether they are only downloaded.

${MORE}`,
  params: { name: p.str(), advisory_ids: p.any(null), downloadonly: p.bool(null) },
  varKwargs: "kwargs",
  run: (bound, context, { kwargs }) => runPatches("patch_installed", bound, context, kwargs),
});

export const patch_downloaded: ModuleFunction<StateContext> = stateFn({
  doc: `The patches of advisories are in the package manager's cache. (yum, zypper)

${ADVISORY_IDS}

${MORE}`,
  params: { name: p.str(), advisory_ids: p.any(null) },
  varKwargs: "kwargs",
  run: (bound, context, { kwargs }) =>
    runPatches("patch_downloaded", { ...bound, downloadonly: true }, context, kwargs),
});

export const latest: ModuleFunction<StateContext> = stateFn({
  doc: `Packages are installed in the newest version that the repositories have.

name
    The package. Ignored if there are pkgs.

${REFRESH}

${FROMREPO}

${SKIP_VERIFY}

pkgs
    A list of packages, instead of the name.

watch_flags : True
    For Gentoo; ignored here.

${MORE}`,
  params: {
    name: p.str(),
    refresh: p.any(null),
    fromrepo: p.any(null),
    skip_verify: p.bool(false),
    pkgs: p.any(null),
    watch_flags: p.bool(true),
  },
  varKwargs: "kwargs",
  run: (bound, context, { kwargs }) => runLatest(bound, kwargs, context),
});

function removal(action: RemovalAction, doc: string): ModuleFunction<StateContext> {
  return stateFn({
    doc: `${doc}

name
    The package. Ignored if there are pkgs.

version
    The version to remove; another version is kept.

${PKGS}

${NORMALIZE}

${IGNORE_EPOCH}

${MORE}`,
    params: { ...PACKAGES, ...NAMES },
    varKwargs: "kwargs",
    run: (bound, context, { kwargs }) => runRemoval(action, bound, kwargs, context),
  });
}

export const removed: ModuleFunction<StateContext> = removal(
  "remove",
  "Packages are not installed. Their configuration may stay.",
);

export const purged: ModuleFunction<StateContext> = removal(
  "purge",
  "Packages are not installed, and of their configuration nothing is left.",
);

export const uptodate: ModuleFunction<StateContext> = stateFn({
  doc: `All packages of the host, or some of them, have the newest versions of the repositories.

name
    A text, unique in the run.

refresh : False
    Whether the package lists are updated first.

pkgs
    A list of the packages to upgrade. Default: all.

${MORE}`,
  params: { name: p.any(), refresh: p.any(false), pkgs: p.any(null) },
  varKwargs: "kwargs",
  run: ({ name, ...bound }, context, { kwargs }) => runUptodate({ name: str(name), ...bound }, kwargs, context),
});

export const group_installed: ModuleFunction<StateContext> = stateFn({
  doc: `A package group is installed: its mandatory and its default packages. (yum, pacman)

name
    The group, by its name or its id.

skip
    A list of default packages of the group that are not installed.

include
    A list of optional packages of the group that are installed.

${MORE}`,
  params: { name: p.str(), skip: p.any(null), include: p.any(null) },
  varKwargs: "kwargs",
  run: (bound, context, { kwargs }) => runGroupInstalled(bound, kwargs, context),
});

export const held: ModuleFunction<StateContext> = stateFn({
  doc: `Packages are held at their version.

name
    The package. Ignored if there are pkgs.

version
    The version to hold, where the package manager holds versions. (zypper)

${PKGS}

replace : False
    Whether all other packages are released.`,
  params: { ...PACKAGES, replace: p.bool(false) },
  varKwargs: "kwargs",
  run: (bound, context) => runHeld(bound, context),
});

export const unheld: ModuleFunction<StateContext> = stateFn({
  doc: `Packages are not held.

name
    The package. Ignored if there are pkgs.

version
    The version that is held. (zypper)

${PKGS}

all : False
    Whether every package is released.`,
  params: { ...PACKAGES, all: p.bool(false) },
  varKwargs: "kwargs",
  run: (bound, context) => runUnheld(bound, context),
});

const LOW = { low: p.dict() };

export const mod_init: ModuleFunction<StateContext> = declare<typeof LOW, StateContext>({
  doc:
    `Make the first state of the run that installs packages update the package lists. Called by the state runtime only.

low
    The first chunk of this module.`,
  params: LOW,
  async run({ low }, context) {
    const isReady = await hasFunction("pkg.ex_mod_init", context)
      ? isTrue(await context.call("pkg.ex_mod_init", [low]))
      : true;
    if (!["installed", "latest"].includes(str(low.get("fun") ?? ""))) return false;
    askForRefresh(context.opts);
    return isReady;
  },
});

const AGGREGATE = { low: p.dict(), chunks: p.list(), running: p.dict() };

export const mod_aggregate: ModuleFunction<StateContext> = declare<typeof AGGREGATE, StateContext>({
  doc:
    `Aggregate the packages of later states into one, so that the package manager runs once. Called by the state runtime only.

low
    The chunk that is about to run.

chunks
    The chunks of the run; those that are aggregated are marked.

running
    The results so far.`,
  params: AGGREGATE,
  run: ({ low, chunks, running }) => aggregatePackages(low, chunks, running),
});

const WATCHED: readonly string[] = ["purged", "latest", "removed", "installed"];

export const mod_watch: ModuleFunction<StateContext> = stateFn({
  doc: `Run the state again, because a watched state has changes. Called by the state runtime only.

name
    The state's name.`,
  params: { name: p.str() },
  varKwargs: "kwargs",
  async run({ name }, context, { kwargs }) {
    const sfun = str(kwargs.get("sfun") ?? null);
    const left: [Value, Value][] = [...kwargs].filter(([key]) => key !== "sfun");
    if (!WATCHED.includes(sfun)) return failState(name, `pkg.${sfun} does not work with the watch requisite`);
    return stateResult(await context.state(`pkg.${sfun}`, new Map([["name", name], ...left])));
  },
});
