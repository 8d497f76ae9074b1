import { isMap, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { StatePlace } from "#tests/support/calls/state_place.ts";
import { SearchPath } from "#tests/support/search_path.ts";

testRecordedCases("states", "archive");

Deno.test("archive.extracted says why tar failed", async () => {
  await using place = new StatePlace();
  const { root } = place;
  await Deno.mkdir(`${root}/in`);
  await Deno.writeTextFile(`${root}/in/f`, "x\n");
  await new Deno.Command("tar", { args: ["-cf", `${root}/a.tar`, "-C", `${root}/in`, "f"] }).output();
  const args = { name: `${root}/out`, source: `${root}/a.tar`, enforce_toplevel: false };
  await Deno.mkdir(`${root}/bin`);
  await Deno.writeTextFile(`${root}/bin/tar`, "#!/bin/sh\necho no room >&2\nexit 2\n", { mode: 0o755 });
  using _ = new SearchPath(`${root}/bin`);
  assertEquals(await place.state("archive.extracted", args), [false, "Failed to extract @/a.tar: no room"]);
  await Deno.mkdir(`${root}/out`, { recursive: true });
  const ret = await callState("archive.extracted", { ...args, options: "v" }, { job: place.job });
  const changes = ret.get("changes");
  assertEquals([ret.get("result"), isMap(changes ?? null) && (changes as ValueMap).get("stderr")], [false, "no room"]);
});
