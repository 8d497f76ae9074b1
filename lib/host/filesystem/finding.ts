/**
 * `file.find`: the criteria, actions and depths of Salt's `find`, and running them over a tree.
 * Source: Salt 3008.3, `salt/utils/find.py`.
 * @module
 */

import { hashFile } from "./checksums.ts";
import { textWindows } from "./contents.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { walk } from "#lib/os/disk_paths.ts";
import { baseName, joinPath, relativePath, splitPath } from "#lib/os/paths.ts";
import { gidToGroup, uidToUser } from "./ownership.ts";
import { findGroup, findUser } from "#lib/os/users.ts";
import { hasMatch } from "#lib/regex/replace.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { type FileType, fileType } from "./status.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { fillWord } from "#lib/text/shell_words.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { splitWhitespace } from "#lib/text/split_lines.ts";
import { compare, int, isInt, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** A path that criteria and actions are applied to. */
interface Candidate {
  readonly path: string;
  readonly name: string;
  /** The status, of what a link leads to if that exists. */
  status(): Deno.FileInfo;
}

type Criterion = (candidate: Candidate) => boolean;

/** What is done with a path that all criteria match; `undefined` gives no result. */
type Action = (candidate: Candidate) => Value | undefined | Promise<Value | undefined>;

/** What criteria read: the cheaper ones are checked first. */
type Reach = "path" | "status" | "contents";

/** A search, ready to run. */
export interface Search {
  readonly criteria: readonly Criterion[];
  readonly actions: readonly Action[];
  readonly minDepth: number;
  readonly maxDepth: number;
}

/**
 * Runs a command of the action `exec`, whose words have the path in place of `{}`.
 * @returns What it wrote to stdout.
 */
export interface RunFound {
  run(words: readonly string[], line: string): Promise<string>;
  /** A command that cannot run, and why. */
  failed(line: string, reason: string): void;
}

/**
 * Reads the keyword arguments of `file.find`.
 * @throws {CommandError} For an unknown option, or an invalid value.
 */
export function readSearch(options: ValueMap, programs: RunFound): Search {
  const criteria: Readonly<Record<Reach, Criterion[]>> = { path: [], status: [], contents: [] };
  const actions: Action[] = [];
  const test = truthy(options.get("test") ?? false);
  for (const [key, value] of options) {
    const name = str(key);
    if (["mindepth", "maxdepth", "test"].includes(name) || name.startsWith("_")) continue;
    if (!truthy(value)) throw new CommandError(`missing value for "${name}" option`);
    const option = Object.hasOwn(OPTIONS, name) ? OPTIONS[name](str(value), { test, programs }) : undefined;
    if (option === undefined) throw new CommandError(`invalid option "${name}"`);
    if (option.match !== undefined) criteria[option.reach ?? "status"].push(option.match);
    if (option.act !== undefined) actions.push(option.act);
  }
  return {
    criteria: [...criteria.path, ...criteria.status, ...criteria.contents],
    actions: actions.length > 0 ? actions : [print([])],
    minDepth: depth(options.get("mindepth") ?? 0, "mindepth"),
    maxDepth: options.has("maxdepth") ? depth(options.get("maxdepth") ?? null, "maxdepth") : Infinity,
  };
}

function depth(value: Value, name: string): number {
  if (value === null) return Infinity;
  const given = isInt(value)
    ? Number(value)
    : typeof value === "string" && /^\d+$/.test(value)
    ? Number(value)
    : undefined;
  if (given === undefined) throw new CommandError(`invalid value for "${name}" option`);
  return given;
}

interface OnCreated {
  readonly reach?: Reach;
  readonly match?: Criterion;
  readonly act?: Action;
}

type MakeOption = (value: string, how: { readonly test: boolean; readonly programs: RunFound }) => OnCreated;

const OPTIONS: Readonly<Record<string, MakeOption>> = {
  name: (value) => ({ reach: "path", match: byName(globRegex(value), value) }),
  iname: (value) => ({ reach: "path", match: byName(`(?i)${globRegex(value)}`, value) }),
  regex: (value) => ({ reach: "path", match: byName(value, value) }),
  iregex: (value) => ({ reach: "path", match: byName(`(?i)${value}`, value) }),
  type: (value) => ({ match: byType(value) }),
  owner: (value) => ({
    match: byId(value, { kind: "user", find: (name) => findUser(name)?.uid, id: (info) => info.uid }),
  }),
  group: (value) => ({
    match: byId(value, { kind: "group", find: (name) => findGroup(name)?.gid, id: (info) => info.gid }),
  }),
  size: (value) => ({ match: bySize(value) }),
  mtime: (value) => ({ match: byTime(value) }),
  grep: (value) => ({ reach: "contents", match: byContents(value) }),
  delete: (value, { test }) => ({ match: byType(value.includes("a") ? "bcdpfls" : value), act: remover(test) }),
  exec: (value, { programs }) => ({ act: (candidate) => execute(value, { path: candidate.path, programs }) }),
  print: (value) => ({ act: print(words(value)) }),
};

function words(text: string): string[] {
  return splitWhitespace(text.replaceAll(",", " "));
}

/** Salt's translation, which makes `?` zero or one character. */
function globRegex(glob: string): string {
  return `${glob.replaceAll(".", "\\.").replaceAll("?", ".?").replaceAll("*", ".*")}$`;
}

function byName(pattern: string, given: string): Criterion {
  const regex = compile(pattern, given);
  return ({ name }) => regex.test(name);
}

function compile(pattern: string, given: string, search = false): ReturnType<typeof pythonRegex> {
  try {
    return pythonRegex(pattern, { search });
  } catch {
    throw new CommandError(`invalid regular expression: "${given}"`);
  }
}

const TYPES: Readonly<Record<string, FileType>> = {
  b: "block",
  c: "char",
  d: "dir",
  f: "file",
  l: "link",
  p: "pipe",
  s: "socket",
};

function byType(value: string): Criterion {
  const types = [...value.replaceAll(/[\s,]/g, "")].map((letter) => {
    if (!Object.hasOwn(TYPES, letter)) throw new CommandError(`invalid file type "${letter}"`);
    return TYPES[letter];
  });
  return (candidate) => types.includes(fileType(candidate.status()));
}

function byId(
  value: string,
  { kind, find, id }: {
    readonly kind: "user" | "group";
    readonly find: (name: string) => number | undefined;
    readonly id: (info: Deno.FileInfo) => number | null;
  },
): Criterion {
  const ids = words(value).map((name) => {
    const id = /^\d+$/.test(name) ? Number(name) : find(name);
    if (id === undefined) throw new CommandError(`no such ${kind} "${name}"`);
    return id;
  });
  return (candidate) => ids.includes(id(candidate.status()) ?? -1);
}

const UNITS = "bkmgt";

function bySize(value: string): Criterion {
  const [, sign, scalar] = /^([+-]?)(.*)$/s.exec(value.trim()) ?? ["", "", ""];
  const power = scalar === "" ? -1 : UNITS.indexOf(scalar.slice(-1).toLowerCase());
  const unit = power < 0 ? 1 : 2 ** (10 * power);
  const digits = power < 0 ? scalar : scalar.slice(0, -1).trim();
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(digits)) {
    throw new CommandError(`invalid size: "${value}"`);
  }
  const size = Math.trunc(Number(digits) * unit);
  const [min, max] = sign === "-" ? [0, size] : sign === "+" ? [size, Infinity] : [size, size + unit - 1];
  return (candidate) => {
    const { size: actual } = candidate.status();
    return actual >= min && actual <= max;
  };
}

/** For texts whose blanks are single ones: several at one place could be shared out in many ways. */
const INTERVAL =
  /^\s*([+-]?)(?:(\d+(?:\.\d*)?)\s*[wW])?\s*(?:(\d+(?:\.\d*)?)\s*[dD])?\s*(?:(\d+(?:\.\d*)?)\s*[hH])?\s*(?:(\d+(?:\.\d*)?)\s*[mM])?\s*(?:(\d+(?:\.\d*)?)\s*[sS])?\s*$/;
const SECONDS = [604_800, 86_400, 3600, 60, 1];

function byTime(value: string): Criterion {
  const match = INTERVAL.exec(value.replace(/\s+/g, " "));
  const given = match?.slice(2).map((part: string | undefined, i) =>
    part === undefined ? undefined : { n: Number(part), unit: SECONDS[i] }
  )
    .filter((part) => part !== undefined);
  if (match === null || given === undefined || given.length === 0) {
    throw new CommandError(`invalid time interval: '${value}'`);
  }
  const total = given.reduce((sum, { n, unit }) => sum + n * unit, 0);
  const resolution = given[given.length - 1].unit;
  const limit = Date.now() / 1000 - Math.trunc(total / resolution) * resolution;
  return (candidate) => {
    const changed = Math.floor((candidate.status().mtime?.getTime() ?? 0) / 1000);
    return match[1] === "-" ? changed >= limit : changed <= limit;
  };
}

function byContents(value: string): Criterion {
  const regex = compile(value, value, true);
  return (candidate) => {
    if (!candidate.status().isFile) return false;
    for (const window of textWindows(candidate.path)) if (hasMatch(regex, window)) return true;
    return false;
  };
}

/** Removes files, links, and directories with all that is in them; nothing in a test. */
function remover(test: boolean): Action {
  return ({ path }) => {
    if (test) return path;
    try {
      // Deno does not follow links here, nor links that another user creates meanwhile.
      Deno.removeSync(path, { recursive: !isFile(path) });
      return path;
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) throw error;
      return undefined;
    }
  };
}

async function execute(
  command: string,
  { path, programs }: { readonly path: string; readonly programs: RunFound },
): Promise<Value> {
  const line = command.replaceAll("{}", () => path);
  try {
    // The command is split before the path is in it: any user may have chosen the name.
    const words = shlexSplit(command).map((word) => fillWord(word, path, "{}"));
    return `${line}:\n${await programs.run(words, line)}\n`;
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof InvocationError)) throw error;
    programs.failed(line, error.message);
    return `${path}: Failed`;
  }
}

function print(fields: readonly string[]): Action {
  const wanted = fields.length === 0 ? ["path"] : fields;
  return (candidate) => {
    const printed = wanted.flatMap((field): Value[] =>
      Object.hasOwn(PRINTED, field) ? [PRINTED[field](candidate)] : []
    );
    return printed.length === 1 ? printed[0] : printed;
  };
}

const PRINTED: Readonly<Record<string, (candidate: Candidate) => Value>> = {
  path: ({ path }) => path,
  name: ({ path }) => baseName(path),
  size: (candidate) => candidate.status().size,
  type: (candidate) => {
    const type = fileType(candidate.status());
    return Object.keys(TYPES).find((letter) => TYPES[letter] === type) ?? "?";
  },
  // The last three octal digits, as a number.
  mode: (candidate) => (candidate.status().mode ?? 0) & 0o777,
  mtime: (candidate) => int(BigInt(Math.floor((candidate.status().mtime?.getTime() ?? 0) / 1000))),
  user: (candidate) => uidToUser(candidate.status().uid ?? 0),
  group: (candidate) => gidToGroup(candidate.status().gid ?? 0),
  md5: (candidate) => candidate.status().isFile ? hashFile(candidate.path, "md5") : "",
};

/** Runs a search below `top`: the results of its actions. */
export async function* runSearch(search: Search, top: string): AsyncGenerator<Value, void> {
  if (search.minDepth < 1) yield* consider(search, { path: top, name: splitPath(top)[1] });
  for (const { path, directories, files } of walk(top)) {
    const level = depthOf(relativePath(path, top)) + 1;
    if (level >= search.minDepth && level <= search.maxDepth) {
      for (const name of [...directories, ...files]) yield* consider(search, { path: joinPath(path, name), name });
    }
    // One level less than Salt walks, because Salt checks nothing on its last level.
    if (level >= search.maxDepth) directories.length = 0;
  }
}

function depthOf(relative: string): number {
  return relative.split("/").filter((part) => part !== "" && part !== "." && part !== "..").length;
}

async function* consider(
  { criteria, actions }: Search,
  { path, name }: { readonly path: string; readonly name: string },
): AsyncGenerator<Value, void> {
  let info: Deno.FileInfo | undefined;
  const candidate: Candidate = { path, name, status: () => info ??= statusOf(path) };
  if (!criteria.every((matches) => matches(candidate))) return;
  for (const act of actions) {
    const result = await act(candidate);
    if (result !== undefined) yield result;
  }
}

function statusOf(path: string): Deno.FileInfo {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return Deno.lstatSync(path);
  }
}

/** Python's `list.sort` of results. */
export function sortResults(results: Value[]): Value[] {
  return results.sort(compare);
}
