/**
 * The form of a renderer: one step of a pipe such as `jinja|yaml`. A file `modules/renderers/yaml.ts` that exports
 * `render` is the renderer `yaml`.
 * @module
 */

import type { Positions } from "#lib/values/positions.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import type { RenderHost } from "./host.ts";
import type { TextOrigin } from "./text_origin.ts";

/** A request to render a text. */
export interface RenderRequest {
  readonly text: string;
  /** Its path on this host; absent for a text that comes from no file. */
  readonly path?: string;
  /** Its name in places of mistakes. Default: its path in the state tree if {@linkcode sls} tells it, else `path`. */
  readonly name?: string;
  /**
   * Its name as a state file, `nginx.init`; empty for a file that is rendered like one. Absent: a template without the
   * variables of state files.
   */
  readonly sls?: string;
  /** Default: `base`. */
  readonly saltenv?: string;
  /** The pipe for a text whose first line names none. Default: the option `renderer`. */
  readonly renderer?: string;
  /** More variables for templates. They win over Salt's own. */
  readonly context?: ValueMap;
  /** What Salt passes to renderers as keyword arguments: variables too, which Salt's own win over. */
  readonly kwargs?: ValueMap;
}

/** The input of a renderer. */
export interface RenderInput {
  /** A text, or the result of the previous renderer. */
  readonly data: Value;
  /** Where the text comes from. */
  readonly origin: TextOrigin;
  /** The text after the renderer's name in the pipe. */
  readonly argline: string;
  readonly request: RenderRequest;
  readonly host: RenderHost;
}

/** The output of a renderer. */
export interface RenderOutput {
  readonly data: Value;
  /** For renderers of texts: the origin of the new text. */
  readonly origin?: TextOrigin;
  /** For renderers that read data. Absent: those of the renderer before it. */
  readonly positions?: Positions;
}

/**
 * A renderer.
 * @throws {RenderError} If it cannot render.
 */
export type Renderer = (input: RenderInput) => RenderOutput | Promise<RenderOutput>;
