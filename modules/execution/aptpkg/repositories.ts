/**
 * The functions of the module `pkg` of Debian for repositories and their keys.
 * Source: the functions of Salt 3008.3 `salt/modules/aptpkg.py`.
 * @module
 */

import { baseName } from "#lib/os/paths.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { which as findProgram } from "#lib/programs/which.ts";
import * as apt from "#lib/host/debian_packages/apt.ts";
import { archiveLine, hasArchives } from "#lib/host/debian_packages/apt_definition.ts";
import {
  addKey,
  deleteKey,
  type KeyPlace,
  listKeys,
  type NewKey,
  personalArchive,
} from "#lib/host/debian_packages/apt_keys.ts";
import { runApt } from "#lib/host/debian_packages/run_apt.ts";
import * as repositories from "#lib/host/debian_packages/apt_repositories.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { asList } from "#lib/values/shape.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const list_repos: ModuleFunction<JobContext> = fn({
  doc: describe("Return the repositories by their address, those that are disabled among them.", "pkg.list_repos"),
  permissions: "all",
  params: {},
  varKwargs: "kwargs",
  run: () => repositories.listAptRepositories(),
});

export const get_repo: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a repository, named by the line that would define it; an empty map if it is not there.",
    'pkg.get_repo "deb http://deb.debian.org/debian trixie main"',
  ),
  permissions: "all",
  params: { repo: p.str() },
  varKwargs: "kwargs",
  run: ({ repo }, context, { kwargs }) =>
    repositories.getAptRepository(hasArchives(context.grains) ? archiveLine(repo, context, kwargs) : repo),
});

export const del_repo: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Delete a repository, named by the line that defines it, or some of its components. A file below sources.list.d that\n" +
      "had nothing else in it is removed. refresh=False does not update the package lists first.",
    'pkg.del_repo "deb http://deb.debian.org/debian trixie main"',
  ),
  permissions: "all",
  params: { repo: p.str() },
  varKwargs: "kwargs",
  async run({ repo }, context, { kwargs }) {
    // Without personal archives none is there.
    const line = hasArchives(context.grains) ? archiveLine(repo, context, kwargs) : repo;
    const result = repositories.deleteAptRepository(line);
    if (isTrue(kwargs.get("refresh") ?? true)) await apt.refreshPackages(context);
    return result;
  },
});

export const mod_repo: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change a repository, or add it. repo is the line that defines it, and a personal archive of Ubuntu `ppa:owner/name`.\n" +
      "Return the repository by that name.\n\n" +
      "More keywords: architectures and comps (with commas between), disabled, enabled, file, comments, dist, type, trusted,\n" +
      "consolidate; keyid with keyserver, key_url or key_text for its key; refresh=False does not update the package lists first.",
    'pkg.mod_repo "deb http://deb.debian.org/debian trixie main" comps=main,contrib',
    'pkg.mod_repo "deb [signed-by=/etc/apt/keyrings/x.gpg] https://example.com/debian trixie main" file=/etc/apt/sources.list.d/x.list',
  ),
  permissions: "all",
  params: { repo: p.str(), saltenv: p.str("base"), aptkey: p.bool(true) },
  varKwargs: "kwargs",
  async run({ repo, saltenv, aptkey }, context, { kwargs }) {
    const options = new Map(ownKeywords(kwargs));
    const line = archiveLine(repo, context, options);
    if (line !== repo) await preparePersonalArchive(repo, context, options);
    const usesAptKey = aptkey && findProgram("apt-key") !== undefined;
    await importKey(line, { saltenv, aptkey: usesAptKey, options, context });
    repositories.changeAptRepository(line, { kwargs: options, needsKey: !usesAptKey });
    if (isTrue(kwargs.get("refresh_db") ?? kwargs.get("refresh") ?? true)) await apt.refreshPackages(context);
    return map({ [line]: repositories.getAptRepository(line) });
  },
});

/** Sets the file and the key's id of a personal archive. */
async function preparePersonalArchive(repo: string, { grains }: JobContext, options: ValueMap): Promise<void> {
  const [, owner, name] = /^ppa:([^/]+)\/(.+)$/.exec(repo) ?? [];
  const result = await personalArchive(owner, name);
  if (!options.has("file")) {
    options.set("file", `/etc/apt/sources.list.d/${owner}-${name}-${str(grains.get("oscodename") ?? "")}.list`);
  }
  if (options.has("ppa_auth") && result.get("private") !== true) {
    throw new CommandError(`PPA is not private but auth credentials passed: ${repo}`);
  }
  if (!options.has("keyid")) options.set("keyid", String(result.get("signing_key_fingerprint") ?? ""));
  if (!options.has("keyserver")) options.set("keyserver", "keyserver.ubuntu.com");
}

/**
 * Imports the key that the keywords name.
 * @throws {CommandError} If it cannot be had.
 */
async function importKey(
  line: string,
  { saltenv, aptkey, options, context }: {
    readonly saltenv: string;
    readonly aptkey: boolean;
    readonly options: ValueMap;
    readonly context: JobContext;
  },
): Promise<void> {
  const [given, server] = [options.get("keyid"), options.get("keyserver")];
  const ids = given === undefined ? undefined : asList(given).map(keyId);
  if (ids !== undefined && (!truthy(given) || !truthy(server))) {
    throw new InvocationError("both keyserver and keyid options required.");
  }
  const keys: Keys = { ids, server: str(server ?? ""), url: options.get("key_url"), text: options.get("key_text") };
  if (aptkey) return await importByAptKey(keys, saltenv, context);
  const signedBy = /signed-by=([^\s\]]+)/.exec(line)?.[1];
  const keydir = signedBy === undefined ? null : signedBy.replace(/\/[^/]*$/, "");
  const keyfile = signedBy === undefined ? null : baseName(signedBy);
  const none: NewKey = { path: null, text: null, keyserver: null, keyid: null, saltenv, keyfile };
  const add = async (key: Partial<NewKey>, what: string) => {
    if (await addKey({ ...none, ...key }, { aptkey, keydir }, context)) return;
    throw new CommandError(`Error: Could not add key: ${what}`);
  };
  if (ids !== undefined) { for (const id of ids) await add({ keyid: id, keyserver: keys.server }, id); }
  else if (keys.url !== undefined) await add({ path: str(keys.url) }, str(keys.url));
  else if (keys.text !== undefined) await add({ text: str(keys.text) }, str(keys.text));
}

/** The keys that the keywords name, in one of three ways. */
interface Keys {
  readonly ids: readonly string[] | undefined;
  readonly server: string;
  readonly url: Value | undefined;
  readonly text: Value | undefined;
}

/** YAML makes a number of `0xAB12`. */
function keyId(given: Value): string {
  return typeof given === "number" || typeof given === "bigint" ? `0x${given.toString(16)}` : str(given);
}

/** @throws {CommandError} If apt-key does not take a key. */
async function importByAptKey(keys: Keys, saltenv: string, context: JobContext): Promise<void> {
  const output = async (words: readonly string[], stdin?: string) =>
    (await runApt(["apt-key", ...words], context, { scope: false, ...stdin !== undefined && { stdin } })).stdout;
  const isTaken = (result: string) => result.toUpperCase().startsWith("OK");
  if (keys.ids !== undefined) {
    for (const given of keys.ids) {
      const id = checkedWord(given, "key id");
      if ((await output(["export", id])).startsWith("-----BEGIN PGP")) continue;
      const from = ["--keyserver", checkedWord(keys.server, "key server"), "--logger-fd", "1", "--recv-keys", id];
      const { retcode, stdout } = await runApt(["apt-key", "adv", "--batch", ...from], context, { scope: false });
      if (retcode !== 0) throw new CommandError(`Error: key retrieval failed: ${stdout}`);
    }
  } else if (keys.url !== undefined) {
    const url = str(keys.url);
    const file = await context.call("cp.cache_file", [url, saltenv]);
    if (typeof file !== "string" || file === "") throw new CommandError(`Error: file not found: ${url}`);
    if (!isTaken(await output(["add", file]))) throw new CommandError(`Error: failed to add key from ${url}`);
  } else if (keys.text !== undefined) {
    const key = str(keys.text);
    if (!isTaken(await output(["add", "-"], key))) throw new CommandError(`Error: failed to add key:\n${key}`);
  }
}

const KEY_PLACE = { aptkey: p.bool(true), keydir: p.str(null) };

export const get_repo_keys: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the keys of the repositories by their ids: those of apt-key, or where there is none, or with aptkey=False, those\n" +
      "of the files in keydir, /etc/apt/keyrings by default.",
    "pkg.get_repo_keys",
  ),
  permissions: "all",
  params: KEY_PLACE,
  run: (place: KeyPlace, context) => listKeys(place, context),
});

export const add_repo_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a key for repositories: from a file or URL (path), as text, or by its id from a key server. Without apt-key it is\n" +
      "put into keydir, /etc/apt/keyrings by default, under the name keyfile. Return whether it is there.",
    "pkg.add_repo_key /root/key.gpg aptkey=False",
    "pkg.add_repo_key keyserver='keyserver.example' keyid='0000AAAA'",
  ),
  permissions: "all",
  params: {
    path: p.str(null),
    text: p.str(null),
    keyserver: p.str(null),
    keyid: p.str(null),
    saltenv: p.str("base"),
    aptkey: p.bool(true),
    keydir: p.str(null),
    keyfile: p.str(null),
  },
  run: ({ aptkey, keydir, ...key }, context) => addKey(key, { aptkey, keydir }, context),
});

export const del_repo_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Delete a key, named by keyid, or with keyid_ppa=True the key of the personal archive in name.",
    "pkg.del_repo_key keyid=0123ABCD",
    "pkg.del_repo_key name='ppa:foo/bar' keyid_ppa=True",
  ),
  permissions: "all",
  params: { name: p.str(null), ...KEY_PLACE },
  varKwargs: "kwargs",
  async run({ name, aptkey, keydir }, context, { kwargs }) {
    let keyid = kwargs.get("keyid");
    if (isTrue(kwargs.get("keyid_ppa"))) {
      const [, owner, archive] = /^ppa:([^/]+)\/(.+)$/.exec(name ?? "") ?? [];
      if (owner === undefined) throw new InvocationError("keyid_ppa requires that a PPA be passed");
      keyid = String((await personalArchive(owner, archive)).get("signing_key_fingerprint") ?? "").slice(-8);
    }
    if (keyid === undefined) throw new InvocationError("keyid or keyid_ppa and PPA name must be passed");
    return await deleteKey(str(keyid), { aptkey, keydir }, context);
  },
});
