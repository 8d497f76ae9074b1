/**
 * Finds the mutants of a tree, takes a sample of them, and checks which of them compile. Changes nothing itself.
 * @module
 */

import { EQUIVALENT } from "./equivalent.ts";
import type { Mutation } from "./plugin.ts";
import { complainedFiles } from "#scripts/deno_output.ts";

const decoder = new TextDecoder();
/** Number of mutants that one compiler process checks at once; it needs some hundred megabytes. */
const CHECKED_AT_ONCE = 200;

/** A mutant: one changed line. */
export interface Mutant extends Mutation {
  /** The path of its file, from the root of the tree. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** The line where the mutant begins, trimmed. */
  readonly code: string;
  /** The old and the new text, each in one line and shortened. */
  readonly change: string;
}

/**
 * Every mutant of `files`, in their order.
 * @param root The directory that the paths are relative to.
 */
export async function findMutants(root: string, files: readonly string[]): Promise<Mutant[]> {
  if (files.length === 0) return []; // without names the linter checks all files
  const config = await Deno.makeTempFile({ suffix: ".json" });
  try {
    const plugin = new URL("./plugin.ts", import.meta.url).href;
    const rules = { tags: [], include: [], exclude: [] };
    await Deno.writeTextFile(config, JSON.stringify({ lint: { plugins: [plugin], rules } }));
    const args = ["lint", "--quiet", "--json", "--config", config, ...files.map((file) => `${root}/${file}`)];
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
    return mutantsOf(root, files, decoder.decode(stdout), decoder.decode(stderr));
  } finally {
    await Deno.remove(config);
  }
}

/** The fields that are read from the linter's report. */
interface LintReport {
  readonly diagnostics: readonly { readonly filename: string; readonly message: string; readonly code: string }[];
  readonly errors: readonly { readonly message: string }[];
}

function mutantsOf(root: string, files: readonly string[], report: string, complaint: string): Mutant[] {
  if (!report.startsWith("{")) throw new Error(`deno lint printed no report: ${complaint}`);
  const { diagnostics, errors }: LintReport = JSON.parse(report);
  if (errors.length > 0) throw new Error(`deno lint cannot read the sources: ${errors[0].message}`);
  const base = new URL(`file://${encodeURI(root)}/`).href;
  const byFile = new Map(files.map((file) => [file, [] as Mutation[]]));
  for (const { filename, message, code } of diagnostics) {
    if (code !== "mutants/all") throw new Error(`${filename}: ${code}: ${message}`);
    byFile.get(decodeURI(filename.slice(base.length)))?.push(JSON.parse(message));
  }
  return [...byFile].flatMap(([file, mutations]) => {
    const source = Deno.readTextFileSync(`${root}/${file}`);
    return mutations.sort((a, b) => a.start - b.start || a.end - b.end)
      .map((mutation) => ({ ...mutation, ...placeOf(source, mutation), file }));
  });
}

function placeOf(source: string, { start, end, text }: Mutation): Pick<Mutant, "line" | "code" | "change"> {
  const before = source.slice(start, end);
  const change = before === "" ? `${text.trim()} put first` : `${truncate(before)} → ${truncate(text)}`;
  const line = source.slice(0, start).split("\n").length;
  return { line, code: source.split("\n")[line - 1].trim(), change };
}

function truncate(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > 100 ? `${line.slice(0, 98)} …` : line;
}

/** Whether a mutant has no observable effect: it is one of {@linkcode EQUIVALENT}. */
export function isEquivalent({ file, code, change }: Mutant): boolean {
  return EQUIVALENT.some((known) => known.file === file && known.code === code && known.change === change);
}

/** The text of a file with the mutant. */
export function applyMutant(source: string, { start, end, text }: Mutation): string {
  return source.slice(0, start) + text + source.slice(end);
}

/** A sample of `count` mutants of `all`, in their order. The same seed gives the same sample. */
export function sample<T>(all: readonly T[], count: number, seed: number): T[] {
  const random = randomNumbers(seed);
  const order = all.map((_, i) => i);
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order.slice(0, count).sort((a, b) => a - b).map((i) => all[i]);
}

/** Random numbers from 0 to 1, without 1. Source: Mulberry32, by Tommy Ettinger, in the public domain. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = state + 0x6d2b79f5 >>> 0;
    let mixed = Math.imul(state ^ state >>> 15, state | 1);
    mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
  };
}

/**
 * The mutants that compile. Each is written to a file of its own beside its source, so that one run of the compiler
 * checks all of them. The compiler does not notice if a changed type breaks other files.
 * @param root A copy of the tree: the files are written there, and removed.
 */
export async function thatCompile(root: string, mutants: readonly Mutant[]): Promise<Set<Mutant>> {
  const good = new Set(mutants);
  for (let from = 0; from < mutants.length; from += CHECKED_AT_ONCE) {
    const paths = new Map(
      mutants.slice(from, from + CHECKED_AT_ONCE).map((
        mutant,
        i,
      ) => [`${root}/${siblingName(mutant.file, i)}`, mutant]),
    );
    try {
      for (const [path, mutant] of paths) {
        await Deno.writeTextFile(path, applyMutant(await Deno.readTextFile(`${root}/${mutant.file}`), mutant));
      }
      for (const path of await faultyFiles(root, [...paths.keys()])) {
        const mutant = paths.get(path);
        if (mutant === undefined) throw new Error(`${path}: does not compile, and holds no mutant`);
        good.delete(mutant);
      }
    } finally {
      for (const path of paths.keys()) await Deno.remove(path);
    }
  }
  return good;
}

function siblingName(file: string, number: number): string {
  return file.replace(/\.ts$/, `__mutant${number}.ts`);
}

/** The files of `paths` that have compiler errors. */
async function faultyFiles(root: string, paths: readonly string[]): Promise<Set<string>> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "--quiet", ...paths],
    cwd: root,
    env: { NO_COLOR: "1" },
    stdout: "null",
  }).output();
  const text = decoder.decode(stderr);
  const faulty = complainedFiles(text);
  if (code !== 0 && faulty.size === 0) throw new Error(`deno check cannot read the mutants: ${text}`);
  return faulty;
}
