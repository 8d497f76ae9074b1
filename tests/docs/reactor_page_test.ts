/** @module */
import { loadMasterConfig } from "#lib/config/load.ts";
import { EventRenderer } from "#lib/master/reactor/event_renderer.ts";
import { MapMatcher, readReactorMap } from "#lib/reactor/reactor_map.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";
import { loadYamlMapping } from "#lib/yaml/load.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { eventually, startFleet } from "#tests/support/fleet/fleet.ts";
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

/** What each command says at least, by its function; its exit code is 0. */
const SAYS: Readonly<Record<string, RegExp>> = {
  "reactor.status": /behind/,
  "reactor.explain": /state\.apply/,
  "reactor.replay": /started|reactions|state\.apply|True|1/,
  "reactor.lint": /./,
  "reactor.list": /salt\/minion\/\*\/start/,
  "reactor.add": /Reactor added\./,
  "reactor.delete": /Reactor deleted\./,
  "reactor.set_leader": /./,
};

Deno.test("the commands of docs/reactor.md do what it says, on a master with its map", () =>
  withTemporaryDirectory(async (root) => {
    const within = (text: string) => text.replaceAll("/srv/reactor", root).replaceAll("/etc/salt/reactor", root);
    const { value } = loadYamlMapping(within(BLOCKS[0]), "reactor.conf");
    Deno.writeTextFileSync(`${root}/start.sls`, BLOCKS[1]);
    Deno.mkdirSync(`${root}/files/reactor`, { recursive: true });
    Deno.writeTextFileSync(`${root}/files/reactor/deploy.sls`, "told:\n  runner.test.arg: [{args: [[1]]}]\n");
    Deno.writeTextFileSync(`${root}/files/base.sls`, "one:\n  test.nop: []\n");
    Deno.writeTextFileSync(`${root}/my.sls`, "told:\n  caller.test.arg: [{args: [1]}]\n");
    const reactor = value.get("reactor") ?? null;
    await using fleet = await startFleet({
      minions: ["web1"],
      master: { reactor, file_roots: { base: [`${root}/files`] } },
    });
    const isStarted = async () => /(started|published)\D+[1-9]/.test((await fleet.saltRun("reactor.status")).out);
    await eventually(isStarted, { what: "the reaction to the start of web1" });
    const lines = [...PAGE.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, block]) => block.trim().split("\n"));
    const seen = new Set<string>();
    for (const line of lines) {
      const [program, ...words] = shlexSplit(within(line));
      const { code, out, err } = program === "salt" ? await fleet.salt(...words) : await fleet.saltRun(...words);
      assertEquals(code, 0, `${line}: ${out}${err}`);
      if (program === "salt") assertMatch(out, /test\.arg/, line);
      else assertMatch(out, SAYS[words[0]], line);
      seen.add(words[0]);
    }
    for (const fun of Object.keys(SAYS)) assert(seen.has(fun), fun);
  }));
