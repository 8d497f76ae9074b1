/**
 * What renders in tests: files of a tree in memory, functions that a test gives, and what was logged.
 * @module
 */

import type { RenderHost, SaltFunction } from "../../../lib/templates/host.ts";
import { map, type ValueMap } from "../../../lib/values/value.ts";

/** What a test gives. */
export interface RenderWorldParts {
  /** The texts of files, by their paths in the tree. They are written below `directory`. */
  readonly files?: Readonly<Record<string, string>>;
  /** Where the files are written. */
  readonly directory?: string;
  readonly functions?: Readonly<Record<string, SaltFunction>>;
  readonly opts?: Record<string, unknown>;
  readonly grains?: ValueMap;
  readonly pillar?: ValueMap;
}

/** A host for rendering. */
export interface RenderWorld extends RenderHost {
  readonly logged: string[];
  /** The URLs of files that were asked for. */
  readonly asked: string[];
}

/** Makes a host. Files are there at once, as those that were fetched before are. */
export function renderWorld(parts: RenderWorldParts = {}): RenderWorld {
  const { files = {}, directory = "", functions = {} } = parts;
  for (const [path, text] of Object.entries(files)) {
    const full = `${directory}/${path}`;
    Deno.mkdirSync(full.slice(0, full.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(full, text);
  }
  const logged: string[] = [], asked: string[] = [];
  return {
    opts: map(parts.opts ?? {}),
    grains: parts.grains ?? new Map(),
    pillar: parts.pillar ?? new Map(),
    salt: { get: (name) => Object.hasOwn(functions, name) ? functions[name] : undefined },
    files: {
      cacheFile: (url) => {
        asked.push(url);
        const path = url.slice("salt://".length);
        return Object.hasOwn(files, path) ? `${directory}/${path}` : undefined;
      },
    },
    log: (level, message) => void logged.push(`${level}: ${message}`),
    logged,
    asked,
  };
}
