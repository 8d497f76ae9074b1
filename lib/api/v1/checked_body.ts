/**
 * The body of a request to the routes of `/api/v1`: a map with known names.
 * @module
 */

import { ApiError } from "#lib/api/http/api_error.ts";
import type { ApiRequest } from "#lib/api/endpoints/endpoint.ts";
import { isMap, str, type ValueMap } from "#lib/values/value.ts";

/**
 * The map that the body holds.
 * @param names The names that it may have.
 * @throws {ApiError} 400 if it is no map, or has another name.
 */
export function checkedBody({ body }: ApiRequest, names: readonly string[]): ValueMap {
  const data = body.data === undefined ? new Map() : body.data;
  if (!isMap(data)) throw new ApiError(400, "The body must be a map");
  for (const name of data.keys()) {
    if (typeof name !== "string" || !names.includes(name)) {
      throw new ApiError(400, `The body has no field ${str(name)}; it takes ${names.join(", ")}`);
    }
  }
  return data;
}
