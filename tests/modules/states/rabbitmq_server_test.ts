/**
 * The states of RabbitMQ against a real server: each is reached, is then reached already, and says in test mode what it
 * would change.
 * @module
 */

import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { run } from "#tests/support/calls/job_context.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { rabbitmqPrograms, startRabbitmq } from "#tests/support/rabbitmq_server.ts";

const PROGRAMS = rabbitmqPrograms();
const SKIPPED = PROGRAMS === undefined ? " (skipped: this host has no RabbitMQ)" : "";

type Step = readonly [fun: string, args: Readonly<Record<string, unknown>>];

/** Steps in their order: each changes something once. */
const STEPS: readonly Step[] = [
  ["rabbitmq_vhost.present", { name: "web" }],
  ["rabbitmq_user.present", {
    name: "shop",
    password: "-s3cret' \"x",
    tags: ["monitoring"],
    perms: [{ "/": [".*", "", "^a"] }],
  }],
  ["rabbitmq_user.present", { name: "shop", password: "other" }],
  ["rabbitmq_user.present", { name: "nologin" }],
  ["rabbitmq_policy.present", {
    name: "short",
    pattern: "^q",
    definition: '{"max-length": 3}',
    vhost: "web",
    apply_to: "queues",
  }],
  ["rabbitmq_policy.present", { name: "short", pattern: "^q", definition: { "max-length": 4 }, vhost: "web" }],
  ["rabbitmq_plugin.enabled", { name: "rabbitmq_federation" }],
  ["rabbitmq_upstream.present", { name: "up", uri: "amqp://127.0.0.1:1", max_hops: 1 }],
  ["rabbitmq_upstream.absent", { name: "up" }],
  ["rabbitmq_policy.absent", { name: "short", vhost: "web" }],
  ["rabbitmq_user.absent", { name: "shop" }],
  ["rabbitmq_vhost.absent", { name: "web" }],
];

Deno.test({
  name: `the states of RabbitMQ are reached once on a real server${SKIPPED}`,
  ignore: PROGRAMS === undefined,
  fn: async () => {
    assert(PROGRAMS !== undefined);
    await using _server = await startRabbitmq(PROGRAMS);
    const returned = async (fun: string, ...args: Value[]) => (await run(fun, args)).return;
    for (const [fun, args] of STEPS) {
      const label = `${fun} ${JSON.stringify(args)}`;
      const planned = await callState(fun, args, { test: true });
      assertEquals(planned.get("result"), null, `${label}: ${planned.get("comment")}`);
      const done = await callState(fun, args);
      assertEquals(done.get("result"), true, `${label}: ${done.get("comment")}`);
      assert(done.get("changes") instanceof Map && done.get("changes") !== null, label);
      if (fun.endsWith(".absent")) continue;
      const again = await callState(fun, args);
      assertEquals([again.get("result"), again.get("changes")], [true, new Map()], label);
    }
    assertEquals(await returned("rabbitmq.list_users"), map({ guest: ["administrator"], nologin: [""] }));
    assertEquals(await returned("rabbitmq.list_vhosts"), ["/"]);
    assertEquals(await returned("rabbitmq.check_password", "guest", "guest"), true);
    assertEquals(await returned("rabbitmq.check_password", "guest", "no"), false);
    const permissions = { guest: { configure: ".*", write: ".*", read: ".*" } };
    assertEquals(await returned("rabbitmq.list_permissions", "/"), map(permissions));
    assertEquals(await returned("rabbitmq.list_queues"), new Map());
    assertEquals(await returned("rabbitmq.list_policies"), new Map());
  },
});
