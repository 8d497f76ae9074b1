/** @module */
import { inFlightMemory, InFlightRequest, inFlightRequests } from "#lib/master/daemon/in_flight_request.ts";
import { assertEquals } from "#tests/support/assert.ts";

const bytes = (...values: number[]) => new Uint8Array(values);

Deno.test("the next thread finds the client of the noted request, until a thread clears the note", () => {
  const routes = [
    [bytes(0, 1, 2, 3, 4), bytes()],
    [new Uint8Array(255).fill(7), bytes(), bytes(1)],
    [bytes()],
    [new Uint8Array(1000).fill(9), new Uint8Array(1000).fill(8)],
  ];
  for (const route of routes) {
    const memory = inFlightMemory();
    new InFlightRequest(memory).note(route);
    assertEquals(new InFlightRequest(memory).route, route);
    assertEquals(new InFlightRequest(memory).route, route, "it may die before it answers");
    new InFlightRequest(memory).clear();
    assertEquals(new InFlightRequest(memory).route, undefined);
  }
});

Deno.test("nothing is held before the first note, and of two notes the last", () => {
  const held = new InFlightRequest(inFlightMemory());
  assertEquals(held.route, undefined);
  held.note([bytes(1), bytes(2)]);
  held.note([bytes(3)]);
  assertEquals(held.route, [bytes(3)]);
});

Deno.test("a route that does not fit is not held, and neither is the one before it", () => {
  const held = new InFlightRequest(inFlightMemory());
  held.note([bytes(1)]);
  held.note([new Uint8Array(5_000)]);
  assertEquals(held.route, undefined);
  held.note([bytes(2)]);
  assertEquals(held.route, [bytes(2)]);
});

Deno.test("a worker that has several requests in its hands notes each by itself", () => {
  const memory = inFlightMemory(3);
  const route = (name: string) => [new TextEncoder().encode(name), new Uint8Array()];
  const [first, second] = inFlightRequests(memory);
  first.note(route("first"));
  second.note(route("second"));
  first.clear();
  assertEquals(inFlightRequests(memory).map((note) => note.route), [undefined, route("second"), undefined]);
});
