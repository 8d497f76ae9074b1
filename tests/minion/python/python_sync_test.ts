/**
 * Plugins in Python that a minion copies from its master: they can be called at once, follow what changes, and are gone
 * when they are gone there.
 * @module
 */

import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { type OnPurpose, replayOnFleet, unexpected } from "./python_rules.ts";

fleetTest(
  "saltutil.sync_modules brings a module in Python, its changes and its end",
  // Files that are added within a second are found at once.
  { minions: ["web1"], minion: { startup_states: "" }, master: { fileserver_list_cache_time: 0 } },
  async (fleet) => {
    const write = (path: string, text: string) => {
      Deno.mkdirSync(`${fleet.root}/srv/${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true });
      Deno.writeTextFileSync(`${fleet.root}/srv/${path}`, text);
    };
    const web1 = async (...words: string[]) => await fleet.saltJson("web1", ...words);
    write("_modules/br.py", "import br_part\ndef ping(): return [br_part.answer(), __utils__['br_util.twice'](2)]\n");
    write("_modules/br_part.py", "def answer(): return 1\n");
    write("_utils/br_util.py", "def twice(n): return 2 * n\n");
    write("_states/brst.py", "def done(name): return {'name': name, 'result': True, 'changes': {}, 'comment': ''}\n");
    write("_grains/brg.py", "def own(): return {'br_grain': 'of ' + __opts__['id']}\n");
    assertEquals(
      await web1("saltutil.sync_modules"),
      map({ web1: ["modules.br", "modules.br_part"] }),
    );
    assertEquals(await web1("saltutil.sync_utils"), map({ web1: ["utils.br_util"] }));
    assertEquals(await web1("br.ping"), map({ web1: [1, 4] }));
    assertEquals(await web1("saltutil.sync_states"), map({ web1: ["states.brst"] }));
    assertEquals((await fleet.salt("web1", "state.single", "brst.done", "name=a")).code, 0);
    assertEquals(await web1("saltutil.sync_grains"), map({ web1: ["grains.brg"] }));
    assertEquals(await web1("grains.get", "br_grain"), map({ web1: "of web1" }));

    write("_modules/br_part.py", "def answer(): return 'changed'\n");
    assertEquals(await web1("saltutil.sync_modules"), map({ web1: ["modules.br_part"] }));
    assertEquals(await web1("br.ping"), map({ web1: ["changed", 4] }));

    for (const refresh of ["refresh_pillar", "refresh_grains"]) {
      write(`_modules/br_${refresh}.py`, "def ping(): return 'found'\n");
      assertEquals(
        await web1("saltutil.sync_modules", "refresh=False"),
        map({ web1: [`modules.br_${refresh}`] }),
      );
      assertEquals(await web1(`saltutil.${refresh}`), map({ web1: true }));
      assertEquals(await web1(`br_${refresh}.ping`), map({ web1: "found" }));
    }

    Deno.removeSync(`${fleet.root}/srv/_modules/br.py`);
    assertEquals(await web1("saltutil.sync_modules"), map({ web1: [] }));
    assertEquals(await web1("br.ping"), map({ web1: "'br.ping' is not available." }));
  },
);

fleetTest(
  "what is synchronized, and runs then, is what Salt 3008.3 answers (tests/corpus/python_rules/sync.json)",
  // As the master that was recorded: otherwise a file that is added within a second is found a second later.
  { minions: ["m1"], minion: { startup_states: "" }, master: { fileserver_list_cache_time: 0 } },
  async (fleet) => {
    const purpose: OnPurpose = {
      // Without a refresh, new modules are found later.
      "br_late.f": /^"'br_late.f' is not available\./,
    };
    assertEquals(unexpected(await replayOnFleet("sync", fleet), purpose), []);
  },
);
