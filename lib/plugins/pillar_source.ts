/**
 * The form of a source of pillar (`ext_pillar`): a module with a function `ext_pillar`, which gets the value of the
 * option, and a context in place of Salt's first two arguments and its dunder names.
 * @module
 */

import { type Declaration, declare, type ModuleFunction, type Parameters } from "./module.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** Records what a pillar depends on, so that it is compiled again when that has changed. */
export interface PillarNotes {
  /** It depends on a path: on a file, the entries of a directory, or that nothing exists there. */
  path(path: string): void;
  /**
   * The result may differ the next time, so it must not be cached.
   * @param reason The cause, for the log.
   */
  changing(reason: string): void;
}

/** The parameters for rendering a template or a file of a source. */
export interface PillarRendering {
  readonly text: string;
  /** The path of the file. */
  readonly path: string;
  /** The pipe of renderers: `jinja|yaml`. */
  readonly renderer: string;
  /** Names that the template sees. */
  readonly context?: ValueMap;
  /** The directory for its imports. Default: the roots of the environment. */
  readonly imports?: string;
  /** Whether an undefined name is empty, and not an error. */
  readonly allowUndefined?: boolean;
  /** Renderers that are left out, as `renderer_blacklist`. */
  readonly blacklist?: Value;
  /** The only renderers that are allowed, as `renderer_whitelist`. */
  readonly whitelist?: Value;
}

/** The context of a source. */
export interface PillarContext {
  /** The minion whose pillar is compiled. */
  readonly minionId: string;
  /** The pillar so far; a source must not change it. */
  readonly pillar: ValueMap;
  /** Puts another map in its place: sources in Python may change the one that they get. */
  replacePillar(pillar: ValueMap): void;
  /** Disposed when all sources have run: what they share until then. */
  readonly untilEnd: AsyncDisposableStack;
  readonly grains: ValueMap;
  /** Salt's `__opts__`: the options of the master, and `pillarenv` and `saltenv` of the request. */
  readonly opts: ValueMap;
  /** Options of the minion that it passes to sources (`pass_to_ext_pillars`). */
  readonly extraMinionData: ValueMap;
  readonly notes: PillarNotes;
  readonly signal: AbortSignal;
  /** Calls an execution function on this host. */
  call(name: string, args: Value[], kwargs?: ValueMap): Promise<Value>;
  /**
   * Renders a text.
   * @throws {Error} With Salt's text.
   */
  render(rendering: PillarRendering): Promise<Value>;
  /**
   * Decrypts a value with all below it, by a renderer of that name.
   * @throws {Error} With the reason.
   */
  decrypt(value: Value, renderer: string): Promise<Value>;
  /**
   * Compiles pillar files of other directories than the node's, without external pillar: from their top files on.
   * @param files An environment, and its directories.
   */
  compile(files: { readonly saltenv: string; readonly roots: readonly string[] }): Promise<ValueMap>;
  /** The groups of `nodegroups` that the minion is in. */
  nodegroups(): string[];
  log(level: "error" | "warning" | "info" | "debug", message: string): void;
}

/** A source of pillar. Its result is a map, or something empty for nothing. */
export type PillarSource = ModuleFunction<PillarContext>;

/** Declares the function `ext_pillar` of a source. */
export function pillarSource<P extends Parameters>(declaration: Declaration<P, PillarContext>): PillarSource {
  return declare(declaration);
}
