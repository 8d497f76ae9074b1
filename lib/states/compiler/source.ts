/**
 * The interface of the source of SLS files for the compiler. Knows neither files nor templates.
 * @module
 */

import type { Positions } from "#lib/values/positions.ts";
import type { Value } from "#lib/values/value.ts";

/** A rendered SLS or top file. */
export interface RenderedFile {
  readonly data: Value;
  readonly positions?: Positions;
  /** Whether it is an `init.sls`. */
  readonly isInit: boolean;
}

/** The SLS files of all environments. */
export interface SlsSource {
  /** The names of the environments. */
  envs(): Promise<readonly string[]>;
  /** The names of the SLS files of an environment, sorted. */
  available(saltenv: string): Promise<readonly string[]>;
  /**
   * Renders an SLS file; `undefined` if there is none.
   * @throws {SlsRenderError}
   */
  render(sls: string, saltenv: string): Promise<RenderedFile | undefined>;
}

/** Top files, and the results of `master_tops`. */
export interface TopSource extends SlsSource {
  /**
   * Renders the top file of an environment; `undefined` if it has none.
   * @throws {SlsRenderError}
   */
  renderTop(saltenv: string): Promise<RenderedFile | undefined>;
  /** The SLS names that `master_tops` assigns to this minion, by environment. */
  masterTops(): Promise<ReadonlyMap<string, readonly Value[]>>;
}
