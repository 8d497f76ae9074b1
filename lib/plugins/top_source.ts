/**
 * The form of a source of `master_tops`: a module with a function `top`, which returns SLS files of a minion besides
 * those of the top file.
 * @module
 */

import { type Declaration, declare, type ModuleFunction, type Parameters } from "./module.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** The context of a source. */
export interface TopContext {
  /** The minion that requests them. */
  readonly minionId: string;
  /** Its grains, as sent by the minion. */
  readonly grains: ValueMap;
  /** Salt's `__opts__`: the options of the node that asks its sources. */
  readonly opts: ValueMap;
  /** The minion's options, as far as it sent them, with its id and its grains. */
  readonly minionOpts: ValueMap;
  /** The value of the option `master_tops` for this source. */
  readonly setting: Value;
  /** Disposed when all sources have run: what they share until then. */
  readonly untilEnd: AsyncDisposableStack;
  readonly signal: AbortSignal;
  log(level: "error" | "warning" | "info" | "debug", message: string): void;
}

/** A source of `master_tops`. Its result is a map of environments to lists of SLS files. */
export type MasterTopsSource = ModuleFunction<TopContext>;

/** Declares the function `top` of a source. */
export function topSource<P extends Parameters>(declaration: Declaration<P, TopContext>): MasterTopsSource {
  return declare(declaration);
}
