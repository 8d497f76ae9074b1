import { masterBus } from "#lib/bus/paths.ts";
import { writeBusState } from "#lib/bus/state_file.ts";
import { repr } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

Deno.test("bus.subscribers shows the counts of the bus, and nothing without a bus", () =>
  withRunnerFixture(async ({ call, context }) => {
    assertEquals(await call("bus.subscribers"), []);
    Deno.mkdirSync(context.opts.sock_dir, { recursive: true });
    writeBusState(masterBus(context.opts.sock_dir), [
      { name: { key: "k", pid: 7, prefixes: ["salt/job"], missed: 0 }, topic: "t", dropped: 2, stuck: true },
    ]);
    assertEquals(
      repr(await call("bus.subscribers")),
      "[{'pid': 7, 'tags': ['salt/job'], 'dropped': 2, 'reads': False}]",
    );
  }));
