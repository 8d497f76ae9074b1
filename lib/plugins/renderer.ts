/**
 * The form of a renderer: one step of a pipe such as `jinja|yaml`, and what it uses of its minion or master. A file
 * `modules/renderers/yaml.ts` that exports `render` is the renderer `yaml`.
 * @module
 */

import type { Positions } from "#lib/values/positions.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import type { TextOrigin } from "./text_origin.ts";

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

/** The name under which a custom renderer gets the data of an event: `data` is what it renders. */
export const EVENT_DATA = "event_data";

/** The input of a custom renderer. */
export interface OwnRenderInput {
  /** A text, or the result of the previous renderer. */
  readonly data: Value;
  /** The text after its name in the pipe. */
  readonly argline: string;
  /** `undefined` for a template without the variables of state files. */
  readonly sls: string | undefined;
  readonly saltenv: string;
  /** The path of the file, if the text comes from one. */
  readonly path?: string;
  /** More variables for templates. */
  readonly context?: ValueMap;
  /** What Salt passes to renderers besides. */
  readonly kwargs?: ValueMap;
}

/**
 * A custom renderer.
 * @throws {RenderError} If it fails.
 */
export type OwnRenderer = (input: OwnRenderInput) => Promise<Value>;

/** The parts of a minion or master that renderers use. */
export interface RenderHost {
  /** Salt's `__opts__`. */
  readonly opts: ValueMap;
  readonly grains: ValueMap;
  /** Templates get the map itself: a template's changes to it are visible to the next template, as in Salt. */
  readonly pillar: ValueMap;
  readonly salt: SaltFunctions;
  readonly files: TemplateFiles;
  readonly builtInRenderers: BuiltInRenderers;
  /** The user's own renderer of a name; `undefined` if there is none. */
  renderer?(name: string): Promise<OwnRenderer | undefined>;
  /** Aborted when the job must end. */
  readonly signal?: AbortSignal;
  log(level: "error" | "warning" | "info" | "debug", message: string): void;
}

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

/** The exports of a built-in renderer's file. */
export interface RendererModule {
  readonly render: Renderer;
}

/** The renderers of a pipe that are part of the program, and those of Salt that are not. */
export interface BuiltInRenderers {
  /** What loads each, by its name in a pipe. */
  readonly table: Readonly<Record<string, () => Promise<RendererModule>>>;
  /** Salt's renderers that are not built, with what does their work. */
  readonly notBuilt: Readonly<Record<string, string>>;
}
