import { refuseCostlyHash } from "#lib/host/accounts/hash_cost.ts";
import { InvocationError } from "#lib/errors.ts";
import { assertThrows } from "#tests/support/assert.ts";

const REFUSED = [
  "$6$rounds=999999999$salt",
  "$5$rounds=1000001$salt",
  "$6$rounds=+99999999$salt",
  "$6$rounds= 99999999$salt",
  "$2b$31$abcdefghijklmnopqrstuu",
  "$2$15$abcdefghijklmnopqrstuu",
  "$sha1$4000000000$salt",
  "$md5,rounds=4000000000$salt",
  "$y$jFT$salt",
  "$gy$jFT$salt",
  "$7$FU..../....salt",
];
const TAKEN = ["ab", "$1$salt", "$6$salt", "$6$rounds=1000000$salt", "$2b$14$abcdefghijklmnopqrstuu", "$y$j9T$salt"];

Deno.test("a salt that asks for a long computation is refused: nothing ends one", () => {
  for (const setting of REFUSED) {
    assertThrows(() => refuseCostlyHash(setting), InvocationError, "The salt asks for too long a computation");
  }
  for (const setting of TAKEN) refuseCostlyHash(setting);
});
