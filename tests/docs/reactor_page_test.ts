/** @module */
import { loadMasterConfig } from "#lib/config/load.ts";
import { EventRenderer } from "#lib/master/reactor/event_renderer.ts";
import { MapMatcher, readReactorMap } from "#lib/reactor/reactor_map.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";
import { loadYamlMapping } from "#lib/yaml/load.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/reactor.md", import.meta.url));
const BLOCKS = [...PAGE.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, block]) => block);

Deno.test("the map of docs/reactor.md names the file beside it, which applies states to the minion that has started", () =>
  withTemporaryDirectory(async (root) => {
    const { value } = loadYamlMapping(BLOCKS[0], "reactor.conf");
    const { entries, mistakes } = readReactorMap(value.get("reactor") ?? null);
    assertEquals(mistakes, []);
    const matcher = new MapMatcher(entries);
    assertEquals(matcher.filesFor("salt/minion/web1/start"), ["/srv/reactor/start.sls"]);
    assertEquals(matcher.filesFor("deploy/a/b"), ["salt://reactor/deploy.sls"]);
    Deno.mkdirSync(`${root}/etc`);
    Deno.writeTextFileSync(`${root}/etc/master`, `root_dir: ${root}\nid: host_master\n`);
    Deno.writeTextFileSync(`${root}/start.sls`, BLOCKS[1]);
    const { opts } = loadMasterConfig({ configDir: `${root}/etc` });
    const renderer = await EventRenderer.open(opts, { log: SILENT_LOGGER, signal: new AbortController().signal });
    const event = { tag: "salt/minion/web1/start", data: map({ id: "web1" }), files: [`${root}/start.sls`] };
    const { reactions, mistakes: none } = await renderer.render(event);
    assertEquals(none, []);
    assertEquals(reactions.map(({ kind, fun, tgt, kwargs }) => [kind, fun, tgt, kwargs]), [
      ["local", "state.apply", "web1", map({ mods: "base" })],
    ]);
  }));
