/** @module */
import { readBusState } from "#lib/bus/state_file.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { repr } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { MasterHost } from "#tests/support/fleet/master_host.ts";
import { Service } from "#tests/support/processes.ts";

const SALT = decodeURIComponent(new URL("../../salt.ts", import.meta.url).pathname);
const MINIONS = Array.from({ length: 40 }, (_, i) => `m${i}`);
/** Events of others after each return; with their texts, more than the queue of the bus and the system's buffers. */
const OTHERS = 100;

Deno.test("`salt` that is stopped during a burst of events shows each return once when it goes on", async () => {
  await using host = await MasterHost.start({ maxWaitingEvents: 200 });
  const { config_dir, root_dir, ret_port, publish_port, sock_dir } = host.opts;
  Deno.writeTextFileSync(
    `${config_dir}/master`,
    `root_dir: ${root_dir}\nret_port: ${ret_port}\npublish_port: ${publish_port}\nuser: root\n`,
  );
  const words = ["-c", config_dir, "-t", "600", "--out", "txt", "-L", MINIONS.join(","), "test.arg"];
  const salt = Service.start(
    "salt",
    [Deno.execPath(), ...DENO_RUN, SALT, "--as", "salt", ...words],
    `${root_dir}/salt.out`,
  );
  try {
    await eventually(() => host.published.length === 1, { what: "the publish" });
    const jid = "20260101000000001001";
    await host.returns(jid, MINIONS[0], "first");
    await eventually(() => salt.written.includes("m0: first"), { what: "the first return" });
    Deno.kill(salt.pid, "SIGSTOP");
    using quick = await EventSubscriber.connect(masterBus(sock_dir).pub, [""]);
    const text = "x".repeat(2_000);
    for (const id of MINIONS.slice(1)) {
      for (let n = 0; n <= OTHERS; n++) {
        if (n === 0) await host.returns(jid, id, "burst");
        else await host.returns("20260101000000000002", id, text);
        assert(await quick.next(WITHIN_MS) !== undefined);
      }
    }
    const subscribers = repr(readBusState(masterBus(sock_dir)));
    Deno.kill(salt.pid, "SIGCONT");
    assertEquals(await salt.ended(WITHIN_MS), 0, salt.written);
    assertEquals(salt.written.trim().split("\n"), MINIONS.map((id, i) => `${id}: ${i === 0 ? "first" : "burst"}`));
    assertStringIncludes(subscribers, `'pid': ${salt.pid}`); // it was skipped
  } finally {
    await salt.kill();
  }
});
