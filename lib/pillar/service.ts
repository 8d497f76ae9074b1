/**
 * The pillars of a master in one process: compiled on request, or taken from the cache. Source: Salt 3008.3
 * `salt/pillar/__init__.py` PillarCache; docs/pillar.md says when a pillar is compiled again.
 * @module
 */

import { compilePillar, ownOptions } from "./compile.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { changeNotes } from "#lib/config/master_paths.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { PillarCache } from "./pillar_cache.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { masterTops } from "./master_tops.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { mergeMaps } from "#lib/values/dict_merge.ts";
import { PillarReads } from "./reads.ts";
import type { PillarHost } from "./host.ts";
import type { PillarRequest } from "./request.ts";
import { SlsCache } from "./sls_cache.ts";
import { StoreError } from "#lib/errors.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

/** The options that it reads, in addition to those of the compiler. */
export type PillarServiceOpts = Pick<
  MasterOpts,
  | "cachedir"
  | "minion_data_cache"
  | "pillar_cache"
  | "pillar_cache_backend"
  | "pillar_cache_ttl"
  | "pillar_max_bytes"
  | "cluster_id"
>;

/** Compiles and keeps. */
export class PillarService {
  readonly #opts: PillarServiceOpts;
  readonly #host: PillarHost;
  readonly #data: DataCache;
  readonly #files = new SlsCache();
  readonly #pillars = new PillarCache();

  constructor(opts: PillarServiceOpts, host: PillarHost) {
    this.#opts = opts;
    this.#host = host;
    this.#data = new DataCache(opts.cachedir, {
      log: (text) => host.log("warning", text),
      notes: changeNotes(opts),
    });
  }

  /** The pillar of a request as MessagePack of the wire; an error text if it is too large. */
  async pillar(request: PillarRequest): Promise<Uint8Array> {
    if (request.tops !== null) return encode(await masterTops(request, this.#host), "wire");
    const key = request.pillarenv === null ? request.id : `${request.id}:${request.pillarenv}`;
    if (request.cleanCache && this.#opts.pillar_cache) this.#drop(key);
    // Pillar with the caller's own values, or for a single call, is not cached.
    const isPlain = request.override.size === 0 && (request.ext === null || request.ext === "");
    const cached = this.#cached(key, request);
    if (cached !== undefined && request.override.size === 0) return cached;
    if (cached !== undefined) return this.#overridden(cached, request);
    const cacheKey = `${key}\0${request.saltenv}`;
    const facts = { grains: request.grains, own: ownOptions(request) };
    const usesCache = isPlain && !this.#opts.pillar_cache && request.extraMinionData.size === 0;
    const stored = usesCache ? this.#pillars.find(cacheKey, facts) : undefined;
    if (stored !== undefined) {
      // Salt stores a pillar at each request: after `cache.clear_pillar` targets by pillar find the minion again.
      if (this.#isMissing(key, request)) this.#store(key, request, { pillar: asPillar(stored), bytes: stored });
      return stored;
    }
    const { pillar, reads } = await compilePillar(request, this.#host, this.#files);
    const packed = this.#packed(request.id, pillar);
    if (packed.tooLarge) return packed.bytes;
    if (usesCache && reads.reason === undefined) this.#pillars.keep(cacheKey, packed.bytes, reads);
    if (isPlain) this.#store(key, request, { pillar, bytes: packed.bytes });
    return packed.bytes;
  }

  #packed(id: string, pillar: ValueMap): { readonly bytes: Uint8Array; readonly tooLarge: boolean } {
    const { pillar_max_bytes: max } = this.#opts;
    const bytes = encode(pillar, "wire");
    if (bytes.length <= max) return { bytes, tooLarge: false };
    const text = `The pillar of ${id} has ${bytes.length} bytes, more than the ${max} that pillar_max_bytes allows`;
    this.#host.log("error", text);
    return { bytes: encode(map({ _errors: [text] }), "wire"), tooLarge: true };
  }

  #overridden(cached: Uint8Array, { override }: PillarRequest): Uint8Array {
    const { opts } = this.#host;
    const merged = mergeMaps(asPillar(cached), override, {
      strategy: opts.pillar_source_merging_strategy,
      renderer: opts.renderer,
      mergeLists: opts.pillar_merge_lists,
    });
    return encode(merged, "wire");
  }

  /** The entry of `pillar_cache`, which is valid even if its sources have changed. */
  #cached(key: string, { grains }: PillarRequest): Uint8Array | undefined {
    const { pillar_cache, pillar_cache_backend, pillar_cache_ttl, cachedir } = this.#opts;
    if (!pillar_cache) return undefined;
    const ttlMs = pillar_cache_ttl * 1000;
    if (pillar_cache_backend === "memory") return this.#pillars.find(key, { grains, own: new Map() }, ttlMs);
    try {
      const { mtime } = Deno.statSync(`${cachedir}/pillar/${key}.p`);
      if (Date.now() - Number(mtime) >= ttlMs) return undefined;
    } catch {
      return undefined; // there is none
    }
    const pillar = this.#data.get(key)?.pillar;
    return pillar === undefined || pillar.size === 0 ? undefined : encode(pillar, "wire");
  }

  /** For targets by pillar, for the runner `cache`, and for `pillar_cache`. */
  #store(
    key: string,
    { pillarenv }: PillarRequest,
    { pillar, bytes }: { readonly pillar: ValueMap; readonly bytes: Uint8Array },
  ): void {
    const { pillar_cache, pillar_cache_backend, minion_data_cache } = this.#opts;
    if (pillar_cache && pillar_cache_backend === "memory") this.#pillars.keep(key, bytes, new PillarReads());
    const onDisk = pillar_cache && pillar_cache_backend === "disk";
    if (!onDisk && !(minion_data_cache && pillarenv === null)) return;
    try {
      this.#data.setPillar(key, pillar);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#host.log("error", `The pillar of ${key} is not in the data cache: ${error.message}`);
    }
  }

  /** Whether the data cache should have the pillar, and has none. */
  #isMissing(key: string, { pillarenv }: PillarRequest): boolean {
    const { minion_data_cache, cachedir } = this.#opts;
    if (!minion_data_cache || pillarenv !== null) return false;
    try {
      return !lexistsOrThrow(`${cachedir}/pillar/${key}.p`);
    } catch {
      return true; // storing it reports what is wrong
    }
  }

  /**
   * Removes what `pillar_cache` keeps. The pillars that are kept without it need no cleaning: each is used only while
   * its sources are unchanged; and targets by pillar need the stored one until the new one is there.
   */
  #drop(key: string): void {
    this.#pillars.drop(key);
    try {
      Deno.removeSync(`${this.#opts.cachedir}/pillar/${key}.p`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

function asPillar(packed: Uint8Array): ValueMap {
  return mapOrEmpty(decode(packed, "wire"));
}
