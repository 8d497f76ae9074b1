/** Functions of execution modules on the master's host: their pillar, the mine, and what is not there. */

import { Mine } from "#lib/fleet/mine.ts";
import { NoMasterError } from "#lib/errors.ts";
import { executeOnMaster } from "#lib/master/processes/master_execution.ts";
import { mineRequests } from "#lib/master/processes/mine_answers.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { type TestServices, testServices } from "#tests/support/fleet/services.ts";

/** Calls a function, as `salt.cmd` does. */
async function called(services: TestServices, fun: string, args: Value[] = [], kwargs = {}): Promise<Value> {
  const signal = new AbortController().signal;
  const call = { fun, args, kwargs: map(kwargs) };
  return await executeOnMaster(call, { opts: services.opts, log: services.log, signal, user: "root" });
}

Deno.test("a function that is not there is named in Salt's words; other errors go on to the runner", async () => {
  using services = await testServices();
  assertEquals(await called(services, "no.such"), "'no.such' is not available.");
  assertEquals(await called(services, "test.echo", ["here"]), "here");
  await assertRejects(() => called(services, "test.exception", ["broken"]), Error, "broken");
});

Deno.test("fresh pillar needs a master, which is not asked from its own process; its tops are read here", async () => {
  using services = await testServices({ master_tops: map({ ext_nodes: "printf 'classes: [web]'" }) });
  await assertRejects(() => called(services, "pillar.items"), NoMasterError, "There is no master: this runs locally");
  assertEquals(await called(services, "state.show_top"), map({ base: ["web"] }));
});

Deno.test("the mine is read as the master; any other request has nobody who answers it", async () => {
  using services = await testServices();
  const { opts, auth: { keys } } = services;
  for (const id of ["web1", "db1"]) {
    keys.put(id, "accepted", "PEM");
    new Mine(opts.cachedir, { maxBytes: opts.mine_max_bytes, log: services.log.error })
      .store(id, map({ "test.ping": id }));
  }
  const request = mineRequests(opts, services.log);
  const load = { cmd: "_mine_get", id: opts.id, tgt: "web*", fun: "test.ping", tgt_type: "glob" };
  const found = await request(map(load));
  assertEquals([isMap(found), found], [true, map({ web1: "web1" })]);
  await assertRejects(() => request(map({ cmd: "_return" })), NoMasterError, "this runs on the master itself");
});
