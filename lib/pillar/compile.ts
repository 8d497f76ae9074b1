/**
 * Compiles a minion's pillar: top files, the files that they name, external pillar, the caller's values, decryption.
 * Source: Salt 3008.3 `salt/pillar/__init__.py` compile_pillar; the results of real masters for tests/corpus/pillar.
 * @module
 */

import { type MergeHow, mergeMaps } from "#lib/values/dict_merge.ts";
import { decryptPillar } from "./decrypt.ts";
import { messageOf, PillarTopError, TargetError } from "#lib/errors.ts";
import { matchesTop, topMatchType } from "#lib/targeting/top_match.ts";
import { ExternalPillar } from "./external.ts";
import { factsOf } from "#lib/targeting/facts.ts";
import { inEnvOrder, type MergedTop, mergePillarTops, NO_TOP, type TopFile, topMatches } from "./top.ts";
import type { PillarHost, PillarScope } from "./host.ts";
import { PillarReads } from "./reads.ts";
import { PillarRoots } from "./roots.ts";
import { type PillarRequest, plainRequest } from "./request.ts";
import { renderCached, type SlsCache } from "./sls_cache.ts";
import { SlsFiles } from "./sls.ts";
import { VERSION } from "#lib/version.ts";
import { WatchedMap } from "./watched_map.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** A compiled pillar, and the data that it depends on. */
export interface CompiledPillar {
  readonly pillar: ValueMap;
  readonly reads: PillarReads;
}

/** Compiles the pillar of a request. */
export async function compilePillar(
  request: PillarRequest,
  host: PillarHost,
  slsCache?: SlsCache,
): Promise<CompiledPillar> {
  const compilation = new Compilation(request, host, slsCache);
  return { pillar: await compilation.compile(), reads: compilation.reads };
}

/** Merges the top files of a request, by environment and target; collects their errors. */
export async function pillarTop(
  request: PillarRequest,
  host: PillarHost,
): Promise<{ readonly top: MergedTop; readonly errors: readonly string[] }> {
  return await new Compilation(request, host, undefined).top();
}

/** The options that depend on the request. */
export function ownOptions({ id, saltenv, pillarenv }: PillarRequest): ValueMap {
  return map({ id, minion_id: id, saltenv, pillarenv });
}

class Compilation {
  readonly reads = new PillarReads();
  readonly #request: PillarRequest;
  readonly #host: PillarHost;
  readonly #slsCache: SlsCache | undefined;
  readonly #roots: PillarRoots;
  readonly #pillarenv: string | null;
  readonly #merging: MergeHow;
  readonly #errors: string[] = [];
  /** The whole texts of errors that the minion gets without their details. */
  readonly #details = new Map<string, Set<string>>();
  readonly #opts: ValueMap;
  readonly #grains: ValueMap;
  /** The variable `pillar` of templates. */
  #pillar: ValueMap = new Map();
  /** The reads of the current file. */
  #noting = this.reads;

  constructor(request: PillarRequest, host: PillarHost, slsCache: SlsCache | undefined) {
    const { opts } = host;
    this.#request = request;
    this.#host = host;
    this.#slsCache = slsCache;
    this.#pillarenv = request.pillarenv ?? (opts.pillarenv_from_saltenv ? request.saltenv : null) ?? opts.pillarenv;
    const env = this.#pillarenv ?? request.saltenv ?? "base";
    const notes = { path: (path: string) => this.#noting.path(path) };
    const refuse = (message: string) => {
      host.log("warning", `${message} (asked for by ${request.id})`);
      this.reads.changing("its environment is not used");
    };
    this.#roots = new PillarRoots({ pillar_roots: opts.pillar_roots, ignores: host.ignores, refuse }, env, notes);
    this.#merging = {
      strategy: opts.pillar_source_merging_strategy,
      renderer: opts.renderer,
      mergeLists: opts.pillar_merge_lists,
    };
    const changed = () => this.#changed();
    this.#grains = new WatchedMap(request.grains, {
      key: (key, value) => this.#noting.grain(key, value),
      all: () => this.#noting.grains(request.grains),
      changed,
    });
    this.#opts = this.#watchedOpts(this.#ownOptions());
  }

  #ownOptions(): ValueMap {
    return ownOptions({ ...this.#request, pillarenv: this.#pillarenv });
  }

  #changed(): void {
    this.#noting.changing("a template changes data that all files share");
  }

  /** The options for sources of external pillar: as in Salt, with the id of the node. */
  #sourceOpts(): ValueMap {
    const own = this.#ownOptions();
    own.delete("id");
    return this.#watchedOpts(own);
  }

  /** The node's options, overridden by those of the request. */
  #watchedOpts(own: ValueMap): WatchedMap {
    const { values } = this.#host;
    return new WatchedMap(new Map([...values, ...own, ["grains", this.#grains], ["file_client", "local"]] as const), {
      key: (key, value) => own.has(key) && this.#noting.option(key, value),
      all: () => this.#noting.changing("all options are read"),
      changed: () => this.#changed(),
    });
  }

  #scope(): PillarScope {
    return {
      opts: this.#opts,
      grains: this.#grains,
      pillar: this.#pillar,
      roots: this.#roots,
      notes: {
        path: (path) => this.#noting.path(path),
        changing: (reason) => this.#noting.changing(reason),
      },
    };
  }

  async compile(): Promise<ValueMap> {
    const { opts, log } = this.#host;
    const { override } = this.#request;
    const { top, errors: topErrors } = await this.top();
    const external = new ExternalPillar(this.#request, this.#host, {
      merging: this.#merging,
      errors: this.#errors,
      scope: () => this.#scope(),
      sourceOpts: () => this.#sourceOpts(),
      nodegroups: () => this.#nodegroups(),
      compile: (files) => this.#compileOther(files),
    });
    if (opts.ext_pillar_first) {
      this.#pillar = await external.mergeInto(override);
      this.#pillar = mergeMaps(this.#pillar, await this.#files(top), this.#merging);
    } else {
      const files = await this.#files(top);
      this.#pillar = files;
      this.#pillar = await external.mergeInto(files);
    }
    let pillar = new Map(this.#pillar);
    this.#errors.push(...topErrors);
    if (opts.pillar_opts) {
      const master = new Map(this.#host.values).set("saltversion", VERSION);
      // With it a minion that reads the database would have the keys of all masters.
      master.delete("cluster_secret");
      pillar.set("master", master);
    }
    if (this.#errors.length > 0) {
      for (const error of new Set(this.#errors)) {
        for (const text of this.#details.get(error) ?? [error]) {
          log("mistake", `Pillar render error of ${this.#request.id}: ${text}`);
        }
      }
      pillar.set("_errors", this.#errors);
      // A failure may be temporary, even if no known input has changed.
      this.reads.changing("it has errors");
    }
    if (override.size > 0) pillar = mergeMaps(pillar, override, this.#merging) as Map<Value, Value>;
    return await decryptPillar(pillar, opts, (value, renderer) => this.#host.decrypt(value, renderer, this.#scope()));
  }

  /** Compiles the pillar of other directories, and adds its dependencies to this one. */
  async #compileOther({ saltenv, roots }: { saltenv: string; roots: readonly string[] }): Promise<ValueMap> {
    const { id, grains } = this.#request;
    const request = plainRequest(id, grains, { saltenv, pillarenv: this.#pillarenv });
    const opts = { ...this.#host.opts, pillar_roots: map({ [saltenv]: [...roots] }), ext_pillar: [] };
    const { pillar, reads } = await compilePillar(request, { ...this.#host, opts }, this.#slsCache);
    this.reads.add(reads);
    return pillar;
  }

  /** All top files as one. */
  async top(): Promise<{ readonly top: MergedTop; readonly errors: readonly string[] }> {
    const errors: string[] = [];
    const tops = await this.#topFiles(errors);
    try {
      return { top: mergePillarTops(tops), errors };
    } catch (error) {
      if (!(error instanceof PillarTopError)) throw error;
      this.#host.log("error", `The top files of pillar cannot be read: ${error.message}`);
      return { top: NO_TOP, errors: [...errors, "Error encountered while rendering pillar top file."] };
    }
  }

  /** The environments whose top files are used. */
  #environments(): string[] {
    const { opts } = this.#host;
    const all = this.#roots.envs();
    if (this.#pillarenv !== null) return this.#roots.has(this.#pillarenv) ? [this.#pillarenv] : [];
    if (opts.pillar_source_merging_strategy !== "none") return all;
    return all.filter((env) => env === (this.#request.saltenv ?? "base"));
  }

  async #topFiles(errors: string[]): Promise<TopFile[]> {
    const tops: TopFile[] = [];
    const included: [saltenv: string, sls: string][] = [];
    const name = this.#host.opts.state_top.replace(/^salt:\/\//, "");
    try {
      for (const saltenv of this.#environments()) {
        const path = this.#roots.find(name, saltenv);
        if (path === undefined) continue;
        const top = await this.#render({ path, sls: "", saltenv, defaults: new Map() });
        tops.push({ saltenv, top });
      }
    } catch (error) {
      errors.push(`Rendering Primary Top file failed, render error:\n${messageOf(error)}`);
    }
    for (const { saltenv, top } of tops) {
      const include = isMap(top) ? top.get("include") : undefined;
      if (Array.isArray(include)) { for (const sls of new Set(include.map(str))) included.push([saltenv, sls]); }
    }
    for (const [saltenv, sls] of included) {
      const file = this.#roots.sls(sls, saltenv);
      if (file === undefined) continue;
      try {
        const top = await this.#render({ path: file.path, sls: "", saltenv, defaults: new Map() });
        tops.push({ saltenv, top });
      } catch (error) {
        errors.push(`Rendering Top file ${sls} failed, render error:\n${messageOf(error)}`);
      }
    }
    return tops;
  }

  /** The data of all files that the top files name for the minion. */
  async #files(top: MergedTop): Promise<ValueMap> {
    const { opts, log } = this.#host;
    const matches = topMatches(top, {
      pillarenv: this.#pillarenv,
      matches: (target, items) => this.#matches(target, items),
    });
    let pillar = new Map(this.#request.override) as ValueMap;
    for (const [saltenv, names] of inEnvOrder(matches, opts.env_order)) {
      const files = new SlsFiles(
        {
          roots: this.#roots,
          merging: this.#merging,
          includesWin: opts.pillar_includes_override_sls,
          hidesErrors: opts.pillar_safe_render_error,
          detail: (shown, text) => void this.#details.set(shown, (this.#details.get(shown) ?? new Set()).add(text)),
          ignores: (sls, env) => top.ignored.get(env)?.has(sls) ?? false,
          render: (request) => this.#render(request),
          log,
        },
        saltenv,
        this.#errors,
      );
      pillar = await files.mergeInto(pillar, names);
    }
    return pillar;
  }

  #subject() {
    this.reads.option("id", this.#request.id);
    return { id: this.#request.id, grains: factsOf(this.#grains), pillar: factsOf(this.#pillar) };
  }

  #matches(target: Value, items: readonly Value[]): boolean {
    const { opts, log } = this.#host;
    try {
      return matchesTop(target, topMatchType(items), this.#subject(), { nodegroups: opts.nodegroups, log });
    } catch (error) {
      if (!(error instanceof TargetError)) throw error;
      if (!this.#errors.includes(error.message)) this.#errors.push(error.message);
      return false;
    }
  }

  /** The groups that the minion is in. */
  #nodegroups(): string[] {
    const { opts, log } = this.#host;
    return [...opts.nodegroups.keys()].filter((name) =>
      matchesTop(name, "nodegroup", this.#subject(), { nodegroups: opts.nodegroups, log })
    ).map(str);
  }

  /** Renders a file, or takes it from the cache. */
  async #render(
    { path, sls, saltenv, defaults }: { path: string; sls: string; saltenv: string; defaults: ValueMap },
  ): Promise<Value> {
    const facts = { grains: this.#request.grains, own: ownOptions({ ...this.#request, pillarenv: this.#pillarenv }) };
    // A result that depends on other data is not cached.
    const slsCache = defaults.size === 0 && this.#pillar.size === 0 ? this.#slsCache : undefined;
    const [before, reads] = [this.#noting, new PillarReads()];
    this.#noting = reads;
    try {
      // A file's imports depend on the directories of its environment.
      const key = [saltenv, sls, path, ...this.#roots.directories(saltenv)].join("\0");
      return await renderCached({ key, facts, reads, cache: slsCache }, async () => {
        reads.path(path);
        const text = Deno.readTextFileSync(path);
        const renderer = this.#host.opts.renderer;
        const variables = new Map([...defaults, ["_pillar_rend", true]] as const) as ValueMap;
        const data = await this.#host.render({ text, path, sls, saltenv, renderer, variables }, this.#scope());
        if (slsCache !== undefined && this.#pillar.size > 0) reads.changing("a template changes pillar");
        return data;
      });
    } finally {
      this.#noting = before;
      this.reads.add(reads);
    }
  }
}
