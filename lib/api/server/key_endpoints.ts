/**
 * The minions' keys: `/keys`.
 * Source: Salt 3008.3 `salt/netapi/rest_cherrypy/app.py` (Keys); answers of a live salt-api.
 * @module
 */

import type { ApiCaller } from "#lib/api/calls/caller.ts";
import { onlyChunk, runChunk } from "#lib/api/calls/run_chunks.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { HttpAnswer } from "#lib/api/http/exchange.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { tarOf } from "#lib/api/http/key_archive.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import type { ApiParts, ApiRequest, Methods } from "#lib/api/endpoints/endpoint.ts";
import { credentialsCaller, sessionCaller } from "#lib/api/endpoints/callers.ts";

/** `/keys` and `/keys/ID`. */
export const KEYS: Methods = {
  GET: {
    summary: "The keys by state; of one id its fingerprint.",
    needs: "session",
    rights: "the wheel functions key.list_all and key.finger",
    answers: [{
      doc: "The ids by state, or the fingerprint by state and id.",
      schema: t.object({ return: t.mapOf(t.either(t.list(t.text()), t.mapOf(t.text()))) }),
    }],
    errors: [400],
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
    rights: "the wheel function key.gen_accept",
    isRaw: true,
    body: t.open({
      mid: t.text("The id of the minion."),
      username: t.text(),
      password: t.text(),
      eauth: t.text(),
      keysize: t.optional(t.either(t.int(), t.text())),
      force: t.optional(t.bool("Whether a key that is there already is replaced.")),
    }),
    answers: [{ doc: "minion.pub and minion.pem.", media: "application/x-tar" }],
    errors: [401, 409],
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

/** A form has only texts. */
function isYes(value: Value | undefined): boolean {
  return value === true || (typeof value === "string" && value.toLowerCase() === "true");
}

async function makeKeys(request: ApiRequest, parts: ApiParts): Promise<HttpAnswer> {
  const low = onlyChunk(request.body.data);
  if (low === undefined) throw new ApiError(400, "The body must be a map with mid");
  const caller = credentialsCaller(low, request, parts);
  const mid = low.get("mid");
  if (typeof mid !== "string" || !isValidId(mid)) throw new ApiError(400, "mid must be the id of a minion");
  const kwarg: ValueMap = map({ id_: mid, force: isYes(low.get("force")) });
  if (low.has("keysize")) kwarg.set("keysize", low.get("keysize") ?? null);
  const pair = await runWheel(map({ fun: "key.gen_accept", kwarg }), caller);
  const [pub, priv] = isMap(pair) ? [pair.get("pub"), pair.get("priv")] : [];
  if (typeof pub !== "string" || typeof priv !== "string") {
    throw new ApiError(409, `There is a key of ${mid} already; force replaces it`);
  }
  return new HttpAnswer(tarOf({ "minion.pub": pub, "minion.pem": priv }), {
    headers: {
      "Content-Type": "application/x-tar",
      "Content-Disposition": `attachment; filename="saltkeys-${mid}.tar"`,
      "Cache-Control": "no-cache, no-store, private",
      "X-Content-Type-Options": "nosniff",
    },
  });
}
