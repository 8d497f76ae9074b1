/**
 * Execution module `x509`: certificates, signing requests, revocation lists and their keys.
 * Source: the functions of Salt 3008.3 `salt/modules/x509_v2.py`.
 * @module
 */

import { readReference, writePem } from "./common.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { referenceOf } from "#lib/host/x509/loading.ts";

export {
  create_certificate,
  create_certificate_ssh,
  create_crl,
  create_csr,
  create_private_key,
  encode_certificate,
  encode_crl,
  encode_csr,
  encode_private_key,
} from "./creating.ts";
export { get_signing_policy, sign_remote_certificate } from "./policies.ts";
export {
  expired,
  expires,
  get_pem_entries,
  get_pem_entry,
  get_private_key_size,
  get_public_key,
  read_certificate,
  read_certificates,
  read_crl,
  read_csr,
  verify_crl,
  verify_private_key,
  verify_signature,
  will_expire,
} from "./reading.ts";

export const write_pem: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Write the first PEM block of a text to a file that only its owner may read. `pem_type` is a regular expression for its\n" +
      "label. With overwrite=False, a CERTIFICATE keeps the private key and the DH parameters of the file.",
    "x509.write_pem '-----BEGIN CERTIFICATE-----MIIGMzCCBBug…' path=/etc/pki/mycert.crt",
  ),
  permissions: "all",
  params: { text: p.any(), path: p.str(), overwrite: p.bool(true), pem_type: p.str(null) },
  run: ({ text, path, overwrite, pem_type }) => writePem(readReference(referenceOf(text)), path, overwrite, pem_type),
});
