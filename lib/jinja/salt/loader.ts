/**
 * Loading the files that a template includes and imports, through the file client. Each load changes the variables that
 * name the template, as in Salt. Source: Salt 3008.3, `salt/utils/jinja.py` SaltCacheLoader.
 * @module
 */

import { RenderError } from "#lib/errors.ts";
import { dirName, joinPath, normalPath, relativePath } from "#lib/os/paths.ts";
import { isFile } from "#lib/os/file_kind.ts";
import type { Loader, TemplateSource } from "#lib/jinja/core/environment.ts";
import type { Obj } from "#lib/python/object.ts";
import { textOf } from "#lib/python/kinds.ts";
import { strictUtf8 } from "#lib/text/strict_utf8.ts";
import type { RenderHost } from "#lib/plugins/renderer.ts";

/** The largest file that is read as a template, in bytes. */
const MAX_BYTES = 64 * 2 ** 20;

/** A loader for one rendering. */
export interface TemplateLoader {
  readonly load: Loader;
  /** The name in the state tree of a file that was loaded, by its path on this host. */
  readonly names: ReadonlyMap<string, string>;
}

/** The loader for files of `saltenv`; without an environment, for files in the directory of `path`. */
export function templateLoader(
  host: RenderHost,
  { saltenv, path }: { readonly saltenv: string; readonly path: string | undefined },
): TemplateLoader {
  const names = new Map<string, string>();
  const load: Loader = (name, { globals }) => {
    const relative = isRelative(name);
    const found = relative ? resolveName(name, globals, host) : name;
    if (found === undefined) return undefined;
    const read = (local: string | undefined): TemplateSource | undefined => {
      nameTemplate(globals, { name, found, relative });
      const file = local ?? (found.startsWith("/") ? found : undefined);
      if (file === undefined || !isFile(file)) return undefined;
      names.set(file, found);
      return { text: readTemplate(file), path: file };
    };
    if (saltenv === "") return read(beside(found, path));
    const cached = host.files.cacheFile(`salt://${found}`, saltenv);
    return cached instanceof Promise ? cached.then(read) : read(cached);
  };
  return { load, names };
}

function isRelative(name: string): boolean {
  const [first] = name.split("/", 1);
  return first === "." || first === "..";
}

/** Resolves a relative path in the state tree; `undefined` if the result is above the root, which is logged. */
function resolveName(name: string, globals: ReadonlyMap<string, Obj>, host: RenderHost): string | undefined {
  const base = textOf(globals.get("tpldir"));
  if (base === undefined) {
    host.log("warning", `Relative path "${name}" cannot be resolved without an environment`);
    return undefined;
  }
  const path = normalPath(`${base}/${name}`);
  if (path.split("/", 1)[0] === "..") {
    host.log("warning", `Discarded template path "${name}": attempts to ascend outside of salt://`);
    return undefined;
  }
  return host.opts.get("file_client") === "local" && base.startsWith("/") ? relativePath(path, base) : path;
}

function nameTemplate(
  globals: Map<string, Obj>,
  { name, found, relative }: { readonly name: string; readonly found: string; readonly relative: boolean },
): void {
  const own = dirName(found);
  const directory = relative ? textOf(globals.get("tpldir")) ?? own : own;
  globals.set("tplfile", relative ? name : found);
  globals.set("tpldir", directory === "" ? "." : directory);
  globals.set("tpldot", directory.replaceAll("/", "."));
}

/** The file `name` in the directory of the template. */
function beside(name: string, path: string | undefined): string | undefined {
  if (path === undefined || name.split("/").includes("..")) return undefined;
  return joinPath(dirName(path), name.replace(/^\/+/, ""));
}

/**
 * The text of a template.
 * @throws {RenderError} If it is not UTF-8, or too large.
 */
function readTemplate(path: string): string {
  const { size } = Deno.statSync(path);
  if (size > MAX_BYTES) throw new RenderError(`${path} has ${size} bytes, too many for a template`);
  const text = strictUtf8(Deno.readFileSync(path));
  if (text === undefined) throw new RenderError(`'utf-8' codec can't decode ${path}: it is no UTF-8`);
  return text;
}
