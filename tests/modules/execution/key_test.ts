import { fingerprint } from "#lib/crypto/pem.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const PEM = "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAK\n-----END PUBLIC KEY-----\n";

Deno.test("key.finger and key.finger_master are fingerprints of the files in pki_dir, empty without them", () =>
  withTemporaryDirectory(async (root) => {
    const opts = testOpts({ root_dir: root });
    const context = testContext({ opts });
    assertEquals(await context.call("key.finger"), "");
    await Deno.mkdir(opts.pki_dir, { recursive: true });
    await Deno.writeTextFile(`${opts.pki_dir}/minion.pub`, PEM);
    await Deno.writeTextFile(`${opts.pki_dir}/minion_master.pub`, `${PEM}\n`);
    assertEquals(await context.call("key.finger"), fingerprint(PEM, "sha256"));
    assertEquals(await context.call("key.finger", ["md5"]), fingerprint(PEM, "md5"));
    assertEquals(await context.call("key.finger_master"), fingerprint(`${PEM}\n`, "sha256"));
  }));
