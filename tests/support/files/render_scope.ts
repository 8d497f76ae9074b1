/**
 * The host of templates for tests: files of a tree in memory, the test's functions, and a recorded log.
 * @module
 */

import type { RenderHost, SaltFunction } from "#lib/plugins/renderer.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { RENDERERS, RENDERERS_NOT_BUILT } from "#modules/renderers/_built_in.ts";

/** The parts that a test passes. */
export interface RenderFixtureParts {
  /** File texts by path in the tree. They are written below `directory`. */
  readonly files?: Readonly<Record<string, string>>;
  /** The directory for the files. */
  readonly directory?: string;
  readonly functions?: Readonly<Record<string, SaltFunction>>;
  readonly opts?: Record<string, unknown>;
  readonly grains?: ValueMap;
  readonly pillar?: ValueMap;
}

/** A host for templates. */
export interface RenderFixture extends RenderHost {
  readonly logged: string[];
  /** The URLs of requested files. */
  readonly requestedUrls: string[];
}

/** Makes a host. All files exist from the start, like files that were fetched before. */
export function renderFixture(parts: RenderFixtureParts = {}): RenderFixture {
  const { files = {}, directory = "", functions = {} } = parts;
  for (const [path, text] of Object.entries(files)) {
    const full = `${directory}/${path}`;
    Deno.mkdirSync(full.slice(0, full.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(full, text);
  }
  const logged: string[] = [], requestedUrls: string[] = [];
  return {
    opts: map(parts.opts ?? {}),
    grains: parts.grains ?? new Map(),
    pillar: parts.pillar ?? new Map(),
    salt: { get: (name) => Object.hasOwn(functions, name) ? functions[name] : undefined },
    builtInRenderers: { table: RENDERERS, notBuilt: RENDERERS_NOT_BUILT },
    files: {
      cacheFile: (url) => {
        requestedUrls.push(url);
        const path = url.slice("salt://".length);
        return Object.hasOwn(files, path) ? `${directory}/${path}` : undefined;
      },
    },
    log: (level, message) => void logged.push(`${level}: ${message}`),
    logged,
    requestedUrls,
  };
}
