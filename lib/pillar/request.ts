/**
 * A request for the pillar of one minion. Source: docs/protocol.md "Pillar"; Salt 3008.3 `salt/master.py` _pillar,
 * `salt/pillar/__init__.py` AsyncRemotePillar.
 * @module
 */

import { decode, encode } from "#lib/values/msgpack.ts";
import { WireError } from "#lib/errors.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The minion, and the options of the request. */
export interface PillarRequest {
  readonly id: string;
  readonly grains: ValueMap;
  /** The environment of the minion's states. */
  readonly saltenv: string | null;
  /** The one environment to take pillar from; `null`: the option's, else all. */
  readonly pillarenv: string | null;
  /** Values of the caller, which win. */
  readonly override: ValueMap;
  /** Options of the minion for external pillars. */
  readonly extraMinionData: ValueMap;
  /** An external pillar on demand: `{name: arguments}`. */
  readonly ext: Value;
  /** Whether cached data of this pillar is dropped first. */
  readonly cleanCache: boolean;
  /** The minion's options, if the result of `master_tops` is wanted instead of the pillar. */
  readonly tops: ValueMap | null;
}

/** The request in the load of a `_pillar` command of minion `id`; the grain `id` is set to that id. */
export function readPillarRequest(load: ValueMap, id: string): PillarRequest {
  const grains = mapOrEmpty(load.get("grains"));
  return {
    id,
    grains: new Map(grains).set("id", id),
    saltenv: asName(load.get("saltenv") ?? load.get("env")),
    pillarenv: asName(load.get("pillarenv")),
    override: mapOrEmpty(load.get("pillar_override")),
    extraMinionData: mapOrEmpty(load.get("extra_minion_data")),
    ext: load.get("ext") ?? null,
    cleanCache: truthy(load.get("clean_cache")),
    tops: null,
  };
}

/** The bytes of a request, for another process. */
export function packPillarRequest(request: PillarRequest): Uint8Array {
  return encode(map({ ...request }), "disk");
}

/**
 * The request in these bytes.
 * @throws {WireError} If it is none.
 */
export function unpackPillarRequest(bytes: Uint8Array): PillarRequest {
  const fields = decode(bytes, "disk");
  const id = isMap(fields) ? fields.get("id") : undefined;
  const tops = isMap(fields) ? fields.get("tops") : undefined;
  if (!isMap(fields) || typeof id !== "string") throw new WireError("invalid request for a pillar", "id");
  return {
    id,
    grains: mapOrEmpty(fields.get("grains")),
    saltenv: asName(fields.get("saltenv")),
    pillarenv: asName(fields.get("pillarenv")),
    override: mapOrEmpty(fields.get("override")),
    extraMinionData: mapOrEmpty(fields.get("extraMinionData")),
    ext: fields.get("ext") ?? null,
    cleanCache: fields.get("cleanCache") === true,
    tops: isMap(tops) ? tops : null,
  };
}

/** A request with default options. */
export function plainRequest(id: string, grains: ValueMap, options: Partial<PillarRequest> = {}): PillarRequest {
  const request: PillarRequest = {
    id,
    grains: new Map(grains).set("id", id),
    saltenv: null,
    pillarenv: null,
    override: new Map(),
    extraMinionData: new Map(),
    ext: null,
    cleanCache: false,
    tops: null,
  };
  return { ...request, ...options, override: options.override ?? request.override };
}

function asName(value: Value | undefined): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
