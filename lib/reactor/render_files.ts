/**
 * Renders the files that react to an event, and compiles them to reactions: on a master and on a minion.
 * @module
 */

import { messageOf, RenderError } from "#lib/errors.ts";
import { globPaths } from "#lib/os/glob_paths.ts";
import { isAbsolute } from "#lib/os/paths.ts";
import type { RenderHost } from "#lib/plugins/renderer.ts";
import { renderSls } from "#lib/render/render.ts";
import { copyDeep } from "#lib/values/dict_update.ts";
import { map } from "#lib/values/value.ts";
import { compileReactions, type RenderedReactorFile } from "./compile.ts";
import type { HostFunctions } from "./reaction.ts";
import type { ReactorMistake } from "./reactor_map.ts";
import type { RenderedEvent, RenderEvent } from "./rendering.ts";

const SALT_URL = "salt://";

/** What renders the files of one host. */
export interface ReactorRenderer {
  readonly host: RenderHost;
  /** The pipe of files without a first line of their own. */
  readonly renderer: string;
  /** The functions whose parameters say what are arguments. */
  readonly functions: HostFunctions;
}

/**
 * What the files of an event say. A file that cannot be rendered gives nothing; the others count.
 * @param keepsRendered Whether the result has what each file rendered to.
 */
export async function renderReactions(
  { tag, data, files }: RenderEvent,
  { host, renderer, functions }: ReactorRenderer,
  keepsRendered = false,
): Promise<RenderedEvent> {
  const mistakes: ReactorMistake[] = [];
  const rendered: RenderedReactorFile[] = [];
  for (const file of files) {
    for (const path of await pathsOf(file, { tag, host, mistakes })) {
      try {
        const { data: made, positions } = await renderSls({
          text: Deno.readTextFileSync(path),
          path,
          name: path,
          sls: "",
          saltenv: "base",
          renderer,
          kwargs: map({ tag, data }),
        }, host);
        rendered.push({ path, data: made, positions });
      } catch (error) {
        mistakes.push(mistakeOf(path, error));
      }
    }
  }
  // Compiling changes the data.
  const kept = keepsRendered ? rendered.map(({ path, data: made }) => ({ path, data: copyDeep(made) })) : undefined;
  const compiled = await compileReactions(rendered.filter(({ data: made }) => !isEmpty(made)), functions);
  return {
    reactions: compiled.reactions,
    mistakes: [...mistakes, ...compiled.mistakes],
    ...kept !== undefined && { rendered: kept },
  };
}

/** The paths on this host of a file of the map. */
async function pathsOf(
  file: string,
  { tag, host, mistakes }: {
    readonly tag: string;
    readonly host: RenderHost;
    readonly mistakes: ReactorMistake[];
  },
): Promise<string[]> {
  let pattern: string | undefined = file;
  let reason = "File missing or not found";
  if (file.startsWith(SALT_URL)) {
    try {
      pattern = await host.files.cacheFile(file, "base");
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

function isEmpty(value: RenderedReactorFile["data"]): boolean {
  return value === null || value === "" || (value instanceof Map && value.size === 0) ||
    (Array.isArray(value) && value.length === 0);
}

function mistakeOf(file: string, error: unknown): ReactorMistake {
  if (!(error instanceof RenderError)) return { file, text: messageOf(error) };
  const { place } = error.detail;
  return { file: place?.file ?? file, text: error.message, ...place !== undefined && { line: place.line } };
}
