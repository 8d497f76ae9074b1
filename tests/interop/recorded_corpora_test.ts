/**
 * A few corpora of each form are what their programs write with Python Salt: `deno task record --check`.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { whyNoMountNamespace } from "#tests/support/mount_namespace.ts";
import { run } from "#tests/support/processes.ts";
import { INSTALL_MS, pythonSalt } from "./python_salt.ts";

const installed = await pythonSalt("3008.3");
const missing = "missing" in installed ? installed.missing : whyNoMountNamespace();
const ROOT = decodeURIComponent(new URL("../../", import.meta.url).pathname);
const CHECKED = [
  "dict_merge",
  "decrypt_pillar",
  "gpg_status",
  "program_calls/at",
  "state_answers/at",
  "state_results/host",
];

Deno.test({
  name: `recorded corpora are what their programs write${missing === undefined ? "" : ` (ignored: ${missing})`}`,
  ignore: missing !== undefined,
  fn: async () => {
    const ran = await run([
      Deno.execPath(),
      "run",
      "-A",
      "--no-check",
      `${ROOT}tests/record/run.ts`,
      "--check",
      ...CHECKED,
    ], INSTALL_MS);
    assertEquals(ran.code, 0, ran.out + ran.err);
    assertEquals(ran.out.trim().split("\n").length, CHECKED.length);
  },
});
