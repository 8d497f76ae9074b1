import { assertEquals } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const ENTRY = decodeURIComponent(new URL("../../../salt.ts", import.meta.url).pathname);

Deno.test("salt-run sdb reads and stores with the profiles of the master's configuration", () =>
  withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/facts.yaml`, "user: nobody\nlogin: {name: larry}\n");
    const options = {
      root_dir: root,
      facts: { driver: "yaml", files: [`${root}/facts.yaml`] },
      store: { driver: "sqlite3", database: `${root}/sdb` },
    };
    Deno.writeTextFileSync(`${root}/master`, JSON.stringify(options));
    const words = [Deno.execPath(), "run", "-A", "--quiet", ENTRY, "--as", "salt-run", "-c", root, "--out=json"];
    const returned = async (...args: string[]): Promise<unknown> => {
      const { out, err, code } = await run([...words, ...args]);
      assertEquals([code, err], [0, ""]);
      return JSON.parse(out);
    };
    assertEquals(await returned("sdb.get", "sdb://facts/login:name"), "larry");
    assertEquals(await returned("sdb.set", "sdb://store/a", "b"), true);
    assertEquals(await returned("sdb.get_or_set_hash", "sdb://store/a"), "b");
    assertEquals(await returned("sdb.delete", "no address"), false);
  }));
