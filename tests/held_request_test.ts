/** @module */
import { heldMemory, HeldRequest, heldRequests } from "../lib/held_request.ts";
import { assertEquals } from "./assert.ts";

const bytes = (...values: number[]) => new Uint8Array(values);

Deno.test("a held request is taken by the next thread, once", () => {
  const routes = [
    [bytes(0, 1, 2, 3, 4), bytes()],
    [new Uint8Array(255).fill(7), bytes(), bytes(1)],
    [bytes()],
    [new Uint8Array(1000).fill(9), new Uint8Array(1000).fill(8)],
  ];
  for (const route of routes) {
    const memory = heldMemory();
    new HeldRequest(memory).note(route);
    assertEquals(new HeldRequest(memory).take(), route);
    assertEquals(new HeldRequest(memory).take(), undefined);
  }
});

Deno.test("nothing is held before the first note and after the answer", () => {
  const held = new HeldRequest(heldMemory());
  assertEquals(held.take(), undefined);
  held.note([bytes(1)]);
  held.clear();
  assertEquals(held.take(), undefined);
});

Deno.test("a route that does not fit is not held, and neither is the one before it", () => {
  const held = new HeldRequest(heldMemory());
  held.note([bytes(1)]);
  held.note([new Uint8Array(5_000)]);
  assertEquals(held.take(), undefined);
  held.note([bytes(2)]);
  assertEquals(held.take(), [bytes(2)]);
});

Deno.test("a worker that has several requests in its hands notes each by itself", () => {
  const memory = heldMemory(3);
  const route = (name: string) => [new TextEncoder().encode(name), new Uint8Array()];
  const [first, second] = heldRequests(memory);
  first.note(route("first"));
  second.note(route("second"));
  first.clear();
  assertEquals(heldRequests(memory).map((note) => note.take()), [undefined, route("second"), undefined]);
});
