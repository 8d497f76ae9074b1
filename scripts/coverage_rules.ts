/**
 * The lines of the product that `deno task coverage` cannot see, or that no test can reach, each with its reason.
 * @module
 */

import type { CoverageRule } from "./coverage_report.ts";

const UNEXPECTED = "an error that is not the expected one goes on to the caller; the system gives no other on demand";
const KILLED = "it runs in the process of a custom module, which ends by SIGKILL: Deno writes no figures of such";
const OTHER_SYSTEM = "another system than Linux";
const NO_MEMORY = "a host without memory";
const CALLED_TEST = "Deno counts nothing of a file of this name; tests/modules has tests of it";
const ALWAYS_THERE = "the types cannot say that it is always there";

/** See {@linkcode CoverageRule}. */
export const COVERAGE_RULES: readonly CoverageRule[] = [
  { line: /^throw (error|cause);$/, why: UNEXPECTED },
  { line: /^if \(!?\(?error instanceof .*\) throw error;/, why: UNEXPECTED },
  { line: /^if \(!\w+\) throw error;/, why: UNEXPECTED },
  { line: /Deno\.build\.os !== "linux"/, why: OTHER_SYSTEM },
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
    why: "a file that vanishes between two system calls",
  },
  {
    path: "lib/values/dict.ts",
    line: /\bknown\b.*return false;|=== undefined\) return false;/,
    why: "two keys of one hash, which is a secret",
  },
  { path: "lib/yaml/nodes.ts", line: /the parser lost its way/, why: "events that no parser gives" },
  { path: "lib/worker/module_worker.ts", line: /./, why: KILLED },
  { path: "lib/worker/module_pump.ts", line: /./, why: KILLED },
  { path: "lib/worker/grains_functions.ts", line: /./, why: KILLED },
  { path: "lib/worker/custom_catalogue.ts", line: /describeFunctions|setRetcode/, why: KILLED },
  { path: "lib/worker/custom_states.ts", line: /calledState|contextOf/, why: KILLED },
  { path: "lib/render/own_renderer.ts", line: /calledRenderer/, why: KILLED },
  { path: "lib/worker/job_runner.ts", line: /exactArguments|sendErrors/, why: KILLED },
  { path: "lib/host/process_facts.ts", line: /fromPs|"-axo"/, why: OTHER_SYSTEM },
  { path: "lib/process/pid_file.ts", line: /"ps"/, why: OTHER_SYSTEM },
  { path: "modules/grains/os.ts", line: /macGrains/, why: OTHER_SYSTEM },
  { path: "modules/grains/core.ts", line: /MacOS/, why: OTHER_SYSTEM },
  ...["execution", "runners", "states"].map((family) => ({
    path: `modules/${family}/test.ts`,
    line: /./,
    why: CALLED_TEST,
  })),
  { path: "lib/libc/libc.ts", line: /pointer === null/, why: NO_MEMORY },
  { path: "lib/sockets/libzmq.ts", line: /pointer === null/, why: NO_MEMORY },
];
