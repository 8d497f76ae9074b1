/**
 * Compiles high data to low chunks, in stages. A stage changes the draft and returns errors; it does no I/O, and skips
 * parts in which an earlier stage has found errors. Source: Salt 3008.3, `State.call_high`,
 * `BaseHighState.compile_low_chunks` of `salt/state.py`.
 * @module
 */

import { aggregateGroups, mayAggregate } from "./aggregate.ts";
import { missingFunctions, unknownArguments } from "./arguments.ts";
import { type Chunk, field, makeChunks } from "./chunks.ts";
import type { CompileError } from "./compile_error.ts";
import { applyExcludes } from "./exclude.ts";
import { applyExtends } from "./extend.ts";
import { sortNodes, type StateModules, watchToRequire } from "./order.ts";
import type { Places } from "./place.ts";
import { RequisiteGraph, type StateNode } from "./requisite_graph.ts";
import { applyRequisitesIn } from "./requisite_in.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";
import { verifyHigh } from "./verify.ts";

/** The parameters of a compilation besides the high data. */
export interface CompileOptions {
  /** `disabled_requisites`: these are ignored. */
  readonly disabledRequisites: readonly string[];
  /** `state_aggregate`: true, or the names of state modules. */
  readonly aggregate: Value;
  /** The grain `state_runs_disabled`: globs of functions that make no chunk. */
  readonly disabledStates: readonly string[];
  /** The state modules of the host. */
  readonly modules: StateModules;
  /** The state functions of the host, if missing functions are reported. */
  readonly allFunctions?: ReadonlySet<string>;
  /** State modules that exist for other hosts or in the tree: their functions are not reported as missing. */
  readonly otherModules?: ReadonlySet<string>;
}

/** The data that the stages change. */
export interface Draft {
  readonly high: ValueMap;
  readonly places: Places;
  /** Set by the stage `chunks`, put in order by the last one. */
  chunks: Chunk[];
  readonly graph: RequisiteGraph;
  /** The nodes of the graph in their order, from the stage `order` on. */
  sorted: readonly StateNode[];
  /** Chunks that may run as one call, from the stage `aggregate` on. */
  aggregates: readonly (readonly Chunk[])[];
}

/** A stage: returns errors. */
export type Stage = (draft: Draft, options: CompileOptions) => readonly CompileError[];

/** The stages by name, in their order. */
export const STAGES = {
  extend: ({ high, places }) => applyExtends(high, places),
  verify: ({ high, places }) => verifyHigh(high, places),
  requisite_in: ({ high, places }, options) => applyRequisitesIn(high, places, new Set(options.disabledRequisites)),
  exclude: ({ high }) => {
    applyExcludes(high);
    return [];
  },
  chunks: (draft, options) => {
    const disabled = options.disabledStates.map(compileGlob);
    const chunks = makeChunks(draft.high, draft.places);
    draft.chunks = chunks.filter((chunk) => !disabled.some((matches) => matches(functionOf(chunk))));
    for (const chunk of draft.chunks) draft.graph.add(chunk, mayAggregate(chunk, options.aggregate, options.modules));
    return [];
  },
  arguments: ({ chunks, high, places }, { modules }) =>
    unknownArguments({ chunks, high, places, signature: (fun) => modules.signature(fun) }),
  functions: ({ chunks, high, places }, { allFunctions: known, otherModules = new Set() }) =>
    known === undefined ? [] : missingFunctions({ chunks, high, places, known, otherModules }),
  requisites: ({ chunks, graph, places }, options) => {
    const disabled = new Set(options.disabledRequisites);
    return chunks.flatMap((chunk) => {
      watchToRequire(chunk, options.modules);
      return graph.require(chunk, { places, disabled }) ?? [];
    });
  },
  order: (draft) => {
    const { sorted, error } = sortNodes(draft.chunks, draft.graph, draft.places);
    draft.sorted = sorted;
    if (error !== undefined) return [error];
    draft.chunks = sorted.map(({ data }) => data.chunk);
    return [];
  },
  aggregate: (draft) => {
    draft.aggregates = aggregateGroups(draft.sorted);
    return [];
  },
} as const satisfies Record<string, Stage>;

export type StageName = keyof typeof STAGES;

/** Stages that run one after the other. A group with errors ends the compilation. */
export type StageRoute = readonly (readonly StageName[])[];

const COMPILE: StageRoute = [["chunks", "arguments", "requisites", "order", "aggregate"]];

/** The route of the `show` functions. */
export const LOWSTATE: StageRoute = [["extend", "verify", "requisite_in", "exclude"], ...COMPILE];

/** The route of a run: errors are reported a group earlier. */
export const RUN: StageRoute = [["extend", "verify"], ["requisite_in", "exclude"], ...COMPILE];

/**
 * The route of `state.show_low_sls`: the chunks of the files as they are, without extensions, `_in` requisites and
 * excludes.
 */
export const LOW_SLS: StageRoute = [["verify"], ...COMPILE];

/** The route of `state.show_sls`. */
export const VERIFIED: StageRoute = [["verify"]];

/** The route of `state.graph`: the edges. */
export const GRAPH: StageRoute = [["chunks", "requisites", "order"]];

/** The route of `state.lint`: finds all errors, also after earlier ones. */
export const LINT: StageRoute = [[
  "extend",
  "verify",
  "requisite_in",
  "exclude",
  "chunks",
  "functions",
  "arguments",
  "requisites",
  "order",
]];

/** A compilation: its result and its errors. */
export interface Compiled extends Draft {
  readonly errors: readonly CompileError[];
}

/** Compiles `high` by the stages of `route`. */
export function compile(
  { high, places }: { readonly high: ValueMap; readonly places: Places },
  route: StageRoute,
  options: CompileOptions,
): Compiled {
  const draft: Draft = { high, places, chunks: [], graph: new RequisiteGraph(), sorted: [], aggregates: [] };
  const errors: CompileError[] = [];
  for (const group of route) {
    for (const name of group) errors.push(...STAGES[name](draft, options));
    if (errors.length > 0) break;
  }
  return { ...draft, errors };
}

function functionOf(chunk: Chunk): string {
  return `${field(chunk, "state")}.${str(chunk.get("fun") ?? null)}`;
}
