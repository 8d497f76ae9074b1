/**
 * The full definition of a repository: the line with the keywords that change it, in the form of an existing
 * repository. Source: Salt 3008.3, `salt/modules/aptpkg.py` _expand_repo_def.
 * @module
 */

import { type AptSource, parseSourceLine, shownSources } from "./apt_sources.ts";
import { CommandError } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { strip } from "#lib/values/python_text.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Whether the distribution has personal archives. */
export function hasArchives(grains: ValueMap): boolean {
  return ["Ubuntu", "Mint", "neon"].includes(str(grains.get("os") ?? ""));
}

/**
 * A personal archive's name, `ppa:owner/name`, as a line of sources; another definition as it is.
 * @throws {CommandError}
 */
export function archiveLine(repo: string, { grains }: JobContext, kwargs: ValueMap): string {
  const [, owner, name] = /^ppa:([^/]+)\/(.+)$/.exec(repo) ?? [];
  if (!repo.startsWith("ppa:")) return repo;
  if (!hasArchives(grains)) {
    throw new CommandError(`cannot parse "ppa:" style repo definitions: ${repo}`);
  }
  if (owner === undefined) {
    throw new CommandError(
      'Unable to get PPA info from argument. Expected format "<PPA_OWNER>/<PPA_NAME>" (e.g. saltstack/salt) not found.  ' +
        `Received '${repo.slice(4)}' instead.`,
    );
  }
  const suite = str(grains.get("oscodename") ?? "");
  const auth = kwargs.get("ppa_auth");
  return truthy(auth)
    ? `deb https://${str(auth ?? "")}@private-ppa.launchpad.net/${owner}/${name}/ubuntu ${suite} main`
    : `deb http://ppa.launchpad.net/${owner}/${name}/ubuntu ${suite} main`;
}

/** The words of a keyword: a list, or a text with commas. */
export function keywordWords(value: Value): string[] {
  return splitInput(value).map(strip);
}

/**
 * The repository that a definition describes.
 * @param kwargs Keywords of `pkg.mod_repo`.
 * @throws {CommandError} If the definition is none.
 */
export function definedRepository(repo: string, kwargs: ValueMap, context: JobContext): ValueMap {
  const line = archiveLine(repo, context, kwargs);
  const file = kwargs.get("file") ?? archiveFile(repo, context);
  const parsed = parseSourceLine(line, file === undefined ? undefined : str(file));
  if (parsed === undefined) throw new CommandError(`Error: repo '${line}' is not a well formatted definition`);
  const keyword = (key: string) => kwargs.get(key);
  const source: AptSource = { ...parsed, comment: "", options: new Map() };
  const [comps, architectures, trusted] = [keyword("comps"), keyword("architectures"), keyword("trusted")];
  if (comps !== undefined) source.comps = keywordWords(comps);
  if (architectures !== undefined) source.architectures = keywordWords(architectures);
  if (truthy(keyword("uri"))) source.uris = [str(keyword("uri") ?? "")];
  if (truthy(keyword("dist"))) source.suites = [str(keyword("dist") ?? "")];
  if (keyword("signedby") !== undefined) source.signedby = str(keyword("signedby") ?? "");
  if (keyword("disabled") !== undefined) source.disabled = isTrue(keyword("disabled"));
  source.trusted = trusted === undefined ? null : isTrue(trusted) || trusted === "yes";
  if (source.file.endsWith(".sources")) {
    for (const key of ["types", "uris", "suites"] as const) {
      const list = keyword(key);
      if (Array.isArray(list) && list.length > 0) source[key] = list.map(str);
    }
  }
  const [info] = shownSources(source);
  info.delete("enabled");
  info.set("signedby", source.signedby);
  return info;
}

/** The file that a personal archive is written to. */
function archiveFile(repo: string, { grains }: JobContext): string | undefined {
  const [, owner, name] = /^ppa:([^/]+)\/(.+)$/.exec(repo) ?? [];
  if (owner === undefined) return undefined;
  return `/etc/apt/sources.list.d/${owner}-${name}-${str(grains.get("oscodename") ?? "")}.list`;
}
