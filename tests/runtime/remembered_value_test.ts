import { RememberedValue } from "#lib/runtime/remembered_value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

function counting() {
  const clock = { ms: 5_000 };
  const value = new RememberedValue<number>((last = 0) => last + 1, 100, () => clock.ms);
  return { clock, value };
}

Deno.test("a value is read once in its time, and then again from the last one", () => {
  const { clock, value } = counting();
  assertEquals([value.get(), value.get()], [1, 1]);
  clock.ms += 99;
  assertEquals(value.get(), 1);
  clock.ms += 1;
  assertEquals(value.get(), 2);
  clock.ms += 99;
  assertEquals(value.get(), 2, "its time begins with the second reading");
});

Deno.test("a value is read again when the clock was put back", () => {
  const { clock, value } = counting();
  value.get();
  clock.ms -= 1;
  assertEquals(value.get(), 2);
});

Deno.test("an error is not remembered, and the last value not given in its place", () => {
  let fails = false;
  const clock = { ms: 0 };
  const value = new RememberedValue(
    () => {
      if (fails) throw new RangeError("no value");
      return "read";
    },
    100,
    () => clock.ms,
  );
  value.get();
  [clock.ms, fails] = [100, true];
  assertThrows(() => value.get(), RangeError);
  assertThrows(() => value.get(), RangeError);
  fails = false;
  assertEquals(value.get(), "read");
});
