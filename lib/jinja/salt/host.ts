/**
 * The parts of the minion or master that rendering uses: options, data, functions, files.
 * @module
 */

import type { Value, ValueMap } from "#lib/values/value.ts";

/** Where files come from that a template includes or imports. */
export interface TemplateFiles {
  /**
   * The path on this host of a file of the state tree, which is fetched if necessary; `undefined` if there is no such
   * file.
   * @param url `salt://` and the path below the root of the environment, without `.` and `..`.
   */
  cacheFile(url: string, saltenv: string): string | undefined | Promise<string | undefined>;
}

/** A function that templates call: `salt['test.echo']('x')`. */
export type SaltFunction = (args: Value[], kwargs: ValueMap) => Value | Promise<Value>;

/** The functions behind `salt` in templates. */
export interface SaltFunctions {
  /** The function `test.ping`; `undefined` if there is none. */
  get(name: string): SaltFunction | undefined | Promise<SaltFunction | undefined>;
  /** Whether the module `test` exists. Absent: all modules are assumed to exist. */
  serves?(module: string): Promise<boolean>;
  /** The names of all functions. Absent: they are not known. */
  names?(): Promise<readonly string[]>;
}

/** The input of a custom renderer. */
export interface OwnRenderInput {
  /** A text, or the result of the previous renderer. */
  readonly data: Value;
  /** The text after its name in the pipe. */
  readonly argline: string;
  readonly sls: string;
  readonly saltenv: string;
  /** The path of the file, if the text comes from one. */
  readonly path?: string;
}

/**
 * A custom renderer.
 * @throws {RenderError} If it fails.
 */
export type OwnRenderer = (input: OwnRenderInput) => Promise<Value>;

/** The host of a rendering, as renderers use it. */
export interface RenderHost {
  /** Salt's `__opts__`. */
  readonly opts: ValueMap;
  readonly grains: ValueMap;
  /** Templates get the map itself: a template's changes to it are visible to the next template, as in Salt. */
  readonly pillar: ValueMap;
  readonly salt: SaltFunctions;
  readonly files: TemplateFiles;
  /** The user's own renderer of a name; `undefined` if there is none. */
  renderer?(name: string): Promise<OwnRenderer | undefined>;
  /** Aborted when the job must end. */
  readonly signal?: AbortSignal;
  log(level: "error" | "warning" | "info" | "debug", message: string): void;
}
