import { plainRetcode } from "#lib/protocol/retcode.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

const RETCODES: readonly (readonly [retcode: Value, plain: number])[] = [
  [0, 0],
  [3, 3],
  [-9, -9],
  [null, 0],
  [map({ "test.ping": 0, "cmd.run": 2, "cmd.retcode": 1 }), 2],
  [map({ "test.ping": 0, "cmd.run": -15 }), -15],
  [map({}), 0],
  [[0, 1], 1],
  ["what", 1],
];
for (const [retcode, plain] of RETCODES) {
  Deno.test(`the return code ${Deno.inspect(retcode)} counts as ${plain}`, () => {
    assertEquals(plainRetcode(retcode), plain);
  });
}
