/**
 * The interface between the pillar compiler and a node: options, functions, sources and renderers.
 * @module
 */

import type { BuiltInModules, Family } from "#lib/plugins/loader.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { PillarContext, PillarNotes } from "#lib/plugins/pillar_source.ts";
import type { TopContext } from "#lib/plugins/top_source.ts";
import type { PillarRoots } from "./roots.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** The options that the compiler reads; a minion has them as well. */
export type PillarOpts = Pick<
  MasterOpts,
  | "id"
  | "renderer"
  | "state_top"
  | "env_order"
  | "pillar_roots"
  | "pillarenv"
  | "pillarenv_from_saltenv"
  | "pillar_source_merging_strategy"
  | "pillar_merge_lists"
  | "pillar_includes_override_sls"
  | "pillar_safe_render_error"
  | "pillar_opts"
  | "ext_pillar"
  | "ext_pillar_first"
  | "exclude_ext_pillar"
  | "on_demand_ext_pillar"
  | "decrypt_pillar"
  | "decrypt_pillar_default"
  | "decrypt_pillar_delimiter"
  | "decrypt_pillar_renderers"
  | "nodegroups"
>;

/** The variables and functions of a template. */
export interface PillarScope {
  /** Salt's `__opts__`. */
  readonly opts: ValueMap;
  readonly grains: ValueMap;
  /** The pillar so far: the map object itself, which a template may change. */
  readonly pillar: ValueMap;
  /** The environment for imports. */
  readonly roots: PillarRoots;
  /** Records what the rendering reads. */
  readonly notes: PillarNotes;
}

/** A text to render. */
export interface PillarText {
  readonly text: string;
  readonly path: string;
  /** Empty: no SLS. */
  readonly sls: string;
  readonly saltenv: string;
  /** The pipe where the text names none. */
  readonly renderer: string;
  /** More names for templates. */
  readonly variables: ValueMap;
  /** A directory for imports, in place of the roots. */
  readonly imports?: string;
  /** Options that this text has of its own. */
  readonly options?: ValueMap;
}

/** A family of sources, and which of them are built in. */
interface SourceFamily<C> extends Family<C>, BuiltInModules {}

/** The parts of a node. */
export interface PillarHost {
  readonly opts: PillarOpts;
  /** All options as Salt's `__opts__`. */
  readonly values: ValueMap;
  /** Sources of external pillar. */
  readonly sources: SourceFamily<PillarContext>;
  /** Sources of `master_tops`. */
  readonly tops: SourceFamily<TopContext>;
  readonly signal: AbortSignal;
  /** Whether a directory is left out of lists of files. */
  ignores?(name: string): boolean;
  /**
   * Renders a text.
   * @throws {Error} With Salt's text for it.
   */
  render(text: PillarText, scope: PillarScope): Promise<Value>;
  /**
   * Decrypts a value with all below it.
   * @throws {Error} With the reason.
   */
  decrypt(value: Value, renderer: string, scope: PillarScope): Promise<Value>;
  /** Calls an execution function of this host. */
  call(name: string, args: readonly Value[], kwargs: ValueMap, scope: PillarScope): Promise<Value>;
  log(level: "error" | "mistake" | "warning" | "info" | "debug", message: string): void;
}
