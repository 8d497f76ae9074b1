/** Runner `reactor` without a reactor that works; with one: tests/master/reactor. */

import { packEvent } from "#lib/bus/event.ts";
import { eventLogDirectory, publishPullPath, reactorDirectory } from "#lib/config/master_paths.ts";
import { EventLogWriter } from "#lib/event_log/writer.ts";
import { writeStatus } from "#lib/reactor/status.ts";
import { map, toValue, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { type RunnerFixture, withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

/** Runs `test` beside a socket as that of a running master, with the report of a reactor. */
async function withRunningMaster({ context }: RunnerFixture, test: () => Promise<void>): Promise<void> {
  const { sock_dir, cachedir } = context.opts;
  Deno.mkdirSync(sock_dir, { recursive: true });
  Deno.mkdirSync(reactorDirectory(cachedir), { recursive: true });
  writeStatus(reactorDirectory(cachedir), map({ pid: Deno.pid }));
  using listener = Deno.listen({ transport: "unix", path: publishPullPath(sock_dir) });
  await test();
  listener.unref();
}

const LIST = "[{'a/*': [/x.sls]}, {'b': /y.sls}]";

for (
  const [form, option] of [
    ["a list", LIST],
    ["a file", "{root}/reactor_map"],
  ] as const
) {
  Deno.test(`reactor.list shows the map, as ${form}, with what was added and without what was deleted`, () =>
    withRunnerFixture(async (fixture) => {
      Deno.writeTextFileSync(`${fixture.root}/reactor_map`, LIST);
      await withRunningMaster(fixture, async () => {
        const files = form === "a list" ? "/y.sls" : ["/y.sls"];
        assertEquals(await fixture.call("reactor.list"), [toValue({ "a/*": ["/x.sls"] }), toValue({ b: files })]);
        await fixture.call("reactor.add", ["c", ["/z.sls"]]);
        await fixture.call("reactor.delete", ["b"]);
        assertEquals(await fixture.call("reactor.list"), [
          toValue({ "a/*": ["/x.sls"] }),
          toValue({ c: ["/z.sls"] }),
        ]);
      });
    }, `reactor: ${option}\n`));
}

Deno.test("reactor.explain says why an event would start no reaction", () =>
  withRunnerFixture(async (fixture) => {
    const { context, call } = fixture;
    const rendered: unknown[] = [];
    context.reactor.render = (tag, data, files) => {
      rendered.push([tag, data, [...files]]);
      return Promise.resolve(map({ reactions: [] }));
    };
    const made = map({ tag: "a/1", files: ["/x.sls"], reactions: [] });
    assertEquals(await call("reactor.explain", ["a/1", { id: "web1" }]), made);
    await withRunningMaster(fixture, async () => {
      await call("reactor.set_leader", [false]);
    });
    assertEquals(
      await call("reactor.explain", ["a/1", { user: "Reactor" }]),
      new Map([...made, [
        "prevented",
        ["events with the user Reactor start no reaction", "the reactor is not the leader"],
      ]]),
    );
    assertEquals(rendered, [
      ["a/1", map({ id: "web1" }), ["/x.sls"]],
      ["a/1", map({ user: "Reactor" }), ["/x.sls"]],
    ]);
  }, "reactor: [{'a/*': [/x.sls]}]\n"));

Deno.test("reactor.lint: a name that only an event has is a mistake where an event is known, or its data are given", () =>
  withRunnerFixture(async ({ context, call, done, root }) => {
    const rendered: [string, ValueMap][] = [];
    context.reactor.render = (tag, data) => {
      rendered.push([tag, data]);
      return Promise.resolve(map({ mistakes: ["Jinja variable 'id' is undefined", "no such file"] }));
    };
    const lint = async (...args: unknown[]) => (await call("reactor.lint", args) as ValueMap).get("mistakes");
    const undefinedName = "a/*: Jinja variable 'id' is undefined", noFile = "a/*: no such file";
    assertEquals(await lint(), [noFile]);
    assertEquals(await lint({ n: 1 }), [undefinedName, noFile]);
    const log = new EventLogWriter(eventLogDirectory(context.opts.cachedir), { keepS: 3600, maxBytes: 1 << 30 }, {
      log: { error() {}, info() {} },
      onWritten() {},
    });
    for (const [tag, n] of [["a/1", 1], ["b/1", 2], ["a/2", 3]] as const) log.append(packEvent(tag, map({ n })));
    log.close();
    assertEquals(await lint(), [undefinedName, noFile]);
    assertEquals(rendered, [["a/*", new Map()], ["a/*", map({ n: 1 })], ["a/2", map({ n: 3 })]]);
    assertEquals(done, ["retcode 1", "retcode 1", "retcode 1"], root);
  }, "reactor: [{'a/*': [/x.sls]}]\n"));
