/**
 * docs/schedule.md: its schedule is read, runs at the moments that it says, and each key of its table has a meaning.
 * @module
 */

import { JOB_KEYS } from "#lib/schedule/entry.ts";
import { previewRuns } from "#lib/schedule/preview.ts";
import { Schedule } from "#lib/schedule/schedule.ts";
import { loadYamlMapping } from "#lib/yaml/load.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { startFleet } from "#tests/support/fleet/fleet.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/schedule.md", import.meta.url));

Deno.test("the jobs of docs/schedule.md run at the moments that it says", () => {
  const block = /^```yaml\n([^]*?)^```$/m.exec(PAGE)?.[1] ?? "";
  const { value } = loadYamlMapping(block, "minion");
  const errors: string[] = [];
  const schedule = new Schedule({
    id: "web1",
    whens: () => undefined,
    random: () => 0.5,
    running: () => 0,
    report: (name, error) => void errors.push(`${name}: ${error}`),
  });
  const nowMs = Date.parse("2026-11-23T12:00:00Z"); // a Monday
  schedule.setOwn(value.get("schedule") ?? null, nowMs);
  assertEquals(errors, []);
  const moments = (name: string, count: number) => {
    const item = schedule.items.get(name);
    assert(item?.job !== undefined, name);
    const runs = previewRuns(item.job, item.state, {
      settings: schedule.settings,
      random: () => 0.5,
      count,
      nowMs,
    });
    return runs.map(({ moment }) => moment - nowMs);
  };
  // "30 4 * * 2" in Berlin is 3:30 of Tuesday in UTC; `splay: auto` adds up to ten minutes, the same each time.
  const [first, second] = moments("highstate", 2);
  assert(first >= 15.5 * 3_600_000 && first < 15.5 * 3_600_000 + 600_000, `${first}`);
  assertEquals(second - first, 7 * 86_400_000);
  const disks = moments("disks", 3);
  assertEquals(disks[2] - disks[1], 900_000);
  assertEquals(schedule.items.get("highstate")?.job?.missed, "once");
});

Deno.test("docs/schedule.md has each key of a job that decides when it runs", () => {
  const named = new Set(PAGE.match(/(?<=`)[a-z_]+(?=[`:])/g) ?? []);
  const others = ["args", "kwargs", "function", "func", "fun", "name", "skip_explicit", "run_explicit", "run"];
  const returns = ["returner", "return_config", "return_kwargs", "metadata", "jid_include"];
  assertEquals(JOB_KEYS.filter((key) => !named.has(key) && ![...others, ...returns].includes(key)), []);
});

Deno.test("the commands of docs/schedule.md show the jobs of its schedule", async () => {
  const block = /^```yaml\n([^]*?)^```$/m.exec(PAGE)?.[1] ?? "";
  const { value } = loadYamlMapping(block, "minion");
  await using fleet = await startFleet({ minions: ["web1"], minion: { schedule: value.get("schedule") ?? null } });
  const lines = [...PAGE.matchAll(/^salt web1 schedule\.preview.*$/gm)].map(([line]) => line);
  assertEquals(lines.length, 2);
  for (const line of lines) {
    const [program, ...words] = shlexSplit(line);
    assertEquals(program, "salt");
    const { code, out, err } = await fleet.salt(...words);
    assertEquals(code, 0, `${line}: ${out}${err}`);
    // Of all jobs the next moments are those of the frequent one.
    assertMatch(out, words.includes("highstate") ? /job:\s+highstate/ : /job:\s+disks/, line);
    assertMatch(out, /timezone:/, line);
  }
});
