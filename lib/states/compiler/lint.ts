/**
 * Finds all errors in a tree: each SLS file is compiled, whatever the errors in the others.
 *
 * A file that another one includes may use names of the including file, and is checked with it; every other file is
 * compiled alone, and the files that the top file assigns to a minion are compiled together.
 * @module
 */

import type { CompileError } from "./compile_error.ts";
import { ignoredRequisitesIn } from "./requisite_in.ts";
import { placeText } from "#lib/errors.ts";
import type { SlsSource } from "./source.ts";
import { compile, type CompileOptions, LINT } from "./stages.ts";
import { type Matches, type WalkedStates, walkSls } from "./walk.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** The errors in a tree. */
export interface Lint {
  /** Number of SLS files that were read. */
  readonly files: number;
  /** The errors, without duplicates. */
  readonly errors: readonly CompileError[];
}

/** The input of the check. */
export interface LintRequest {
  /** Files that are compiled together: those that a top file assigns to one minion. */
  readonly together: Matches;
  /** Files that are compiled alone, unless another of them includes them. */
  readonly alone: Matches;
  /** More mistakes in what was walked. Default: none are looked for. */
  mistakes?(walked: WalkedStates): Promise<readonly CompileError[]>;
  /** The options of the compilation of `high`. */
  options(high: ValueMap): Promise<CompileOptions>;
}

/** Compiles the requested files, and collects the errors. */
export async function lintTree(source: SlsSource, request: LintRequest): Promise<Lint> {
  const together = await lintUnit(source, request.together, request);
  const units = new Map<string, Unit>();
  for (const [env, names] of request.alone) {
    for (const name of names) {
      units.set(`${env}:${name}`, await lintUnit(source, new Map([[env, [name]]]), request));
    }
  }
  const errors = new Map<string, CompileError>();
  for (const unit of [together, ...judgeUnits(units)]) {
    for (const error of unit.errors) {
      if (error.repeats === true) continue;
      const key = `${error.text}\n${error.place === undefined ? "" : placeText(error.place)}`;
      if (!errors.has(key)) errors.set(key, error);
    }
  }
  const files = new Set([together, ...units.values()].flatMap((unit) => [...unit.files]));
  return { files: files.size, errors: [...errors.values()] };
}

/** Files that are compiled together, and their errors. */
interface Unit {
  readonly errors: readonly CompileError[];
  readonly files: ReadonlySet<string>;
}

async function lintUnit(source: SlsSource, matches: Matches, request: LintRequest): Promise<Unit> {
  if (matches.size === 0) return { errors: [], files: new Set() };
  const walked = await walkSls(matches, source);
  const more = await request.mistakes?.(walked) ?? [];
  const ignored = ignoredRequisitesIn(walked.high, walked.places);
  const { errors } = compile(walked, LINT, await request.options(walked.high));
  return { errors: [...walked.errors, ...errors, ...ignored, ...more], files: walked.files };
}

/** The units that no other one includes; of files that include each other, all. */
function judgeUnits(units: ReadonlyMap<string, Unit>): Unit[] {
  const included = new Set<string>();
  for (const [includer, { files }] of units) {
    for (const file of files) if (units.get(file)?.files.has(includer) === false) included.add(file);
  }
  return [...units].filter(([name]) => !included.has(name)).map(([, unit]) => unit);
}
