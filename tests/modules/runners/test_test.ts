import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, repr, toValue, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { withRecordedJobs } from "#tests/support/fleet/recorded_jobs.ts";
import { fromTyped, readCorpus, type Typed } from "#tests/support/typed_values.ts";

// corpus/runners.json: the results of Salt's own runners for the cache of corpus/job_cache.json.
for (const [name, ...typed] of await readCorpus<[string, Typed, Typed, Typed]>("runners.json")) {
  const [args, kwargs, expected] = typed.map(fromTyped);
  assert(Array.isArray(args) && isMap(kwargs));
  if (!name.startsWith("test.")) continue;
  Deno.test(`${name} of ${repr(args)}${repr(kwargs)} returns the same as Salt, in the same order`, () =>
    withRecordedJobs(async ({ call }) => {
      // The corpus has lists for tuples, as what crosses the wire.
      const result = decode(encode(toValue(await call(name, args, Object.fromEntries(kwargs))), "disk"), "disk");
      assertEquals(repr(result), repr(expected));
    }));
}

Deno.test("the test runner prints, waits and fires progress events", () =>
  withRecordedJobs(async ({ call, done }) => {
    assertEquals(await call("test.stdout_print"), "bar");
    assertEquals(await call("test.sleep", [0.001]), true);
    assertEquals(done, ["print foo", "print 0.001"]);
    assertEquals((await call("test.get_opts") as ValueMap).get("timeout"), 5);
  }));
