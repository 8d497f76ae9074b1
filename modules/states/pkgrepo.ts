/**
 * State module `pkgrepo`: the repositories of the host's package manager.
 * Source: Salt 3008.3 `salt/states/pkgrepo.py`.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { hasFunction } from "./_execution.ts";
import { isConfigured, repoFamily } from "./_pkgrepo_comparison.ts";
import { CommandError, InvocationError, messageOf } from "#lib/errors.ts";
import { which } from "#lib/programs/which.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { writeWithUmask } from "#lib/os/new_files.ts";
import { definedRepository } from "#lib/host/debian_packages/apt_definition.ts";
import { parseSourceLine } from "#lib/host/debian_packages/apt_sources.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { splitWhitespace } from "#lib/text/split_lines.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { equals, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { saltenvOf } from "./_saltenv.ts";

export const virtual: Virtual = { serves: [{ functions: ["pkg.mod_repo"], otherwise: "" }] };

/** A note for plans with repositories. */
const PLANNED = "This may cause pkg states to behave differently than stated if this action is repeated without " +
  "test=True, due to the differences in the configured repositories.";

/** Arguments that exclude each other. Salt reports the last pair and continues. */
function contradiction(kwargs: ValueMap): string | undefined {
  const hasServer = kwargs.has("keyid") || kwargs.has("keyserver");
  if (kwargs.has("key_text") && kwargs.has("key_url")) {
    return 'You may not use both "key_url" and "key_text" argument.';
  }
  if (kwargs.has("key_text") && hasServer) {
    return 'You may not use both "keyid"/"keyserver" and "key_text" argument.';
  }
  return kwargs.has("key_url") && hasServer
    ? 'You may not use both "keyid"/"keyserver" and "key_url" argument.'
    : undefined;
}

/** The request of a state, after its arguments are parsed. */
interface Wanted {
  readonly name: string;
  /** The name for the package manager: the name, or a personal archive. */
  readonly repo: string;
  readonly kwargs: ValueMap;
  /** The fields that the repository should have. */
  readonly fields: ValueMap;
}

/** Converts the keywords to the form of the distribution's package manager. */
function understand(
  { name, ppa, copr }: { readonly name: string; readonly ppa: Value; readonly copr: Value },
  given: ValueMap,
  { grains }: StateContext,
): { readonly repo: string; readonly kwargs: ValueMap } {
  const kwargs = new Map(given);
  const [enabled, disabled] = [kwargs.get("enabled") ?? null, kwargs.get("disabled") ?? null];
  for (const key of ["enabled", "disabled", "allow_insecure_key"]) kwargs.delete(key);
  kwargs.set("name", name);
  const isEnabled = disabled !== null ? !isTrue(disabled) : enabled === null || isTrue(enabled);
  const family = grains.get("os_family");
  if (family === "Debian") {
    kwargs.set("disabled", !isEnabled);
    return { repo: ppa === null ? name : `ppa:${str(ppa)}`, kwargs };
  }
  if (family === "RedHat" || family === "Suse") {
    if (kwargs.has("humanname")) {
      kwargs.set("name", kwargs.get("humanname") ?? null);
      kwargs.delete("humanname");
    }
    kwargs.set("enabled", isEnabled);
    return { repo: family === "RedHat" && copr !== null ? `copr:${str(copr)}` : name, kwargs };
  }
  if (family === "NILinuxRT" || family === "Poky") kwargs.set("enabled", isEnabled);
  return { repo: name, kwargs };
}

/** Whether a file has other lines although it should have only this repository. */
function hasOtherLines(name: string, kwargs: ValueMap): boolean {
  const file = kwargs.get("file");
  if (!truthy(kwargs.get("clean_file")) || typeof file !== "string" || file === "") return false;
  const lines = (readTextFileIfExists(file) ?? "").split("\n").map((line) => line.trim());
  return lines.some((line) => line !== "" && !line.startsWith("#") && line !== name.trim());
}

export const managed: ModuleFunction<StateContext> = stateFn({
  doc: `A repository is configured.

name
    On Debian the line that defines it: \`deb [signed-by=/etc/apt/keyrings/x.gpg] https://example.com/debian trixie main\`.
    On yum, dnf and zypper its id.

ppa
    A personal package archive (PPA) of Ubuntu: \`owner/name\`.

copr
    A copr project of Fedora: \`owner/name\`.

aptkey : True
    Whether apt-key manages the keys, if it is installed.

enabled, disabled
    Whether the repository is enabled; give one of the two. Default: enabled.

humanname, baseurl, mirrorlist, metalink, gpgcheck, gpgkey, gpgautoimport, priority
    As in the files of yum, dnf and zypper: its name, address and keys.

comps, architectures
    For Debian: override the values of the line; separated by commas.

dist, uri, signedby, trusted, types, suites, uris
    For Debian: override the values of the line or paragraph.

file
    The file to write it to, below /etc/apt/sources.list.d.

clean_file : False
    Whether all other entries of that file are removed.

refresh : True
    Whether the package lists are updated after a change.

comments
    A comment, or a list of comments, for the entry.

keyid, keyserver
    The id of its key, or a list of ids, and the server to fetch them from.

key_url
    The file or URL of its key.

key_text
    The key as text.

allow_insecure_key : True
    Whether a key may be fetched by unencrypted http.

consolidate : False
    Whether entries of sources.list that differ only in components are merged.

More arguments are passed on to pkg.mod_repo.`,
  params: { name: p.str(), ppa: p.any(null), copr: p.any(null), aptkey: p.bool(true) },
  varKwargs: "kwargs",
  async run({ name, aptkey, ...bound }, context, { kwargs: given }) {
    if (!await hasFunction("pkg.get_repo", context)) {
      return failState(name, "Repo management not implemented on this platform");
    }
    if (given.has("repo")) {
      const comment =
        "'repo' is not a supported argument for this state. The 'name' argument is probably what was intended.";
      return failState(name, comment);
    }
    if ((given.get("enabled") ?? null) !== null && (given.get("disabled") ?? null) !== null) {
      return failState(name, "Only one of enabled/disabled is allowed");
    }
    const keyUrl = given.get("key_url");
    if (keyUrl !== undefined && str(keyUrl).trim().startsWith("http:")) {
      if (!truthy(given.get("allow_insecure_key") ?? true)) {
        return failState(name, "Cannot have 'key_url' using http with 'allow_insecure_key' set to True");
      }
      context.log("warning", `The key of the repository ${name} comes by plain http`);
    }
    const { repo, kwargs } = understand({ name, ...bound }, given, context);
    const family = repoFamily(context.grains.get("os_family"));
    let before: ValueMap;
    try {
      before = await getRepo(repo, kwargs, context);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return failState(name, `Failed to examine repo '${name}': ${error.message}`);
    }
    const isThere = before.size > 0;
    const fields = family === "Debian" && isThere ? definedRepository(repo, kwargs, context) : kwargs;
    if (isThere && !hasOtherLines(name, kwargs)) {
      // It may be in another file as well.
      before.delete("file");
      fields.delete("file");
      if (isConfigured(before, fields, { family, kwargs })) {
        return { ...startResult(name), comment: `Package repo '${name}' already configured` };
      }
    }
    if (family === "Debian" && isThere) keepAddress(kwargs, fields, before);
    const wanted: Wanted = { name, repo, kwargs, fields };
    if (context.test) {
      const changes = isThere ? changedFields(wanted, before, fields) : map({ repo: name });
      const result = contradiction(given) === undefined ? null : false;
      return { name, result, comment: `Package repo '${name}' would be configured. ${PLANNED}`, changes };
    }
    return await configure(wanted, before, { aptkey: aptkey && which("apt-key") !== undefined, context });
  },
});

async function getRepo(repo: string, kwargs: ValueMap, context: StateContext): Promise<ValueMap> {
  const answer = await context.call("pkg.get_repo", [], new Map([...kwargs, ["repo", repo]]));
  return isMap(answer) ? new Map(answer) : new Map();
}

/** Makes an address that differs only in its form be written. */
function keepAddress(kwargs: ValueMap, fields: ValueMap, before: ValueMap): void {
  const uri = fields.get("uri");
  if (!kwargs.has("uri") && uri !== undefined && before.has("uri") && before.get("uri") !== uri) kwargs.set("uri", uri);
  const [uris, there] = [fields.get("uris"), before.get("uris")];
  if (!kwargs.has("uris") && Array.isArray(uris) && uris.length > 0 && Array.isArray(there)) {
    if (!there.includes(uris[0])) kwargs.set("uris", uris);
  }
}

/** The fields that differ, with both values. */
function changedFields({ fields }: Wanted, before: ValueMap, after: ValueMap): ValueMap {
  const changes: ValueMap = new Map();
  for (const key of fields.keys()) {
    const [old, now] = [before.get(key) ?? null, after.get(key) ?? null];
    if (!equals(old, now)) changes.set(key, map({ new: now, old }));
  }
  return changes;
}

async function configure(
  wanted: Wanted,
  before: ValueMap,
  { aptkey, context }: { readonly aptkey: boolean; readonly context: StateContext },
): Promise<StateResult> {
  const { name, repo, kwargs } = wanted;
  if (truthy(kwargs.get("clean_file"))) writeWithUmask(str(kwargs.get("file") ?? null), "");
  try {
    const own: ValueMap = repoFamily(context.grains.get("os_family")) === "Debian"
      ? map({ saltenv: saltenvOf(context), aptkey })
      : new Map();
    await context.call("pkg.mod_repo", [repo], new Map([...own, ...kwargs]));
  } catch (error) {
    context.log("debug", `pkg.mod_repo ${repo}: ${messageOf(error)}`);
    return failState(name, `Failed to configure repo '${name}': ${messageOf(error)}`);
  }
  try {
    const after = await getRepo(repo, kwargs, context);
    const changes = before.size > 0 ? changedFields(wanted, before, after) : map({ repo });
    return { name, result: true, comment: `Configured package repo '${name}'`, changes };
  } catch (error) {
    context.log("debug", `pkg.get_repo ${repo}: ${messageOf(error)}`);
    return failState(name, `Failed to confirm config of repo '${name}': ${messageOf(error)}`);
  }
}

/** A definition without the slash at the end of its address. */
function withoutSlash(definition: string): string {
  const words = splitWhitespace(definition);
  return words.map((word) => /^(https?|ftp):\/\//.test(word) ? rstripChars(word, "/") : word).join(" ");
}

/** The name with exactly one prefix. */
function withPrefix(prefix: string, given: Value): string {
  const name = str(given);
  return name.startsWith(prefix) ? name : prefix + name;
}

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `A repository is not configured.

name
    As in pkgrepo.managed.

ppa
    A personal package archive (PPA) of Ubuntu: \`owner/name\`.

copr
    A copr project of Fedora: \`owner/name\`.

keyid
    The id of a key that is deleted too.

keyid_ppa : False
    Whether the key of the personal archive is deleted too.

More arguments are passed on to pkg.del_repo and pkg.del_repo_key.`,
  params: { name: p.str() },
  varKwargs: "kwargs",
  async run({ name: id }, context, { kwargs: given }) {
    const kwargs = new Map(given);
    const [os, family] = [context.grains.get("os"), str(context.grains.get("os_family") ?? "")];
    let name = id;
    if (kwargs.has("ppa") && (os === "Ubuntu" || os === "Mint")) {
      name = withPrefix("ppa:", kwargs.get("ppa") ?? null);
      kwargs.delete("ppa");
    }
    if (kwargs.has("copr") && family === "RedHat") {
      name = withPrefix("copr:", kwargs.get("copr") ?? null);
      kwargs.delete("copr");
    }
    const removesKey = ["keyid", "keyid_ppa"].some((key) => (kwargs.get(key) ?? null) !== null);
    if (removesKey && !await hasFunction("pkg.del_repo_key", context)) {
      return failState(id, "Repo key management is not implemented for this platform");
    }
    const isDebian = family === "Debian";
    const repo = isDebian ? withoutSlash(name) : name;
    let there: Value;
    try {
      there = await context.call("pkg.get_repo", [repo], kwargs);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return failState(id, `Failed to configure repo '${name}': ${error.message}`);
    }
    const isThere = isMap(there) && there.size > 0 && (!isDebian || hasArchitectures(there, repo));
    if (!isThere) return { ...startResult(id), comment: `Package repo ${name} is absent` };
    if (context.test) {
      return { ...startResult(id, null), comment: `Package repo '${name}' will be removed. ${PLANNED}` };
    }
    return await remove(id, { name, repo, kwargs, removesKey }, context);
  },
});

/** Whether a repository has the architectures of a definition. A personal archive has none. */
function hasArchitectures(there: ValueMap, definition: string): boolean {
  const wanted = new Set(parseSourceLine(definition)?.architectures ?? []);
  const architectures = there.get("architectures");
  const own = new Set(listOrEmpty(architectures).map(str));
  return wanted.size === own.size && [...wanted].every((one) => own.has(one));
}

/** Deletes a repository, and, if requested, its key. */
async function remove(
  id: string,
  { name, repo, kwargs, removesKey }: {
    readonly name: string;
    readonly repo: string;
    readonly kwargs: ValueMap;
    readonly removesKey: boolean;
  },
  context: StateContext,
): Promise<StateResult> {
  try {
    await context.call("pkg.del_repo", [], new Map([...kwargs, ["repo", repo]]));
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof InvocationError)) throw error;
    return failState(id, error.message);
  }
  const left = await context.call("pkg.list_repos");
  if (isMap(left) ? left.has(repo) : Array.isArray(left) && left.includes(repo)) {
    return failState(id, `Failed to remove repo ${name}`);
  }
  const changes = map({ repo: name });
  const comment = `Removed repo ${name}`;
  if (!removesKey) return { ...startResult(id), comment, changes };
  try {
    const keyid = await context.call("pkg.del_repo_key", [repo], kwargs);
    changes.set("keyid", keyid);
    return { ...startResult(id), comment: `${comment}, and keyid ${str(keyid)}`, changes };
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof InvocationError)) throw error;
    return failState(id, `${comment}, but failed to remove key: ${error.message}`, changes);
  }
}
