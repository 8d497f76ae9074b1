import { loadMasterConfig, loadMinionConfig } from "#lib/config/load.ts";
import { packOpts, unpackOpts } from "#lib/config/opts_transfer.ts";
import { isComplete } from "#lib/config/options.ts";
import { WireError } from "#lib/errors.ts";
import { encode } from "#lib/values/msgpack.ts";
import { toValue } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const configDir = "/no/such/directory";
const master = loadMasterConfig({ configDir }).opts;
const minion = loadMinionConfig({ configDir, overrides: { master: "m", id: "web1" } }).opts;

Deno.test("options are transferred unchanged to another thread, only for their own role", () => {
  assertEquals(unpackOpts("master", packOpts("master", master)), master);
  assertEquals(unpackOpts("minion", packOpts("minion", minion)), minion);
  assertThrows(() => unpackOpts("minion", packOpts("master", master)), WireError, "options of no minion");
  for (const other of [null, [], ["minion"], ["minion", []], [["conf_file", "x"]]]) {
    assertThrows(() => unpackOpts("minion", encode(toValue(other), "disk")), WireError);
  }
});

Deno.test("options with a missing option of the role are refused", () => {
  assertEquals([isComplete("master", master), isComplete("minion", minion)], [true, true]);
  assertEquals([isComplete("master", minion), isComplete("minion", master)], [false, false]);
  for (const name of ["ret_port", "token_dir", "extra", "id"]) {
    const { [name]: _, ...rest } = { ...master } as Record<string, unknown>;
    assertEquals(isComplete("master", rest), false, name);
  }
});
