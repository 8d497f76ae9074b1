/**
 * The files of pillar that a top file names: each rendered, with what it includes.
 * Source: Salt 3008.3 `salt/pillar/__init__.py` render_pstate, render_pillar.
 * @module
 */

import { type MergeHow, mergeMaps } from "#lib/values/dict_merge.ts";
import { messageOf } from "#lib/errors.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import type { PillarRoots } from "./roots.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** A file to render. */
export interface SlsRequest {
  readonly path: string;
  readonly sls: string;
  readonly saltenv: string;
  /** Variables from the including file. */
  readonly defaults: ValueMap;
}

/** The parameters for rendering the files of a pillar. */
export interface SlsHost {
  readonly roots: PillarRoots;
  readonly merging: MergeHow;
  /** `pillar_includes_override_sls` */
  readonly includesWin: boolean;
  /** `pillar_safe_render_error` */
  readonly hidesErrors: boolean;
  /** SLS that may be missing. */
  ignores(sls: string, saltenv: string): boolean;
  /**
   * Renders a file. The result is the caller's own.
   * @throws {Error} With Salt's text.
   */
  render(request: SlsRequest): Promise<Value>;
  /** Takes the whole text of an error whose text in the pillar says less. */
  detail(shown: string, text: string): void;
  log(level: "mistake" | "debug", message: string): void;
}

/** Maximum nesting of includes: a file that is included twice is rendered once, so a cycle ends. */
const DEEPEST = 200;
/** The most errors that are repeated: as in Salt, each level of includes has those of the one below twice. */
const MAX_REPEATED = 100;

/** The files of one environment. A rendered file is used again for each file that includes it. */
export class SlsFiles {
  readonly #host: SlsHost;
  readonly #saltenv: string;
  readonly #rendered = new Map<string, Value>();
  readonly #errors: string[];

  /** @param errors Gets the texts for `_errors`. */
  constructor(host: SlsHost, saltenv: string, errors: string[]) {
    this.#host = host;
    this.#saltenv = saltenv;
    this.#errors = errors;
  }

  /** `pillar` with the data of all SLS that match `names`, in order; later ones win. */
  async mergeInto(pillar: ValueMap, names: readonly string[]): Promise<ValueMap> {
    const { roots, merging, log } = this.#host;
    const matches = names.flatMap((name) => {
      if (!this.#isEnvironment()) this.#errors.push(noEnvironment(this.#saltenv));
      const matching = this.#isEnvironment() ? roots.matching(name, this.#saltenv) : [];
      return matching.length > 0 ? matching : [name];
    });
    let merged = pillar;
    for (const sls of matches) {
      const { data, errors } = await this.#sls(sls, new Map(), 0);
      this.#errors.push(...errors);
      if (isMap(data)) merged = mergeMaps(merged, data, merging);
      else if (data !== null) log("mistake", `The pillar file '${sls}' did not render to a map: ${errors.join(", ")}`);
    }
    return merged;
  }

  #isEnvironment(): boolean {
    return this.#saltenv === "base" || this.#host.roots.has(this.#saltenv);
  }

  async #sls(sls: string, defaults: ValueMap, depth: number): Promise<{ data: Value; errors: string[] }> {
    const { roots, log } = this.#host;
    const saltenv = this.#saltenv;
    const file = roots.sls(sls, saltenv);
    const errors: string[] = [];
    if (file === undefined) {
      if (this.#host.ignores(sls, saltenv)) {
        log("debug", `Skipping ignored and missing SLS '${sls}' in environment '${saltenv}'`);
        return { data: null, errors };
      }
      if (roots.directories(saltenv).length === 0) {
        log("debug", `Specified SLS '${sls}' in environment '${saltenv}' was not found: no pillar_roots`);
        return { data: null, errors };
      }
      errors.push(`Specified SLS '${sls}' in environment '${saltenv}' is not available on the salt master`);
    }
    let data: Value = file === undefined ? new Map() : null;
    try {
      if (file !== undefined) data = await this.#host.render({ path: file.path, sls, saltenv, defaults });
    } catch (error) {
      const text = `Rendering SLS '${sls}' failed, render error:\n${messageOf(error)}`;
      const safe = `Rendering SLS '${sls}' failed. Please see master log for details.`;
      if (this.#host.hidesErrors) this.#host.detail(safe, text);
      errors.push(this.#host.hidesErrors ? safe : text);
    }
    this.#rendered.set(sls, data);
    if (!truthy(data)) return { data, errors };
    if (!isMap(data)) {
      errors.push(`SLS '${sls}' does not render to a dictionary`);
      return { data, errors };
    }
    if (!data.has("include")) return { data, errors };
    const includes = data.get("include") ?? null;
    if (!Array.isArray(includes)) {
      errors.push(`Include Declaration in SLS '${sls}' is not formed as a list`);
      return { data, errors };
    }
    data.delete("include");
    const from = { sls, isInit: file?.isInit ?? false, defaults, depth };
    return { data: await this.#include(data, includes, from, errors), errors };
  }

  /** `data` merged with its includes. */
  async #include(
    data: ValueMap,
    includes: readonly Value[],
    from: { readonly sls: string; readonly isInit: boolean; readonly defaults: ValueMap; readonly depth: number },
    errors: string[],
  ): Promise<ValueMap> {
    const { merging, includesWin } = this.#host;
    if (from.depth >= DEEPEST) {
      errors.push(`SLS '${from.sls}' is included more than ${DEEPEST} levels deep`);
      return data;
    }
    const included: ValueMap[] = [];
    // As in Salt, the defaults of one item apply to the plain items after it, and the errors of one file are repeated
    // for the next one that was rendered before.
    let defaults = from.defaults, renderErrors: readonly string[] = [];
    for (const item of includes) {
      const include = readInclude(item);
      defaults = include.defaults ?? defaults;
      for (const sls of this.#included(include.sls, from)) {
        let data: Value;
        const earlier = this.#rendered.get(sls);
        if (earlier === undefined) {
          const rendered = await this.#sls(sls, defaults, from.depth + 1);
          data = rendered.data;
          renderErrors = rendered.errors;
        } else {
          data = earlier;
        }
        if (isMap(data) && data.size > 0) included.push(below(include.key, data));
        repeat(renderErrors, errors);
      }
    }
    const inOrder = includesWin ? [data, ...included] : [...included, data];
    return inOrder.reduce((merged, next) => mergeMaps(merged, next, merging));
  }

  /** The SLS for an item of `include`. */
  #included(
    sls: string,
    from: { readonly sls: string; readonly isInit: boolean },
  ): readonly string[] {
    const { roots } = this.#host;
    const relative = sls.startsWith(".");
    const parts = from.sls.split(".");
    const absolute = relative ? [...from.isInit ? parts : parts.slice(0, -1), sls.slice(1)].join(".") : sls;
    // A relative name also matches a file at the root, if there is one.
    const names = [sls.replace(/^\.+/, "").replaceAll("/", "."), absolute].flatMap((name) =>
      roots.matching(name, this.#saltenv)
    );
    return names.length > 0 ? names : [absolute];
  }
}

function noEnvironment(saltenv: string): string {
  return `No matching pillar environment for environment '${saltenv}' found`;
}

interface Include {
  readonly sls: string;
  readonly key?: string;
  readonly defaults?: ValueMap;
}

function readInclude(item: Value): Include {
  if (!isMap(item)) return { sls: str(item) };
  const [first] = item;
  if (first === undefined) return { sls: "" };
  const [sls, options] = first;
  if (!isMap(options)) return { sls: str(sls) };
  const defaults = options.get("defaults") ?? null, key = options.get("key") ?? null;
  return {
    sls: str(sls),
    defaults: mapOrEmpty(defaults),
    ...truthy(key) && { key: str(key) },
  };
}

/** `{x: {y: data}}` for the key `x:y`. */
function below(key: string | undefined, data: ValueMap): ValueMap {
  if (key === undefined) return data;
  return key.split(":").reduceRight<ValueMap>((inner, step) => new Map([[step, inner]]), data);
}

/** Adds the errors of an included file to those of the file that includes it. */
function repeat(more: readonly string[], errors: string[]): void {
  if (errors.length + more.length <= MAX_REPEATED) {
    errors.push(...more);
    return;
  }
  const errorSet = new Set(errors);
  for (const error of new Set(more)) if (!errorSet.has(error)) errors.push(error);
}
