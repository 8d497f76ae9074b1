/**
 * The request of a job for a fresh pillar, as bytes.
 * @module
 */

import type { PillarQuery } from "#lib/plugins/job_context.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";

/** Packs the request. */
export function packPillarQuery(query: PillarQuery): Uint8Array {
  return encode(map({ ...query }), "disk");
}

/** Parses the request; invalid fields are left out. */
export function unpackPillarQuery(bytes: Uint8Array): PillarQuery {
  const fields = decode(bytes, "disk");
  if (!isMap(fields)) return {};
  const override = fields.get("override");
  const name = (value: Value | undefined) => value === null || typeof value === "string" ? value : undefined;
  return {
    ...isMap(override) && { override },
    ...name(fields.get("pillarenv")) !== undefined && { pillarenv: name(fields.get("pillarenv")) },
    ...name(fields.get("saltenv")) !== undefined && { saltenv: name(fields.get("saltenv")) },
    ...fields.get("cleanCache") === true && { cleanCache: true },
    ...fields.get("tops") === true && { tops: true },
    ...fields.has("ext") && { ext: fields.get("ext") },
  };
}
