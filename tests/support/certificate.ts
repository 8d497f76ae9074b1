/**
 * A certificate with its own certificate authority, for tests that use TLS. Made by openssl.
 * @module
 */

import { assert } from "./assert.ts";

/** The server's certificate and key, and the authority that a client trusts. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
  /** The path of the authority's certificate. */
  readonly authority: string;
}

/** Makes an authority and a certificate of it for the name localhost, in `directory`. */
export function makeCertificate(directory: string): TestCertificate {
  const openssl = (...args: readonly string[]) => {
    const { code, stderr } = new Deno.Command("openssl", { args: [...args], cwd: directory }).outputSync();
    assert(code === 0, new TextDecoder().decode(stderr));
  };
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl("req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=test");
  openssl("req", ...key, "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=localhost");
  Deno.writeTextFileSync(`${directory}/extensions`, "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n");
  const by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "extensions"];
  openssl("x509", "-req", "-in", "request.pem", ...by, "-out", "cert.pem");
  const [cert, secret] = ["cert.pem", "key.pem"].map((name) => Deno.readTextFileSync(`${directory}/${name}`));
  return { cert, key: secret, authority: `${directory}/ca.pem` };
}
