import { packagesOfStates } from "#lib/host/debian_packages/packages_of_states.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";

Deno.test("apt is called with at most a thousand packages of a run's states", () => {
  const chunk = (name: string) => map({ state: "pkg", fun: "latest", name });
  const chunks = [map({ state: "pkg", fun: "installed", pkgs: Array.from({ length: 1_200 }, (_, i) => `many${i}`) })];
  const names = packagesOfStates(testContext({ chunks: [...chunks, chunk("late")] }), new Map());
  assertEquals([names.length, names.at(-1)], [1_000, "many999"]);
  assertEquals(packagesOfStates(testContext({ chunks: [chunk("late")] }), new Map()), ["late"]);
});
