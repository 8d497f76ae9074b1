/**
 * Lines that no test can reach, in code that reads or changes the host.
 * @module
 */

import { ALWAYS_THERE, type CoverageRule, NO_MEMORY, OTHER_SYSTEM, RACE } from "./rule.ts";

/** See {@linkcode CoverageRule}. */
export const HOST_RULES: readonly CoverageRule[] = [
  { path: "lib/crypto/libcrypto.ts", line: /return null;/, why: "a host without OpenSSL" },
  {
    path: "lib/crypto/openssl_rsa.ts",
    line: /=== null\) return (undefined|null);/,
    why: "a host without OpenSSL, or without memory",
  },
  { path: "lib/crypto/sealing.ts", line: /=== null\) return null;/, why: "a host without OpenSSL" },
  {
    path: "lib/crypto/sealing.ts",
    line: /openssl = null;|says itself that it does not/,
    why: "an OpenSSL that computes wrongly",
  },
  {
    path: "lib/crypto/sealing.ts",
    line: /OpenSSL does not (en|de)crypt/,
    why: "an OpenSSL that fails for want of memory",
  },
  {
    path: "lib/crypto/rsa.ts",
    line: /if \(error\) reject\(error\);/,
    why: "the making of a key that fails for want of memory",
  },
  { path: "lib/keys/rules.ts", line: /if \(rule === undefined\) throw/, why: ALWAYS_THERE },
  {
    path: "lib/keys/sessions.ts",
    line: /=== undefined\) (throw|return undefined)/,
    why: RACE,
  },
  { path: "lib/host/process_facts.ts", line: /fromPs|"-axo"/, why: OTHER_SYSTEM },
  { path: "lib/process/pid_file.ts", line: /"ps"/, why: OTHER_SYSTEM },
  { path: "lib/libc/libc.ts", line: /pointer === null/, why: NO_MEMORY },
];
