/**
 * Renders the files that react to an event, with the functions, grains and options of this host, and compiles them to
 * reactions.
 * @module
 */

import { reactorRenderHost } from "./render_host.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { loadRunners, loadWheel } from "#lib/master/functions/catalogues.ts";
import { messageOf, RenderError } from "#lib/errors.ts";
import { globPaths } from "#lib/os/glob_paths.ts";
import { isAbsolute } from "#lib/os/paths.ts";
import { compileReactions, type RenderedReactorFile } from "#lib/reactor/compile.ts";
import type { HostFunctions } from "#lib/reactor/reaction.ts";
import type { ReactorMistake } from "#lib/reactor/reactor_map.ts";
import type { RenderedEvent, RenderEvent } from "#lib/reactor/rendering.ts";
import type { RenderHost } from "#lib/plugins/renderer.ts";
import { renderSls } from "#lib/render/render.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { copyDeep } from "#lib/values/dict_update.ts";
import { map } from "#lib/values/value.ts";

const SALT_URL = "salt://";

/** The renderer of one master. */
export class EventRenderer {
  readonly #host: RenderHost;
  readonly #functions: HostFunctions;
  readonly #renderer: string;

  private constructor(opts: MasterOpts, host: RenderHost, log: Logger) {
    this.#host = host;
    this.#renderer = opts.renderer;
    const [runners, wheel] = [loadRunners(opts, log), loadWheel(opts, log)];
    this.#functions = { find: (kind, fun) => (kind === "runner" ? runners : wheel).get(fun) };
  }

  /** Opens it: loads the grains of this host. */
  static async open(
    opts: MasterOpts,
    { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
  ): Promise<EventRenderer> {
    return new EventRenderer(opts, await reactorRenderHost(opts, { log, signal }), log);
  }

  /** What the files of an event say. A file that cannot be rendered gives nothing; the others count. */
  async render({ tag, data, files }: RenderEvent, keepsRendered = false): Promise<RenderedEvent> {
    const mistakes: ReactorMistake[] = [];
    const rendered: RenderedReactorFile[] = [];
    for (const file of files) {
      for (const path of await this.#paths(file, tag, mistakes)) {
        try {
          const variables = map({ tag, data });
          const { data: made, positions } = await renderSls({
            text: Deno.readTextFileSync(path),
            path,
            name: path,
            sls: "",
            saltenv: "base",
            renderer: this.#renderer,
            kwargs: variables,
          }, this.#host);
          rendered.push({ path, data: made, positions });
        } catch (error) {
          mistakes.push(mistakeOf(path, error));
        }
      }
    }
    // Compiling changes the data.
    const kept = keepsRendered ? rendered.map(({ path, data: made }) => ({ path, data: copyDeep(made) })) : undefined;
    const compiled = await compileReactions(rendered.filter(({ data: made }) => !isEmpty(made)), this.#functions);
    return {
      reactions: compiled.reactions,
      mistakes: [...mistakes, ...compiled.mistakes],
      ...kept !== undefined && { rendered: kept },
    };
  }

  /** The paths on this host of a file of the map. */
  async #paths(file: string, tag: string, mistakes: ReactorMistake[]): Promise<string[]> {
    let pattern: string | undefined = file;
    let reason = "File missing or not found";
    if (file.startsWith(SALT_URL)) {
      try {
        pattern = await this.#host.files.cacheFile(file, "base");
      } catch (error) {
        pattern = undefined;
        reason = messageOf(error);
      }
    } else if (!isAbsolute(file)) {
      pattern = undefined;
      reason = "its path is not absolute";
    }
    const paths = pattern === undefined ? [] : globPaths(pattern);
    if (paths.length === 0) mistakes.push({ file, text: `cannot be rendered for the tag ${tag}: ${reason}` });
    return paths;
  }
}

function isEmpty(value: RenderedReactorFile["data"]): boolean {
  return value === null || value === "" || (value instanceof Map && value.size === 0) ||
    (Array.isArray(value) && value.length === 0);
}

function mistakeOf(file: string, error: unknown): ReactorMistake {
  if (!(error instanceof RenderError)) return { file, text: messageOf(error) };
  const { place } = error.detail;
  return { file: place?.file ?? file, text: error.message, ...place !== undefined && { line: place.line } };
}
