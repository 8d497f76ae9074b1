/**
 * Makes a corpus again in a copy of tests/corpus, so that the tree changes only if the program has ended well.
 * @module
 */

import { isFile } from "#lib/os/file_kind.ts";
import { messageOf } from "#lib/errors.ts";
import { which } from "#lib/programs/which.ts";
import { PYTHON_SALTS, pythonSalt, usablePython } from "#tests/interop/python_salt.ts";
import { UNSHARE_MOUNTS, whyNoMountNamespace } from "#tests/support/mount_namespace.ts";
import { run } from "#tests/support/processes.ts";
import { filesBelow } from "#tests/support/tree.ts";
import type { Corpus, Recording, SaltVersion } from "./corpora.ts";

/** Time limit of a program, in milliseconds. The longest takes six minutes on a slow host. */
const PROGRAM_MS = 1_800_000;

/** A corpus that cannot be made again here. The message is for the user. */
export class RecordError extends Error {
  override name = "RecordError";
}

/** A file that was made again, or why it was not. */
export interface MadeFile {
  /** Its path from the root of the tree. */
  readonly path: string;
  /** Its text in the tree; `undefined` if it is new. */
  readonly before?: string;
  /** The text that its program writes; `undefined` if it failed. */
  readonly after?: string;
  /** Why the program failed. */
  readonly failed?: string;
}

/**
 * The files of a corpus.
 * @param root The root of the tree, with `/` at the end.
 * @param only The name of one file of a folder, without `.json`.
 */
function filesOf(corpus: Corpus, root: string, only?: string): string[] {
  const files = corpus.files.flatMap((file) =>
    file.endsWith("/")
      ? [...Deno.readDirSync(`${root}${file}`)].map(({ name }) => `${file}${name}`).filter((name) =>
        name.endsWith(".json")
      ).sort()
      : [file]
  );
  const chosen = only === undefined ? files : files.filter((file) => file.endsWith(`/${only}.json`));
  if (chosen.length === 0) throw new RecordError(`${corpus.name} has no file ${only}.json`);
  return chosen;
}

/** Makes the files of a corpus again, and returns their texts; the tree stays as it is. See {@linkcode filesOf}. */
export async function makeAgain(corpus: Corpus, root: string, only?: string): Promise<MadeFile[]> {
  const files = filesOf(corpus, root, only);
  const lacking = whatIsMissing(corpus);
  if (lacking !== undefined) throw new RecordError(`${corpus.name} needs ${lacking}`);
  const copy = Deno.makeTempDirSync({ prefix: "record_" });
  try {
    for (const path of [...filesBelow(`${root}tests/corpus`), ...files.map((file) => `${root}${file}`)]) {
      const target = `${copy}/${path.slice(root.length)}`;
      Deno.mkdirSync(target.replace(/\/[^/]+$/, ""), { recursive: true });
      if (isFile(path)) Deno.copyFileSync(path, target);
    }
    const each = corpus.files.some((file) => file.endsWith("/"));
    // One file that cannot be made does not stop the others of its folder.
    const failures = new Map<string, string>();
    for (const file of each ? files : [files[0]]) {
      const failed = await recordFile(corpus, { root, copy, file });
      if (failed !== undefined) { for (const path of each ? [file] : files) failures.set(path, failed); }
    }
    return files.map((path) => {
      const before = isFile(`${root}${path}`) ? { before: Deno.readTextFileSync(`${root}${path}`) } : {};
      const failed = failures.get(path);
      return {
        path,
        ...before,
        ...failed === undefined ? { after: Deno.readTextFileSync(`${copy}/${path}`) } : { failed },
      };
    });
  } finally {
    Deno.removeSync(copy, { recursive: true });
  }
}

/** What this host does not have of the needs of a corpus. */
function whatIsMissing({ needs = [] }: Corpus): string | undefined {
  return needs.find((need) => {
    if (need === "root") return whyNoMountNamespace() !== undefined;
    // What is no name of a program is said to the user, and the program itself fails without it.
    return /^[\w.-]+$/.test(need) && which(need) === undefined;
  });
}

/** Where a file is made. */
interface RecordPlace {
  /** The root of the tree, with `/` at the end. */
  readonly root: string;
  /** The copy that the program may change. */
  readonly copy: string;
  /** The file, from either root. */
  readonly file: string;
}

/** @returns Why the file cannot be made; `undefined` if it was. */
async function recordFile(
  corpus: Corpus,
  place: RecordPlace,
): Promise<string | undefined> {
  try {
    for (const recording of corpus.runs) await record(corpus, recording, place);
  } catch (error) {
    if (error instanceof RecordError) return error.message;
    throw error;
  }
}

async function record(
  { name, program }: Corpus,
  { salt = "3008.3", to, args = [] }: Recording,
  { root, copy, file }: RecordPlace,
): Promise<void> {
  const path = `${copy}/${file}`;
  const python = await pythonOf(name, salt === "named in the file" ? namedSalt(path) : salt);
  const stem = file.replace(/^.*\/|\.json$/g, "");
  const words: Readonly<Record<string, string>> = { FILE: path, NAME: stem, DENO: Deno.execPath(), ROOT: root };
  const home = `${copy}/home`;
  Deno.mkdirSync(home, { recursive: true });
  const ran = await run([
    ...["env", "-C", copy, `HOME=${home}`, "TZ=UTC", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1"],
    // Some programs mount; none may leave anything on the host.
    ...whyNoMountNamespace() === undefined ? UNSHARE_MOUNTS : [],
    ...[python, `${copy}/tests/corpus/${program}`],
    ...args.map((word) => words[word] ?? word),
  ], PROGRAM_MS);
  if (ran.code !== 0) {
    throw new RecordError(`${program} ended with ${ran.code}:\n${ran.err.split("\n").slice(-8).join("\n")}`);
  }
  if (to === "output") Deno.writeTextFileSync(path, ran.out);
}

/** The program Python of a version of Salt. */
async function pythonOf(corpus: string, salt: Exclude<SaltVersion, "named in the file">): Promise<string> {
  if (salt === "none") {
    const python = await usablePython();
    if (python === undefined) throw new RecordError(`${corpus} needs python3 with venv`);
    return python;
  }
  const installed = await pythonSalt(salt);
  if ("missing" in installed) throw new RecordError(`${corpus} needs Python Salt ${salt}: ${installed.missing}`);
  return `${installed.bin}/python`;
}

/** The full version of the Salt that a corpus names: `3008` or `3008.3`. */
function namedSalt(path: string): typeof PYTHON_SALTS[number] {
  const salt: unknown = parsed(path, Deno.readTextFileSync(path)).salt ?? "3008.3";
  const version = PYTHON_SALTS.find((one) => one.startsWith(`${salt}`));
  if (version === undefined) throw new RecordError(`${path} names Salt ${salt}, which is none of ${PYTHON_SALTS}`);
  return version;
}

function parsed(path: string, text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch (error) {
    throw new RecordError(`${path} is not JSON: ${messageOf(error)}`);
  }
}

/**
 * Why a made file is not what is in the tree; `undefined` if it is. JSON is compared as data: neither the order of a
 * map's keys nor the addresses of Python's objects count.
 * @param shape Compares maps, their keys and the kinds of values alone: the values of the corpus vary.
 */
export function difference({ path, before, after, failed }: MadeFile, shape: boolean): string | undefined {
  if (failed !== undefined) return `${path}: ${failed}`;
  if (before === undefined || after === undefined) return `${path} is not in the tree`;
  if (before === after) return undefined;
  if (!path.endsWith(".json")) {
    const [there, made] = [before, after].map((text) => text.split("\n"));
    const line = made.findIndex((text, i) => text !== there[i]);
    return `${path}:${line + 1} is not what its program writes:\n- ${cut(there[line])}\n+ ${cut(made[line])}`;
  }
  const found = firstDifference(JSON.parse(before), JSON.parse(after), { shape, place: "" });
  if (found === undefined) return undefined;
  const shown = (value: unknown) => cut(JSON.stringify(value) ?? "nothing");
  return `${path} is not what its program writes, at ${found.place || "the top"}:\n- ${shown(found.there)}\n+ ${
    shown(found.made)
  }`;
}

const cut = (text = "") => text.length > 300 ? `${text.slice(0, 300)}…` : text;

interface Found {
  /** The keys from the top: `.cases.3.result`. */
  readonly place: string;
  readonly there?: unknown;
  readonly made?: unknown;
}

/** The first value that differs, or that only one of both has. */
function firstDifference(
  there: unknown,
  made: unknown,
  how: { readonly shape: boolean; readonly place: string },
): Found | undefined {
  const found = { place: how.place, there, made };
  const kind = (value: unknown) => Array.isArray(value) ? "list" : value === null ? "null" : typeof value;
  if (kind(there) !== kind(made)) return found;
  if (typeof there !== "object" || there === null || typeof made !== "object" || made === null) {
    return how.shape || withoutAddresses(there) === withoutAddresses(made) ? undefined : found;
  }
  const [before, after] = [new Map(Object.entries(there)), new Map(Object.entries(made))];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const place = `${how.place}.${key}`;
    if (!before.has(key) || !after.has(key)) return { place, there: before.get(key), made: after.get(key) };
    const inner = firstDifference(before.get(key), after.get(key), { ...how, place });
    if (inner !== undefined) return inner;
  }
}

/** A text such as `<module at 0x7f95d8561260>` without the address. */
function withoutAddresses(value: unknown): unknown {
  return typeof value === "string" ? value.replace(/\b0x[0-9a-f]{8,}\b/g, "0x…") : value;
}
