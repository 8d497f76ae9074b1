/** @module */
import { type BusEvent, readMatching } from "#lib/bus/event.ts";
import { eventLogDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { readEngines } from "#lib/engines/engine_list.ts";
import { EventLogReader } from "#lib/event_log/reader.ts";
import { map } from "#lib/values/value.ts";
import { loadYamlMapping } from "#lib/yaml/load.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually, startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/engines.md", import.meta.url));

/** The first block of a language. */
function block(language: string): string {
  const found = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "m").exec(PAGE);
  assert(found !== null);
  return found[1];
}

/** The first event with this tag in the master's log. */
function logged({ cachedir }: MasterOpts, wanted: string): BusEvent | undefined {
  using reader = new EventLogReader(eventLogDirectory(cachedir));
  reader.seek(0);
  for (let { events } = reader.read(); events.length > 0; { events } = reader.read()) {
    for (const { frame } of events) {
      const event = readMatching(frame, (tag) => tag === wanted);
      if (event !== undefined) return event;
    }
  }
  return undefined;
}

Deno.test("the script and the own engine of docs/engines.md fire their events, with the options that the page gives them", () =>
  withTemporaryDirectory(async (root) => {
    const { value } = loadYamlMapping(block("yaml"), "engines.conf");
    const { entries, mistakes } = readEngines(value.get("engines") ?? null);
    assertEquals(mistakes, []);
    assertEquals(entries.map(({ name }) => name), ["script", "webhook", "failures"]);
    const script = `${root}/temperature`;
    Deno.writeTextFileSync(script, block("sh"), { mode: 0o755 });
    Deno.writeTextFileSync(`${root}/failures.ts`, block("ts"));
    const engines = [{ script: { cmd: script, interval: 30, onchange: true } }, { failures: { limit: 3 } }];
    await using fleet = await startFleet({ master: { engines, engines_dirs: [root] } });
    using events = await fleet.listen("failures/");
    // The script writes its value once, perhaps before anything listens.
    const temperature = await eventually(() => logged(fleet.masterOpts, "room/temperature"), {
      what: "the event of the script",
    });
    assertEquals(temperature.data.get("celsius"), 21);
    assertEquals(temperature.data.get("id"), fleet.masterOpts.id);
    await eventually(async () => {
      for (let n = 0; n < 3; n++) {
        await fleet.fire("salt/job/20261128090000000000/ret/web1", map({ id: "web1", success: false }));
      }
      return await events.next(500, (tag) => tag === "failures/web1") !== undefined;
    }, { what: "the event of the own engine" });
  }));
