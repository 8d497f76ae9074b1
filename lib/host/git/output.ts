/**
 * Parsers for the output of git. Pure functions over text.
 * Source: Salt 3008.3, `salt/modules/git.py`; git-status(1), git-worktree(1), git-fetch(1).
 * @module
 */

import { splitLines } from "#lib/text/split_lines.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** The first word of a line, and the rest; `undefined` if there is no rest. */
function splitOnce(line: string): [string, string] | undefined {
  const [, first, rest] = /^\s*(\S+)\s+(\S[^]*)$/.exec(line) ?? [];
  return first === undefined ? undefined : [first, rest];
}

/** The changes in the output of `git fetch`. */
export function parseFetch(text: string): ValueMap {
  const result: ValueMap = new Map();
  const list = (key: string, name: string) => {
    const names = result.get(key);
    if (Array.isArray(names)) names.push(name);
    else result.set(key, [name]);
  };
  for (const line of text.split("\n")) {
    const match = /^[\s*]*(?:([0-9a-f]+)\.\.([0-9a-f]+)|\[(?:new (tag|branch)|tag update)\])\s+(.+)->/.exec(line);
    if (match === null) continue;
    const [, old, now, kind, given] = match;
    const name = given.trimEnd();
    if (kind !== undefined) list(kind === "tag" ? "new tags" : "new branches", name);
    else if (old === undefined) list("updated tags", name);
    else {
      const updated = result.get("updated branches");
      const branches = updated instanceof Map ? updated : new Map<Value, Value>();
      result.set("updated branches", branches.set(name, map({ old, new: now })));
    }
  }
  return result;
}

/** The URLs of remotes, by their names, by `fetch` and `push`. */
export type Remotes = Map<string, Map<string, string>>;

/** The remotes of `git remote --verbose`. */
export function parseRemotes(text: string): Remotes {
  const remotes: Remotes = new Map();
  for (const line of text.split("\n")) {
    const [, name, url, action] = /^\s*(\S+)\s+(\S.*?)\s+\(?(fetch|push)\)*\s*$/i.exec(line) ?? [];
    if (name === undefined) continue;
    const urls = remotes.get(name) ?? new Map<string, string>();
    remotes.set(name, urls.set(action.toLowerCase(), url));
  }
  return remotes;
}

/** The remotes with other URLs. */
export function mapUrls(remotes: Remotes, change: (url: string) => string): Remotes {
  return new Map([...remotes].map(([name, urls]) => [
    name,
    new Map([...urls].map(([action, url]) => [action, change(url)])),
  ]));
}

const STATES: Readonly<Record<string, string>> = { M: "modified", A: "new", D: "deleted", "??": "untracked" };

/** The files of `git status -z --porcelain`, by state. */
export function parseStatus(text: string): ValueMap {
  const files = new Map<Value, Value[]>();
  for (const entry of text.split("\0")) {
    const [state, name] = splitOnce(entry) ?? [];
    if (state === undefined || name === undefined) continue;
    const key = STATES[state] ?? state;
    const names = files.get(key);
    if (names === undefined) files.set(key, [name]);
    else names.push(name);
  }
  return new Map(files);
}

/** The hashes of references, by their names. */
export function parseReferences(text: string): ValueMap {
  return new Map(
    splitLines(text).flatMap((line): [Value, Value][] => {
      const [hash, name] = splitOnce(line) ?? [];
      return hash === undefined || name === undefined ? [] : [[name, hash]];
    }),
  );
}

/** The values of each option that `git config --get-regexp` prints. */
export function parseConfig(text: string): ValueMap {
  const config = new Map<Value, Value[]>();
  for (const line of splitLines(text)) {
    const [name, value] = splitOnce(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const values = config.get(name);
    if (values === undefined) config.set(name, [value]);
    else values.push(value);
  }
  return new Map(config);
}

/** A worktree of `git worktree list --porcelain`. */
export interface Worktree {
  readonly path: string;
  readonly head: string;
  /** Without `refs/heads/`; `undefined` if the head is detached. */
  readonly branch?: string;
}

/** The worktrees; an incomplete entry (a bare repository) is left out. */
export function parseWorktrees(text: string): Worktree[] {
  return text.trim().split("\n\n").flatMap((paragraph) => {
    const result = new Map(paragraph.split("\n").map((line) => splitOnce(line) ?? [line.trim(), ""]));
    const [path, head, branch] = [result.get("worktree"), result.get("HEAD"), result.get("branch")];
    if (!path || !head || (!branch && !result.has("detached"))) return [];
    return [{ path, head, ...branch && { branch: branch.replace("refs/heads/", "") } }];
  });
}

/** The version in `git --version`: `git version 2.39.5 (Apple Git-154)`. */
export function parseGitVersion(text: string): string {
  return text.split("(")[0].trim().split(/\s+/).at(-1) || "unknown";
}
