/**
 * Whether a repository is configured as a state asks for it.
 * Source: Salt 3008.3 `salt/states/pkgrepo.py`.
 * @module
 */

import { yumComments } from "#lib/host/packages/repo_files.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { asList } from "#lib/values/shape.ts";
import { compareStrings, equals, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** How the distribution's package manager keeps repositories. */
export type RepoFamily = "Debian" | "RedHat" | "Suse" | "other";

/** The family of a grain `os_family`. */
export function repoFamily(family: Value | undefined): RepoFamily {
  return family === "Debian" || family === "RedHat" || family === "Suse" ? family : "other";
}

function words(value: Value): string[] {
  return Array.isArray(value) ? value.map(str) : [...str(value)];
}

function isSameSorted(a: Value, b: Value): boolean {
  return equals(words(a).sort(compareStrings), words(b).sort(compareStrings));
}

/** Comments as one line, as apt keeps them. */
function aptComments(comments: Value): string {
  return asList(comments).map(str).join(" ").trim();
}

/** The line of a source, with what follows the address and the suite in one order. */
function sortedLine(line: string): string[] {
  const split = line.trim().split(/\s+/);
  return [...split.slice(0, 3), ...split.slice(3).sort(compareStrings)];
}

/**
 * Whether the existing repository equals the requested one.
 * @param wanted The fields that it should have, without its file.
 * @param kwargs The state's keywords.
 */
export function isConfigured(
  there: ValueMap,
  wanted: ValueMap,
  { family, kwargs }: { readonly family: RepoFamily; readonly kwargs: ValueMap },
): boolean {
  return [...wanted].every(([key, value]) => {
    const name = str(key);
    const now = there.get(key);
    if (now === undefined) return isFineWithout(name, value, family);
    if (name === "comps" || name === "key_url") return isSameSorted(value, now);
    if (name === "line" && family === "Debian") return isSameLine(str(now), str(value), { wanted, kwargs });
    if (name === "comments" && family === "RedHat") return yumComments(now) === yumComments(value);
    if (name === "architectures" && truthy(value)) {
      const [expected, given] = [new Set(words(value)), new Set(words(now))];
      return expected.size === given.size && [...expected].every((one) => given.has(one));
    }
    const areRpm = family === "RedHat" || family === "Suse";
    if (areRpm && (typeof value === "boolean" || typeof now === "boolean")) return isTrue(value) === isTrue(now);
    // A paragraph without a key has none, a line has an empty one.
    if (family === "Debian" && name === "signedby") return str(value ?? "") === str(now ?? "");
    return str(value) === str(now);
  });
}

/** Whether a field may be missing: yum's repositories are enabled by default. */
function isFineWithout(name: string, value: Value, family: RepoFamily): boolean {
  if (name === "enabled") return family === "RedHat" && isTrue(value);
  return name !== "comps" && name !== "key_url";
}

function isSameLine(
  now: string,
  expected: string,
  { wanted, kwargs }: { readonly wanted: ValueMap; readonly kwargs: ValueMap },
): boolean {
  if (truthy(wanted.get("disabled"))) return true;
  const hash = now.indexOf("#");
  const [line, comments] = hash < 0 ? [now, ""] : [now.slice(0, hash), now.slice(hash + 1).trim()];
  if (!equals(sortedLine(expected), sortedLine(line))) return false;
  const wantedComments = kwargs.get("comments");
  return wantedComments === undefined || comments === aptComments(wantedComments);
}
