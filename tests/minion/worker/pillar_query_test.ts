import { packPillarQuery, unpackPillarQuery } from "#lib/minion/worker/pillar_query.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("a request for a pillar is read as it was written; what is no part of one is left out", () => {
  const whole = { override: map({ a: 1 }), pillarenv: "dev", saltenv: null, cleanCache: true, ext: map({ x: [1] }) };
  assertEquals(unpackPillarQuery(packPillarQuery(whole)), whole);
  assertEquals(unpackPillarQuery(packPillarQuery({})), {});
  const odd = map({ override: [1], pillarenv: 5, saltenv: true, cleanCache: 1, more: 2 });
  for (const value of [odd, null, ["override"], "text"] satisfies Value[]) {
    assertEquals(unpackPillarQuery(encode(value, "disk")), {});
  }
});
