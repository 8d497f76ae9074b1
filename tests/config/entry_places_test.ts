import { type ConfigFiles, findEntry, placeOfEntry } from "#lib/config/entry_places.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("an entry of an option is in the last file that has it, at the line of its name", () =>
  withTemporaryDirectory((root) => {
    Deno.mkdirSync(`${root}/minion.d`);
    const main = `${root}/minion`, [first, last] = ["a", "b"].map((name) => `${root}/minion.d/${name}.conf`);
    Deno.writeTextFileSync(main, "schedule:\n  one: {}\n  two: {}\nreactor:\n- x: y\n- z\n");
    Deno.writeTextFileSync(first, "\nschedule:\n  two: {}\nbeacons: 5\n");
    const places = (default_include = "minion.d/*.conf") => {
      const files: ConfigFiles = { conf_file: main, config_dir: root, default_include };
      const place = (option: string, name: string) => placeOfEntry(files, option, name)?.slice(root.length + 1);
      return [
        place("schedule", "one"),
        place("schedule", "two"),
        place("schedule", "three"),
        place("nothing", "one"),
        // The option itself is named only where it is no map, which alone is wrong with it.
        place("beacons", ""),
        place("schedule", ""),
        place("beacons", "x"),
        ...[0, 1, 2].map((index) => findEntry(files, "reactor", index)?.line),
      ];
    };
    const expected = ["minion:2", "minion.d/a.conf:3", undefined, undefined, "minion.d/a.conf:4", undefined, undefined];
    assertEquals(places(), [...expected, 5, 6, undefined]);
    assertEquals(places(`${root}/minion.d/*.conf`), places());
    assertEquals(places("none.d/*").slice(0, 2), ["minion:2", "minion:3"]);
    // A file that cannot be read has no places; the others have theirs.
    Deno.writeTextFileSync(last, "schedule: [\n");
    assertEquals(places(), [...expected, 5, 6, undefined]);
    Deno.writeTextFileSync(last, "schedule:\n  one: {}\n");
    assertEquals(places().slice(0, 2), ["minion.d/b.conf:2", "minion.d/a.conf:3"]);
  }));
