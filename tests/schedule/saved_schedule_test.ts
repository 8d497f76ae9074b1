/**
 * The saved schedule: broken files of it, and which jobs count beside those of the configuration.
 * @module
 */

import { joinSchedules, readSavedSchedule, writeSavedSchedule } from "#lib/schedule/saved_schedule.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const JOB = { function: "test.ping", seconds: 5 };
const other = (n: number) => ({ ...JOB, args: [n, 1.5, "a: b"] });

Deno.test("a saved schedule that is no YAML is renamed, and one that cannot be read is named", () =>
  withTemporaryDirectory((root) => {
    const path = `${root}/_schedule.conf`, reports: string[] = [];
    const read = () => readSavedSchedule(path, (text) => reports.push(text)).schedule;
    Deno.writeTextFileSync(path, "schedule: [");
    assertEquals(read(), new Map());
    assertEquals(Deno.readTextFileSync(`${path}YAMLError`), "schedule: [");
    assertStringIncludes(reports[0], "renamed to _schedule.confYAMLError; the jobs in it do not run");
    Deno.removeSync(`${path}YAMLError`);
    Deno.mkdirSync(`${path}YAMLError/in_it`, { recursive: true });
    Deno.writeTextFileSync(path, "schedule: [");
    assertEquals(read(), new Map());
    assertStringIncludes(reports[2], `${path}: cannot be renamed: `);
    Deno.writeTextFileSync(path, "schedule: [1]");
    assertEquals(read(), new Map());
    assertStringIncludes(reports[3], 'its "schedule" is not a map, and counts for nothing');
    Deno.removeSync(path);
    Deno.mkdirSync(path);
    assertEquals(read(), new Map());
    assertStringIncludes(reports[4], `${path}: cannot be read: `);
  }));

Deno.test("jobs that were changed while the minion ran count, and those that only the configuration changed", () =>
  withTemporaryDirectory((root) => {
    const path = `${root}/minion.d/_schedule.conf`;
    const before = map({ same: other(1), edited: JOB, both: JOB, deleted: JOB, dropped: JOB });
    const own = map({ same: other(1), edited: JOB, both: other(1), dropped: JOB, added: JOB, __mine_interval: JOB });
    writeSavedSchedule(path, own, before);
    const saved = readSavedSchedule(path, () => {});
    const both: string[] = [];
    const now = map({ same: other(1), edited: other(2), both: other(3), deleted: JOB, fresh: JOB });
    const joined = joinSchedules(now, saved, (name) => both.push(name));
    assertEquals(joined, map({ same: other(1), edited: other(2), both: other(1), fresh: JOB, added: JOB }));
    assertEquals(both, ["both"]);
  }));
