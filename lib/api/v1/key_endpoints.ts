/**
 * The minions' keys: `/api/v1/keys`. A key is accepted by its fingerprint, so that it is the one that was shown.
 * @module
 */

import { runChunk } from "#lib/api/calls/run_chunks.ts";
import { sessionCaller } from "#lib/api/endpoints/callers.ts";
import type { ApiParts, ApiRequest, Methods, ValueReply } from "#lib/api/endpoints/endpoint.ts";
import { UserRights } from "#lib/api/endpoints/rights.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { fingerprint } from "#lib/crypto/pem.ts";
import { KEY_STATES } from "#lib/keys/manager.ts";
import { type KeyState, KeyStore } from "#lib/keys/store.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { compareStrings, isMap, map, str } from "#lib/values/value.ts";
import { checkedBody } from "./checked_body.ts";
import { limitOf, NEXT, PAGE_QUERY, pageOf } from "./pages.ts";

const KEY = t.object({
  id: t.text(),
  state: t.oneOf(KEY_STATES),
  fingerprint: t.orNull(t.text("By hash_type of the master; null: the file is no key.")),
});

/** The path `/api/v1/keys`. */
export const FLEET_KEYS: Methods = {
  GET: {
    summary: "The keys, with their fingerprints, page by page.",
    needs: "session",
    rights: "run the wheel function key.finger",
    onlyJson: true,
    query: { ...PAGE_QUERY, state: t.oneOf(KEY_STATES, "Only those.") },
    answers: [{
      doc: "A page by id, and the number of keys of each state.",
      schema: t.object({ keys: t.list(KEY), totals: t.mapOf(t.int()), next: NEXT }),
    }],
    errors: [400],
    handle: listKeys,
  },
};

/** The path `/api/v1/keys/ID/accept`. */
export const FLEET_KEY_ACCEPT: Methods = {
  POST: {
    summary: "Accepts the pending key of an id if it has this fingerprint.",
    needs: "session",
    rights: "run the wheel function key.accept",
    onlyJson: true,
    body: t.object({ fingerprint: t.text("As GET /api/v1/keys shows it.") }),
    answers: [{ doc: "It is accepted.", schema: t.object({ id: t.text(), state: t.oneOf(["accepted"]) }) }],
    errors: [409],
    handle: acceptKey,
  },
};

function listKeys(request: ApiRequest, parts: ApiParts): ValueReply {
  UserRights.of(request, parts).checkMayRun("wheel", "key.finger");
  const { opts: { pki_dir, hash_type } } = parts;
  const store = new KeyStore(pki_dir);
  const wanted = request.query.get("state");
  const state = KEY_STATES.find((one) => one === wanted);
  if (wanted !== null && state === undefined) throw new ApiError(400, `state must be one of ${KEY_STATES.join(", ")}`);
  const lists = KEY_STATES.map((one) => ({ state: one, ids: store.list(one) }));
  const all = lists.flatMap(({ state: one, ids }) =>
    state === undefined || one === state ? ids.map((id) => ({ id, state: one })) : []
  );
  // An id may have a denied key besides.
  const cursor = (key: { readonly id: string; readonly state: KeyState }) => `${key.id}/${key.state}`;
  const after = request.query.get("after");
  const { page, next } = pageOf(all.sort((a, b) => compareStrings(cursor(a), cursor(b))), {
    limit: limitOf(request.query),
    isAfter: (key) => after === null || compareStrings(cursor(key), after) > 0,
    cursor,
  });
  const keys = page.map((key) => map({ ...key, fingerprint: printOf(store.get(key.id, key.state), hash_type) }));
  const totals = Object.fromEntries(lists.map(({ state: one, ids }) => [one, ids.length]));
  return { value: map({ keys, totals, next }) };
}

function printOf(pem: string | undefined, hashType: string): string | null {
  if (pem === undefined || !pem.includes("-----BEGIN")) return null;
  return fingerprint(pem, hashType);
}

async function acceptKey(request: ApiRequest, parts: ApiParts): Promise<ValueReply> {
  const print = checkedBody(request, ["fingerprint"]).get("fingerprint");
  const { id } = request.params;
  if (typeof print !== "string") throw new ApiError(400, "fingerprint must be a text");
  if (!isValidId(id)) throw new ApiError(404, "There is no such key");
  const low = map({ client: "wheel", fun: "key.accept", match: [id], fingerprint: print });
  const [reply] = await runChunk(low, sessionCaller(request, parts));
  const data = isMap(reply) ? reply.get("data") : undefined;
  if (!isMap(data) || data.get("success") !== true) {
    throw new ApiError(409, isMap(data) ? str(data.get("return") ?? "") : "The master gave no result");
  }
  return { value: map({ id, state: "accepted" }) };
}
