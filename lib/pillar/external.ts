/**
 * External pillar: the sources that `ext_pillar` lists, and one on demand, one after the other.
 * Source: Salt 3008.3 `salt/pillar/__init__.py` ext_pillar, __valid_on_demand_ext_pillar.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { invoke } from "#lib/plugins/call.ts";
import { type MergeHow, mergeMaps } from "#lib/values/dict_merge.ts";
import { deepCopy } from "./sls_cache.ts";
import type { PillarContext, PillarRendering, PillarSource } from "#lib/plugins/pillar_source.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import type { PillarHost, PillarScope, PillarText } from "./host.ts";
import type { PillarRequest } from "./request.ts";
import { isMap, str, truthy, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** The parameters besides request and host. */
export interface ExternalParts {
  readonly merging: MergeHow;
  /** Receives the texts for `_errors`. */
  readonly errors: string[];
  scope(): PillarScope;
  /** The `__opts__` of sources: those of the node, with its own id, and the environments of the request. */
  sourceOpts(): ValueMap;
  nodegroups(): string[];
  /** Compiles the files of other directories, as `PillarContext.compile` says. */
  compile: PillarContext["compile"];
}

interface SourceRun {
  readonly name: string;
  readonly source: PillarSource;
  /** The value of the option. */
  readonly value: Value;
  readonly context: PillarContext;
}

const MALFORMED = 'The "ext_pillar" option is malformed';

/** The sources of one request. */
export class ExternalPillar {
  readonly #request: PillarRequest;
  readonly #host: PillarHost;
  readonly #parts: ExternalParts;

  constructor(request: PillarRequest, host: PillarHost, parts: ExternalParts) {
    this.#request = request;
    this.#host = host;
    this.#parts = parts;
  }

  /** Merges the data of the sources into `pillar`; later ones override earlier ones. */
  async mergeInto(pillar: ValueMap): Promise<ValueMap> {
    const { opts, log } = this.#host;
    const { errors, merging } = this.#parts;
    const { override } = this.#request;
    const runs = [...opts.ext_pillar, ...this.#onDemand()];
    let merged = override.size > 0 ? mergeMaps(pillar, override, merging) : pillar;
    await using untilEnd = new AsyncDisposableStack();
    const replacePillar = (other: ValueMap) => void (merged = other);
    for (const run of runs) {
      const [first] = isMap(run) ? run.keys() : [];
      if (!isMap(run) || first === undefined) {
        errors.push(MALFORMED);
        // As in Salt, the data of the sources before it is lost.
        return opts.ext_pillar_first ? new Map() : pillar;
      }
      if (opts.exclude_ext_pillar.includes(str(first))) continue;
      for (const [key, value] of run) {
        const name = str(key);
        const source = await this.#host.sources.get(`${name}.ext_pillar`);
        if (source === undefined) {
          log("error", `ext_pillar: there is no source ${name}${this.#reason(name)}`);
          continue;
        }
        try {
          const context = { ...this.#context(merged), replacePillar, untilEnd };
          const data = await this.#run({ name, source, value, context });
          if (!truthy(data)) continue;
          if (!isMap(data)) throw new Error(`it gave ${typeName(data)} and not dict`);
          merged = mergeMaps(merged, data, merging);
        } catch (error) {
          errors.push(`Failed to load ext_pillar ${name}: ${messageOf(error)}`);
        }
      }
    }
    return merged;
  }

  #reason(name: string): string {
    const { sources } = this.#host;
    const problem = sources.problems().get(name) ?? sources.refusals().get(name);
    if (problem !== undefined) return `: ${problem}`;
    return sources.notBuilt.has(name)
      ? ": Salt's source of that name is not built; a custom source is a file in <extension_modules>/pillar, see docs/pillar.md"
      : didYouMean(name, Object.keys(sources.table));
  }

  async #run({ name, source, value, context }: SourceRun): Promise<Value> {
    const args = Array.isArray(value) ? value : isMap(value) ? [] : [value];
    const kwargs: ValueMap = isMap(value) ? new Map(value) : new Map();
    return await invoke(source, { name: `${name}.ext_pillar`, args, kwargs, context });
  }

  #context(pillar: ValueMap): Omit<PillarContext, "replacePillar" | "untilEnd"> {
    const host = this.#host;
    const { extraMinionData, id, saltenv } = this.#request;
    // A copy: a source that changes it must not change the files' data, which are kept.
    const scope: PillarScope = { ...this.#parts.scope(), pillar: deepCopy(pillar) as ValueMap };
    const opts = this.#parts.sourceOpts();
    return {
      minionId: id,
      pillar: scope.pillar,
      grains: scope.grains,
      opts,
      extraMinionData,
      notes: scope.notes,
      signal: host.signal,
      call: (name, args, kwargs = new Map()) => host.call(name, args, kwargs, scope),
      render: (rendering) => host.render(asText(rendering, saltenv ?? "base"), { ...scope, opts }),
      decrypt: (data, renderer) => host.decrypt(data, renderer, scope),
      nodegroups: () => this.#parts.nodegroups(),
      compile: (files) => this.#parts.compile(files),
      log: (level, message) => host.log(level, message),
    };
  }

  /** The source on demand, if it is allowed. */
  #onDemand(): Value[] {
    const { ext, id } = this.#request;
    const { on_demand_ext_pillar: allowed } = this.#host.opts;
    const { log } = this.#host;
    if (!truthy(ext)) return [];
    if (!isMap(ext)) {
      log("error", `The pillar on demand of ${id} is not formatted as a dictionary`);
      return [];
    }
    const refused = [...ext.keys()].map(str).filter((name) => !allowed.includes(name));
    if (refused.length === 0) return [ext];
    log(
      "error",
      `ext_pillar on demand of ${id}: ${refused.sort().join(", ")}: not allowed. on_demand_ext_pillar allows: ${
        allowed.join(", ")
      }`,
    );
    return [];
  }
}

/** Converts a source's rendering request to the host's form. */
function asText(
  { context, allowUndefined, blacklist, whitelist, ...text }: PillarRendering,
  saltenv: string,
): PillarText {
  const options = new Map<Value, Value>();
  if (allowUndefined) options.set("allow_undefined", true);
  if (truthy(blacklist)) options.set("renderer_blacklist", blacklist ?? null);
  if (truthy(whitelist)) options.set("renderer_whitelist", whitelist ?? null);
  return { ...text, sls: "", saltenv, variables: context ?? new Map(), options };
}
