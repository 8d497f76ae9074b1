/**
 * The files of `pillar_roots`: read in place, without copies. Source: Salt 3008.3 `salt/fileclient.py` PillarClient,
 * `salt/pillar/__init__.py` __gen_opts, _get_envs.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { ANY_ENV, environmentDirectories } from "#lib/files/backends/env_directories.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import type { PillarNotes } from "#lib/plugins/pillar_source.ts";
import { filterGlob, isGlob } from "#lib/text/glob.ts";
import { onlyStrings } from "#lib/values/shape.ts";
import { compareStrings, repr, str, type ValueMap } from "#lib/values/value.ts";

/** Maximum number of files and directories in one environment. */
const MAX_ENTRIES = 200_000;
/** Deepest directory below a root: links may form cycles. */
const DEEPEST = 40;

/** Maximum number of characters of an environment in a message. */
const MAX_SHOWN = 100;

/** The place of an SLS. */
export interface PillarSlsFile {
  readonly path: string;
  /** Whether it is the `init.sls` of a directory. */
  readonly isInit: boolean;
}

/** The options that it reads. */
export interface RootsOpts {
  readonly pillar_roots: ValueMap;
  /** Whether a directory of this name is left out of lists (`file_ignore_glob`, `file_ignore_regex`). */
  ignores?(name: string): boolean;
  /** Is told why the environment of the request is not used. */
  refuse?(message: string): void;
}

/** The files of all environments, for one request. */
export class PillarRoots {
  readonly #roots = new Map<string, string[]>();
  readonly #listed = new Map<string, ReadonlySet<string>>();
  readonly #notes: Pick<PillarNotes, "path">;
  readonly #ignores: (name: string) => boolean;

  /**
   * @param env The environment of the request, which `__env__` stands for. It is not used if it would lead out of the
   * directory that contains `__env__`, also by a link.
   */
  constructor({ pillar_roots, ignores, refuse }: RootsOpts, env: string, notes: Pick<PillarNotes, "path">) {
    this.#notes = notes;
    this.#ignores = ignores ?? (() => false);
    for (const [name, list] of pillar_roots) {
      if (name !== ANY_ENV) this.#roots.set(str(name), onlyStrings(list));
    }
    const shared = pillar_roots.get(ANY_ENV);
    if (shared === undefined || this.#roots.has(env)) return;
    const own = environmentDirectories(onlyStrings(shared), env, { follow: false });
    if (own !== undefined) this.#roots.set(env, own);
    else refuse?.(`The pillar environment ${repr(env.slice(0, MAX_SHOWN))} is not used: it leads out of pillar_roots`);
  }

  /** The environments: `base`, then the others in the order of the option. */
  envs(): string[] {
    return [...new Set(["base", ...this.#roots.keys()])];
  }

  /** Whether an environment is one of the option's. */
  has(saltenv: string): boolean {
    return this.#roots.has(saltenv);
  }

  /** The directories of an environment. */
  directories(saltenv: string): readonly string[] {
    return this.#roots.get(saltenv) ?? [];
  }

  /** Where the file `path` is; `undefined` if it is in none of the roots. */
  find(path: string, saltenv: string): string | undefined {
    for (const root of this.directories(saltenv)) {
      const file = this.below(root, path);
      if (file !== undefined) return file;
    }
    return undefined;
  }

  /** The file `path` below a directory, and never above it; `undefined` if there is none. */
  below(directory: string, path: string): string | undefined {
    const steps = path.split("/").filter((step) => step !== "" && step !== ".");
    if (steps.includes("..") || path.includes("\0")) return undefined;
    const full = [rstripChars(directory, "/"), ...steps].join("/");
    this.#notes.path(full);
    return isFile(full) ? full : undefined;
  }

  /** The file of an SLS: `a.b` is `a/b.sls`, else `a/b/init.sls`. */
  sls(sls: string, saltenv: string): PillarSlsFile | undefined {
    const name = sls.replaceAll(".", "/");
    const path = this.find(`${name}.sls`, saltenv);
    if (path !== undefined) return { path, isInit: /(^|\/)init$/.test(name) };
    const init = this.find(`${name}/init.sls`, saltenv);
    return init === undefined ? undefined : { path: init, isInit: true };
  }

  /** The SLS whose names match a glob, sorted; a plain name matches itself if it is there. */
  matching(pattern: string, saltenv: string): string[] {
    if (isGlob(pattern)) return filterGlob(pattern, [...this.#listSls(saltenv)]);
    return this.sls(pattern, saltenv) === undefined ? [] : [pattern];
  }

  #listSls(saltenv: string): ReadonlySet<string> {
    const paths = this.#listed.get(saltenv);
    if (paths !== undefined) return paths;
    const names: string[] = [];
    const left = { entries: MAX_ENTRIES };
    for (const root of this.directories(saltenv)) this.#list(root, "", names, { left, depth: 0 });
    const slsNames = new Set(names.sort(compareStrings));
    this.#listed.set(saltenv, slsNames);
    return slsNames;
  }

  #list(root: string, below: string, names: string[], at: { readonly left: { entries: number }; depth: number }): void {
    const directory = below === "" ? root : `${root}/${below}`;
    this.#notes.path(directory);
    if (at.depth > DEEPEST) return;
    for (const entry of entriesOf(directory)) {
      if (--at.left.entries < 0) throw new Error(`${root} holds more than ${MAX_ENTRIES} files`);
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory || (entry.isSymlink && isDirectory(`${root}/${path}`))) {
        if (!this.#ignores(entry.name)) this.#list(root, path, names, { ...at, depth: at.depth + 1 });
      } else if (path.endsWith(".sls")) {
        names.push(path.replaceAll("/", ".").slice(0, path.endsWith("/init.sls") ? -9 : -4));
      }
    }
  }
}

function entriesOf(directory: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(directory)];
  } catch {
    return []; // missing or not readable: skipped, as in Salt
  }
}
