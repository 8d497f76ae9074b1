/**
 * The master's reply to a request for pillar: encrypted with the minion's own key, and signed by the master.
 * Source: docs/protocol.md "Pillar".
 * @module
 */

import { Crypticle } from "#lib/crypto/crypticle.ts";
import { sameBytes } from "#lib/crypto/same_bytes.ts";
import { AuthenticationError, WireError } from "#lib/errors.ts";
import { signedByMaster } from "#lib/keys/master_trust.ts";
import { asBytes, UNAUTHENTICATED_BOUNDS } from "#lib/protocol/payload.ts";
import { decode } from "#lib/values/msgpack.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, type ValueMap } from "#lib/values/value.ts";
import type { Applicant, SignInCredentials } from "./sign_in.ts";

/**
 * The pillar in a reply.
 * @param answer The frame.
 * @throws {AuthenticationError} If it is not the master's answer to the request with this nonce.
 * @throws {WireError} If the master refused the request.
 * @throws {MsgpackError} If it cannot be read.
 */
export function openPillarReply(answer: Uint8Array, { applicant, signer, nonce }: {
  readonly applicant: Applicant;
  /** The keys of the sign-in. */
  readonly signer: SignInCredentials | undefined;
  readonly nonce: string;
}): ValueMap {
  const reply = decode(answer, "wire", UNAUTHENTICATED_BOUNDS);
  const key = isMap(reply) ? asBytes(reply.get("key")) : undefined;
  const sealed = isMap(reply) ? asBytes(reply.get("pillar")) : undefined;
  if (key === undefined || sealed === undefined) throw new WireError(`The master answered ${str(reply)}`);
  const keyString = new TextDecoder().decode(applicant.key.decrypt(applicant.encAlgorithm, key));
  const signed = new Crypticle(keyString).loads(sealed);
  const data = isMap(signed) ? asBytes(signed.get("data")) : undefined;
  const sig = isMap(signed) ? asBytes(signed.get("sig")) : undefined;
  if (!data || !sig || !signer || !signedByMaster(signer, { algorithm: applicant.sigAlgorithm, data, sig })) {
    throw new AuthenticationError("The master's signature of the pillar does not hold");
  }
  const inner = decode(data, "wire");
  if (!isMap(inner) || inner.get("nonce") !== nonce) {
    throw new AuthenticationError("The reply does not have the nonce of the pillar request");
  }
  const outerKey = asBytes(inner.get("key"));
  if (outerKey === undefined || !sameBytes(key, outerKey)) {
    throw new AuthenticationError("The pillar was signed for another key");
  }
  return mapOrEmpty(inner.get("pillar"));
}
