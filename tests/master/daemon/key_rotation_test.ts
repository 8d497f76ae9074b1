import { statementsPath } from "#lib/keys/master_rotation.ts";
import { SharedKey } from "#lib/keys/shared_key.ts";
import { KeyRotation, settlePair } from "#lib/master/daemon/key_rotation.ts";
import { TOO_OLD } from "#lib/master/daemon/maintenance.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a key that cannot be announced is used, and so is the one after it", () =>
  withTemporaryDirectory(async (dir) => {
    const sharedKey = new SharedKey(), { log, lines } = memoryLog();
    // A socket cannot have so long a path.
    const sock_dir = `${dir}/${"x".repeat(120)}`;
    const opts = { order_masters: false, ping_on_rotate: false, publish_session: 1, sock_dir, user: "root" };
    const startMs = Date.now();
    const rotation = new KeyRotation({ opts, sharedKey, log, fire: () => Promise.resolve() });
    assert(rotation.madeMs >= startMs);
    for (const round of [1, 2]) {
      const before = sharedKey.text, beforeMs = Date.now();
      rotation.rotate(TOO_OLD);
      assert(rotation.madeMs >= beforeMs);
      await eventually(() => sharedKey.text !== before, { what: "the next key" });
      const refused = lines.filter((line) => line.includes("Minions are not told of the new AES key"));
      assertEquals(refused.length, round, lines.join("\n"));
    }
    await rotation.close();
  }));

Deno.test("a cluster is asked once for a key that its masters take later, and again if it could not be asked", async () => {
  const { log, lines } = memoryLog();
  const opts = { order_masters: false, ping_on_rotate: false, publish_session: 1, sock_dir: "/", user: "root" };
  const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let asked = 0;
  const rotateCluster = () => answers[asked++].promise;
  const fire = () => Promise.resolve();
  const rotation = new KeyRotation({ opts, sharedKey: new SharedKey(), log, fire, rotateCluster });
  assertEquals(rotation.madeMs, -Infinity);
  const beforeMs = Date.now();
  rotation.rotate(TOO_OLD);
  assert(rotation.madeMs >= beforeMs);
  answers[0].resolve();
  await eventually(() => asked === 1, { what: "the question" });
  assert(rotation.madeMs >= beforeMs);
  rotation.rotate(TOO_OLD);
  answers[1].reject(new Error("the database is away"));
  await eventually(() => rotation.madeMs === -Infinity, { what: "that it can be asked again" });
  assertEquals(lines.filter((line) => line.includes("the database is away")).length, 1);
  await rotation.close();
});

Deno.test("a next key pair that cannot be read is named in the log, and the master goes on", () =>
  withTemporaryDirectory((dir) => {
    const { log, lines } = memoryLog();
    settlePair({ pki_dir: dir, id: "m", cachedir: dir, hash_type: "sha256" }, log);
    assertEquals(lines, []);
    Deno.writeTextFileSync(statementsPath(dir), "no statements");
    settlePair({ pki_dir: dir, id: "m", cachedir: dir, hash_type: "sha256" }, log);
    assertEquals(lines.filter((line) => line.includes("The next key pair of the master is not taken: ")).length, 1);
  }));
