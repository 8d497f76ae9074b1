/**
 * The minions' keys: `/keys`.
 * Source: Salt 3008.3 `salt/netapi/rest_cherrypy/app.py` (Keys); answers of a live salt-api.
 * @module
 */

import type { ApiCaller } from "#lib/api/calls/caller.ts";
import { onlyChunk, runChunk } from "#lib/api/calls/run_chunks.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { tarOf } from "#lib/api/http/key_archive.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import type { ApiParts, ApiRequest, Methods } from "./endpoint.ts";
import { credentialsCaller, sessionCaller } from "./job_endpoints.ts";

/** `/keys` and `/keys/ID`. */
export const KEYS: Methods = {
  GET: {
    summary: "The keys by state; of one id its fingerprint.",
    needs: "session",
    async handle(request, parts) {
      const { id } = request.params;
      const caller = sessionCaller(request, parts);
      const value = id === undefined
        ? await runWheel(map({ fun: "key.list_all" }), caller)
        : await runWheel(map({ fun: "key.finger", match: id }), caller);
      return { value: map({ return: value }) };
    },
  },
  POST: {
    summary:
      "Makes a key pair for a minion, accepts it, and gives both files as a tar archive: mid, username, password, eauth, keysize, force.",
    isRaw: true,
    handle: makeKeys,
  },
};

/** The result of a wheel function. */
async function runWheel(low: ValueMap, caller: ApiCaller): Promise<Value> {
  const [reply] = await runChunk(new Map(low).set("client", "wheel"), caller);
  const data = isMap(reply) ? reply.get("data") : undefined;
  if (!isMap(data) || data.get("success") !== true) {
    throw new ApiError(400, isMap(data) ? str(data.get("return") ?? "") : "The master gave no result");
  }
  return data.get("return") ?? null;
}

async function makeKeys(request: ApiRequest, parts: ApiParts): Promise<Response> {
  const low = onlyChunk(request.body.data);
  if (low === undefined) throw new ApiError(400, "The body must be a map with mid");
  const caller = credentialsCaller(low, request, parts);
  const mid = low.get("mid");
  if (typeof mid !== "string" || !isValidId(mid)) throw new ApiError(400, "mid must be the id of a minion");
  const kwarg: ValueMap = map({ id_: mid, force: low.get("force") === true });
  if (low.has("keysize")) kwarg.set("keysize", low.get("keysize") ?? null);
  const pair = await runWheel(map({ fun: "key.gen_accept", kwarg }), caller);
  const [pub, priv] = isMap(pair) ? [pair.get("pub"), pair.get("priv")] : [];
  if (typeof pub !== "string" || typeof priv !== "string") {
    throw new ApiError(409, `There is a key of ${mid} already; force replaces it`);
  }
  return new Response(tarOf({ "minion.pub": pub, "minion.pem": priv }), {
    headers: {
      "Content-Type": "application/x-tar",
      "Content-Disposition": `attachment; filename="saltkeys-${mid}.tar"`,
      "Cache-Control": "no-cache, no-store, private",
      "X-Content-Type-Options": "nosniff",
    },
  });
}
