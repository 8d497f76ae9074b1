/**
 * A minion that signs in, for tests and measurements.
 * @module
 */

import type { PrivateKey } from "#lib/crypto/rsa.ts";
import type { Applicant } from "#lib/minion/masters/sign_in.ts";

/** An applicant with a minion's default options. */
export function applicantOf(id: string, key: PrivateKey, pkiDir: string): Applicant {
  return {
    id,
    pkiDir,
    key,
    encAlgorithm: "OAEP-SHA1",
    sigAlgorithm: "PKCS1v15-SHA1",
    hashType: "sha256",
    masterFinger: "",
    verifyMasterPubkeySign: false,
    masterSignKeyName: "master_sign",
    openMode: false,
    alwaysVerifySignature: false,
    autosignGrains: new Map(),
  };
}
