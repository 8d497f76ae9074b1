/**
 * State module `file`: removes old or large files of a directory.
 * Source: Salt 3008.3 `salt/states/file.py` tidied.
 * @module
 */

import { isHostError, notAbsolute, reasonOf, textList } from "./common.ts";
import { isAbsolute, joinPath } from "#lib/os/paths.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import { type PythonRegex, pythonRegex } from "#lib/regex/regex.ts";
import { humanToBytes } from "#lib/jinja/filters/text.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { map, toNumber, truthy, type Value } from "#lib/values/value.ts";

const DAY_MS = 86_400_000;

/** The number of a day in local time. */
function dayOf(time: Date): number {
  return Math.round(Date.UTC(time.getFullYear(), time.getMonth(), time.getDate()) / DAY_MS);
}

/**
 * The paths below a directory, those in a directory before itself, files before directories: Python's `os.walk` from
 * the bottom.
 */
function* fromBottom(
  top: string,
  followlinks: boolean,
): Generator<{ readonly name: string; readonly path: string }, void> {
  const files: string[] = [], directories: string[] = [];
  for (const entry of Deno.readDirSync(top)) {
    const leads = entry.isDirectory || (entry.isSymlink && isDirectory(joinPath(top, entry.name)));
    (leads ? directories : files).push(entry.name);
    if (leads && (followlinks || !entry.isSymlink)) yield* fromBottom(joinPath(top, entry.name), followlinks);
  }
  for (const name of [...files, ...directories]) yield { name, path: joinPath(top, name) };
}

/** Which files are removed. */
interface Criteria {
  readonly age: number;
  readonly size: number;
  readonly matches: readonly PythonRegex[];
  readonly exclude: readonly PythonRegex[];
  readonly fullPath: boolean;
  readonly rmdirs: boolean;
  readonly rmlinks: boolean;
  readonly time: "atime" | "ctime" | "mtime";
  /** How age and size count: both, one of them, or one alone. */
  readonly rule: "AND" | "OR" | "age" | "size";
}

/**
 * Whether a path is to be removed.
 * @throws What Deno throws if that cannot be seen.
 */
function isJunk({ name, path }: { readonly name: string; readonly path: string }, criteria: Criteria): boolean {
  const own = Deno.lstatSync(path);
  const info = own.isSymlink ? own : Deno.statSync(path);
  const allowed = own.isSymlink ? criteria.rmlinks : info.isDirectory ? criteria.rmdirs : true;
  const size = own.isSymlink || info.isDirectory ? 0 : info.size;
  const time = info[criteria.time] ?? new Date(0);
  const old = Math.abs(dayOf(new Date()) - dayOf(time)) >= criteria.age, large = size >= criteria.size;
  const meets = { AND: old && large, OR: old || large, age: old, size: large }[criteria.rule];
  const subject = criteria.fullPath ? path : name;
  const chosen = criteria.matches.some((regex) => regex.test(subject)) &&
    !criteria.exclude.some((regex) => regex.test(subject));
  return meets && chosen && allowed;
}

function junkBelow(top: string, { criteria, followlinks }: {
  readonly criteria: Criteria;
  readonly followlinks: boolean;
}, context: StateContext): string[] {
  return [...fromBottom(top, followlinks)].filter((each) => {
    try {
      return isJunk(each, criteria);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return false;
      if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
      context.log("warning", `Unable to read ${each.path} due to permissions error.`);
      return false;
    }
  }).map(({ path }) => path);
}

function regexes(given: Value): PythonRegex[] {
  return textList(given).map((pattern) => pythonRegex(pattern));
}

/** How age and size count. A word that is none is warned of. */
function ruleOf(only: string | null, operator: string, context: StateContext): Criteria["rule"] {
  const word = only?.toLowerCase();
  if (word === "age" || word === "size") return word;
  if (word) {
    context.log("warning", "age_size_only parameter must be 'age' or 'size' if set. Defaulting to 'None'...");
  }
  const joint = operator.toUpperCase();
  if (joint === "AND" || joint === "OR") return joint;
  context.log("warning", "Logical operator must be 'AND' or 'OR'. Defaulting to 'OR'...");
  return "OR";
}

function timeOf(given: Value): Criteria["time"] {
  const word = typeof given === "string" ? given.toLowerCase() : "";
  return word === "ctime" || word === "mtime" ? word : "atime";
}

export const tidied: ModuleFunction<StateContext> = stateFn({
  doc: `Remove files of a directory, and of those in it, that are old or large.

name
    The absolute path of the directory.

age : 0
    Days.

matches
    Regular expressions of the names that are removed. Default: all.

rmdirs : False
    Whether directories are removed too.

size : 0
    Bytes, or a text such as \`5MB\`.

exclude
    Regular expressions of the names that stay.

full_path_match : False
    Whether the expressions are for paths.

followlinks : False
    Whether to follow links.

time_comparison : atime
    Which time determines the age: atime, mtime or ctime.

age_size_logical_operator : OR
    Whether age and size count together (AND) or alone (OR).

age_size_only
    \`age\` or \`size\`, if only one of them counts.

rmlinks : True
    Whether links are removed.`,
  params: {
    name: p.str(),
    age: p.int(0),
    matches: p.any(null),
    rmdirs: p.bool(false),
    size: p.any(0),
    exclude: p.any(null),
    full_path_match: p.bool(false),
    followlinks: p.bool(false),
    time_comparison: p.any("atime"),
    age_size_logical_operator: p.str("OR"),
    age_size_only: p.str(null),
    rmlinks: p.bool(true),
  },
  varKwargs: "kwargs",
  run: async ({ name: givenName, matches, exclude, followlinks, ...given }, context) => {
    const name = expandUser(givenName);
    const rule = ruleOf(given.age_size_only, given.age_size_logical_operator, context);
    if (!isAbsolute(name)) return failState(name, notAbsolute(name));
    if (!isDirectory(name)) return failState(name, `${name} does not exist or is not a directory.`);
    const size = typeof given.size === "string" ? humanToBytes(given.size, "B", true) : given.size;
    const criteria: Criteria = {
      age: given.age,
      size: toNumber(size) ?? 0,
      matches: regexes(matches ?? ".*"),
      exclude: truthy(exclude) ? regexes(exclude) : [],
      fullPath: given.full_path_match,
      rmdirs: given.rmdirs,
      rmlinks: given.rmlinks,
      time: timeOf(given.time_comparison),
      rule,
    };
    const junk = junkBelow(name, { criteria, followlinks }, context);
    if (junk.length === 0) return { ...startResult(name), comment: `Nothing to remove from directory ${name}` };
    if (context.test) {
      return { name, result: null, comment: `${name} is set for tidy`, changes: map({ removed: junk }) };
    }
    const removed: string[] = [];
    try {
      for (const path of junk) {
        await context.call("file.remove", [path]);
        removed.push(path);
      }
    } catch (error) {
      if (!isHostError(error)) throw error;
      return failState(name, reasonOf(error), map({ removed }));
    }
    const comment = `Removed ${junk.length} files or directories from directory ${name}`;
    return { ...startResult(name), comment, changes: map({ removed }) };
  },
});
