/**
 * Renders the files that react to an event, with the functions, grains and options of the master's host.
 * @module
 */

import { reactorRenderHost } from "./render_host.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { masterPlugins } from "#lib/master/functions/python_plugins.ts";
import { loadRunners, loadWheel } from "#lib/master/functions/catalogues.ts";
import { type ReactorRenderer, renderReactions } from "#lib/reactor/render_files.ts";
import type { RenderedEvent, RenderEvent } from "#lib/reactor/rendering.ts";
import { moduleOfFunction } from "#lib/plugins/docs.ts";
import type { RenderHost } from "#lib/plugins/renderer.ts";
import { ANY_ARGUMENTS } from "#lib/python_bridge/loader/any_arguments.ts";
import type { PythonLease } from "#lib/python_bridge/loader/separate_calls.ts";
import type { Logger } from "#lib/runtime/log.ts";

/** The renderer of one master. */
export class EventRenderer {
  readonly #parts: ReactorRenderer;
  readonly #python: PythonLease;

  private constructor(
    opts: MasterOpts,
    { host, python }: { readonly host: RenderHost; readonly python: PythonLease },
    log: Logger,
  ) {
    this.#python = python;
    const [runners, wheel] = [loadRunners(opts, log), loadWheel(opts, log)];
    const { names } = masterPlugins(opts, log.warning);
    const functions = {
      async find(kind: "runner" | "wheel", fun: string) {
        const python = (kind === "runner" ? names.runners : names.wheel) ?? [];
        // Which functions a file in Python has, the process that calls them finds out.
        return python.includes(moduleOfFunction(fun))
          ? ANY_ARGUMENTS
          : await (kind === "runner" ? runners : wheel).get(fun);
      },
    };
    this.#parts = { host, renderer: opts.renderer, functions };
  }

  /** Opens it: loads the grains of this host. */
  static async open(
    opts: MasterOpts,
    { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
  ): Promise<EventRenderer> {
    return new EventRenderer(opts, await reactorRenderHost(opts, { log, signal }), log);
  }

  /** Ends Python. */
  async close(): Promise<void> {
    await this.#python.close();
  }

  /** What the files of an event say. A file that cannot be rendered gives nothing; the others count. */
  async render(event: RenderEvent, keepsRendered = false): Promise<RenderedEvent> {
    return await renderReactions(event, this.#parts, keepsRendered);
  }
}
