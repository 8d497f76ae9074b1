/**
 * Execution module `gem`: packages of Ruby.
 * Source: the functions of Salt 3006 `salt/modules/gem.py`, which Salt 3008 has given away.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import {
  parseGemList,
  parseGemOutdated,
  parseGemVersion,
  parseSources,
} from "#lib/host/language_packages/gem_output.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { splitWhitespace } from "#lib/text/split_lines.ts";
import { hasPassword } from "#lib/text/url_credentials.ts";
import { str, type Value } from "#lib/values/value.ts";

/** Which gem runs, and as whom. */
interface Gem {
  readonly ruby: string | null;
  readonly runas: string | null;
  readonly gem_bin: string | null;
  /** More variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * What gem prints.
 * @throws {CommandError} If it fails.
 */
async function gem(
  words: readonly string[],
  { runas, gem_bin, env }: Gem,
  context: JobContext,
): Promise<string> {
  const { retcode, stdout, stderr } = await runProgram([gem_bin || "gem", ...words], context, {
    env,
    setsRetcode: true,
    ...runas && { runas },
  });
  if (retcode === 0) return stdout;
  throw new CommandError(stderr);
}

/** Names of a list, or of a text with blanks. */
function names(given: Value): string[] {
  const list = Array.isArray(given) ? given.map(str) : splitWhitespace(str(given));
  return list.map((one) => checkedWord(one, "gem"));
}

const WHICH = { ruby: p.str(null), runas: p.str(null), gem_bin: p.str(null) };

async function versionOf(which: Gem, context: JobContext): Promise<string | undefined> {
  return parseGemVersion(await gem(["--version"], which, context));
}

export const install: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install gems, a list or a text with blanks, and return the output of gem. rdoc, ri: also their documentation. gem_bin: the\n" +
      "program; runas: the user.",
    "gem.install vagrant",
    "gem.install redphone gem_bin=/opt/sensu/embedded/bin/gem",
  ),
  permissions: "all",
  params: {
    gems: p.any(),
    ruby: p.str(null),
    gem_bin: p.str(null),
    runas: p.str(null),
    version: p.str(null),
    rdoc: p.bool(false),
    ri: p.bool(false),
    pre_releases: p.bool(false),
    proxy: p.str(null),
    source: p.str(null),
  },
  async run({ gems, version, rdoc, ri, pre_releases, proxy, source, ...which }, context) {
    const isThird = (await versionOf(which, context))?.startsWith("3.") ?? false;
    const documents = isThird
      ? (rdoc && ri ? [] : ["--no-document"])
      : [...rdoc ? [] : ["--no-rdoc"], ...ri ? [] : ["--no-ri"]];
    // With a password it is in gem's environment, since others can read arguments.
    const hidden = proxy !== null && hasPassword(proxy);
    const env = hidden ? { http_proxy: proxy, https_proxy: proxy } : undefined;
    const words = [
      "install",
      ...names(gems),
      ...version ? ["--version", version] : [],
      ...documents,
      ...pre_releases ? [isThird ? "--prerelease" : "--pre"] : [],
      ...proxy && !hidden ? ["-p", proxy] : [],
      ...source ? ["--source", source] : [],
    ];
    return await gem(words, { ...which, env }, context);
  },
});

const GEMS = { gems: p.any(), ...WHICH };

export const uninstall: ModuleFunction<JobContext> = fn({
  doc: describe("Remove all versions of gems, and return the output of gem.", "gem.uninstall vagrant"),
  permissions: "all",
  params: GEMS,
  run: ({ gems, ...which }, context) => gem(["uninstall", ...names(gems), "-a", "-x"], which, context),
});

export const update: ModuleFunction<JobContext> = fn({
  doc: describe("Update gems, and return the output of gem.", "gem.update vagrant"),
  permissions: "all",
  params: GEMS,
  run: ({ gems, ...which }, context) => gem(["update", ...names(gems)], which, context),
});

export const update_system: ModuleFunction<JobContext> = fn({
  doc: describe("Update gem itself, to a version or the newest.", "gem.update_system"),
  permissions: "all",
  params: { version: p.str(""), ...WHICH },
  run: ({ version, ...which }, context) => gem(["update", "--system", version], which, context),
});

export const version: ModuleFunction<JobContext> = fn({
  doc: describe("Return the version of gem.", "gem.version"),
  permissions: "all",
  params: WHICH,
  run: async (which, context) => await versionOf(which, context) ?? {},
});

export const list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the installed gems with their versions; with prefix those whose names begin with it.",
    "gem.list",
  ),
  permissions: "all",
  params: { prefix: p.str(""), ...WHICH },
  run: async ({ prefix, ...which }, context) =>
    parseGemList(await gem(["list", ...prefix === "" ? [] : [checkedWord(prefix, "gem")]], which, context)),
});

export const list_upgrades: ModuleFunction<JobContext> = fn({
  doc: describe("Return the gems that have a newer version, with that version.", "gem.list_upgrades"),
  permissions: "all",
  params: WHICH,
  run: async (which, context) => parseGemOutdated(await gem(["outdated"], which, context)),
});

const SOURCE = { source_uri: p.str(), ...WHICH };

export const sources_add: ModuleFunction<JobContext> = fn({
  doc: describe("Add a source of gems.", "gem.sources_add http://rubygems.org/"),
  permissions: "all",
  params: SOURCE,
  run: ({ source_uri, ...which }, context) =>
    gem(["sources", "--add", checkedWord(source_uri, "source")], which, context),
});

export const sources_remove: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a source of gems.", "gem.sources_remove http://rubygems.org/"),
  permissions: "all",
  params: SOURCE,
  run: ({ source_uri, ...which }, context) =>
    gem(["sources", "--remove", checkedWord(source_uri, "source")], which, context),
});

export const sources_list: ModuleFunction<JobContext> = fn({
  doc: describe("Return the sources of gems.", "gem.sources_list"),
  permissions: "all",
  params: WHICH,
  run: async (which, context) => parseSources(await gem(["sources"], which, context)),
});
