import { fn } from "#lib/plugins/job_context.ts";
import { jobRenderHost } from "#lib/render/job_host.ts";
import { renderSls } from "#lib/render/render.ts";
import { map, repr } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";

Deno.test("pillar.get shows a template the value, and an operator a mask", async () => {
  const context = testContext({ pillar: map({ k: { secret: "s" } }) });
  const host = jobRenderHost(context, { cacheFile: () => undefined });
  const text = "a: {{ salt['pillar.get']('k:secret') }}\nb: {{ salt['pillar.item']('k')['k']['secret'] }}\n";
  assertEquals(repr((await renderSls({ text }, host)).data), "{'a': 's', 'b': 's'}");
  assertEquals(await context.call("pillar.get", ["k:secret"]), "**********");
});

Deno.test("pillar.get shows the value to a function that a template calls, and masks it for one that an operator calls", async () => {
  const own = fn({ doc: "", params: {}, run: (_, { call }) => call("pillar.get", ["k"]) });
  const { catalogue } = testContext();
  const watched = { ...catalogue, get: async (name: string) => name === "own.get" ? own : await catalogue.get(name) };
  const context = testContext({ pillar: map({ k: "s" }), catalogue: watched });
  const host = jobRenderHost(context, { cacheFile: () => undefined });
  assertEquals(repr((await renderSls({ text: "a: {{ salt['own.get']() }}" }, host)).data), "{'a': 's'}");
  assertEquals(await context.call("own.get"), "**********");
});

Deno.test("templates of one job look a function up once", async () => {
  const context = testContext();
  const lookups: string[] = [];
  const { catalogue } = context;
  const watched = testContext({
    catalogue: { ...catalogue, get: (name: string) => (lookups.push(name), catalogue.get(name)) },
  });
  const host = jobRenderHost(watched, { cacheFile: () => undefined });
  for (const n of [1, 2]) {
    const text = `a: {{ salt['test.echo'](${n}) }}\n`;
    assertEquals(repr((await renderSls({ text }, host)).data), `{'a': ${n}}`);
  }
  assertEquals(lookups.filter((name) => name === "test.echo"), ["test.echo"]);
});
