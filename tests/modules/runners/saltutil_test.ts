/** @module */
import { isMap, map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";
import { filesBelow } from "#tests/support/tree.ts";

const ROOTS = "file_roots:\n  base: ['{root}/srv']\n  dev: ['{root}/dev']\n";

Deno.test("salt-run saltutil.sync_* copies custom modules to the master, with Salt's families", async () => {
  await withRunnerFixture(async ({ root, call, context }) => {
    const put = (path: string, text: string) => {
      Deno.mkdirSync(`${root}/${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true });
      Deno.writeTextFileSync(`${root}/${path}`, text);
    };
    put("srv/_runners/own.ts", "export const x = () => 1;");
    put("srv/_proxy/p.py", "");
    put("dev/_runners/later.js", "export const x = () => 2;");
    const all = await call("saltutil.sync_all");
    assert(isMap(all));
    assertEquals(all.size, 24);
    assertEquals([...all].filter(([, changed]) => Array.isArray(changed) && changed.length > 0), [
      ["proxymodules", ["proxy.p"]],
      ["runners", ["runners.own"]],
    ]);
    assertEquals(await call("saltutil.sync_runners", [], { saltenv: "base,dev" }), ["runners.later"]);
    assertEquals(await call("saltutil.sync_eauth_tokens"), []);
    const there = [...filesBelow(context.opts.extension_modules)].map((path) =>
      path.slice(context.opts.extension_modules.length + 1)
    );
    assertEquals(there.sort(), ["proxy/p.py", "runners/later.js", "runners/own.ts"]);
    assertEquals(map({ n: await call("saltutil.sync_modules", [], { extmod_blacklist: "x" }) }), map({ n: [] }));
  }, ROOTS);
});
