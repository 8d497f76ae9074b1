/**
 * The master's directory of keys moves from Salt 3008 to ours and back: it stays the same key.
 * @module
 */

import { loadOrCreateMasterKey, masterPublicKey } from "#lib/keys/pair.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { testWithPython } from "./salts.ts";

const SCRIPT = decodeURIComponent(new URL("./master_key.py", import.meta.url).pathname);
const BITS = 2048;

await testWithPython(
  "3008.3",
  "a master's key moves from {} to ours and back",
  (python, t) =>
    withTemporaryDirectory(async (root) => {
      const config = `${root}/master`;
      const [call] = python.command("salt-call");
      const atPython = async (...words: string[]): Promise<string> => {
        const { code, out, err } = await run([call.replace(/salt-call$/, "python"), SCRIPT, config, ...words]);
        assertEquals(code, 0, `${out}${err}`);
        return JSON.parse(out.trim().split("\n").at(-1) ?? "").trimEnd();
      };
      for (const first of ["ours", "Python's"]) {
        await t.step(`made by ${first}`, async () => {
          const pki = `${root}/${first === "ours" ? "a" : "b"}`;
          Deno.mkdirSync(pki);
          Deno.writeTextFileSync(config, `root_dir: ${root}\npki_dir: ${pki}\nid: boss_master\n`);
          const options = { id: "boss_master" };
          const made = first === "ours"
            ? (await loadOrCreateMasterKey(pki, BITS, options)).publicKey.pem
            : await atPython("start");
          assertEquals(await atPython(), made, "Python's wheel function");
          for (let i = 0; i < 2; i++) {
            assertEquals((await loadOrCreateMasterKey(pki, BITS, options)).publicKey.pem, made);
            assertEquals(masterPublicKey(pki, "boss_master")?.trimEnd(), made);
            assertEquals(await atPython("start"), made);
          }
        });
      }
    }),
);
