import { minionCommand } from "#lib/master/requests/minion_commands.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { map, repr, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { type TestServices, testServices } from "#tests/support/fleet/services.ts";

async function ask(services: TestServices, id: string, load: Record<string, unknown>): Promise<string> {
  const { value } = await minionCommand(map({ id, ...load }), id, services);
  return repr(value);
}

async function master(options: Readonly<Record<string, Value>> = {}): Promise<TestServices> {
  const services = await testServices(options);
  for (const id of ["web1", "web2"]) services.auth.keys.put(id, "accepted", "PEM");
  return services;
}

Deno.test("a minion writes its own mine only, whatever id and names it sends", async () => {
  using services = await master();
  await ask(services, "web2", { cmd: "_mine", data: { f: "of web2" } });
  const names = { id_: "web2", bank: "mine/../grains", tgt: "web2", "../web2": 1 };
  // The id of a load was compared with that of the connection before; here it is not even read.
  const load = map({ ...names, id: "web2", cmd: "_mine", data: { "../../f": "x", f: "forged" } });
  assertEquals((await minionCommand(load, "web1", services)).value, true);
  for (const cmd of ["_mine_delete", "_mine_flush"]) {
    await minionCommand(map({ id: "web2", cmd, fun: "f" }), "web1", services);
  }
  assertEquals(await ask(services, "web1", { cmd: "_mine_get", tgt: "*", fun: "f" }), "{'web2': 'of web2'}");
  assertEquals([...Deno.readDirSync(`${services.opts.cachedir}/mine`)].map(({ name }) => name), ["web2.p"]);
});

Deno.test("data that are no map, clear that is no boolean, and names that are no text are refused, with a warning", async () => {
  using services = await master();
  assertEquals(await ask(services, "web1", { cmd: "_mine", data: { f: 1 } }), "True");
  assertEquals(await ask(services, "web1", { cmd: "_mine" }), "{}");
  assertEquals(await ask(services, "web1", { cmd: "_mine_delete" }), "{}");
  for (const data of ["text", 5, null, [1], true]) {
    assertEquals(await ask(services, "web1", { cmd: "_mine", data }), "False");
  }
  for (const clear of ["yes", 1, [true], map({})]) {
    assertEquals(await ask(services, "web1", { cmd: "_mine", data: { g: 1 }, clear }), "False");
  }
  const odd = new Map<Value, Value>([[5, 1], ["h", 2], [null, 3]]);
  assertEquals(await ask(services, "web1", { cmd: "_mine", data: odd }), "False");
  assertEquals(repr(services.minions.mine.get("web1") ?? null), "{'f': 1, 'h': 2}");
  assertEquals(services.logged.length, 10);
  assert(services.logged.every((line) => line.startsWith("WARNING: The mine of web1 ") && line.length < 200));
  for (const fun of [5, null, ["f"]]) assertEquals(await ask(services, "web1", { cmd: "_mine_delete", fun }), "False");
});

Deno.test("clear with names that are all no text loses nothing", async () => {
  using services = await master();
  await ask(services, "web1", { cmd: "_mine", data: { f: 1 } });
  assertEquals(await ask(services, "web1", { cmd: "_mine", data: new Map([[5, 1]]), clear: true }), "False");
  assertEquals(repr(services.minions.mine.get("web1") ?? null), "{'f': 1}");
});

Deno.test("ten megabytes are refused, and what is there stays; another minion's are stored", async () => {
  using services = await master();
  await ask(services, "web1", { cmd: "_mine", data: { f: 1 } });
  const large = "x".repeat(10_000_000);
  assertEquals(await ask(services, "web1", { cmd: "_mine", data: { f: large } }), "False");
  assert(/mine_max_bytes allows 4194304/.test(services.logged[0]), services.logged[0]);
  assertEquals(await ask(services, "web2", { cmd: "_mine", data: { f: 2 } }), "True");
  assertEquals(await ask(services, "web2", { cmd: "_mine_get", tgt: "*", fun: "f" }), "{'web1': 1, 'web2': 2}");
});

Deno.test("clear replaces all values, and the answers say what was there", async () => {
  using services = await master();
  for (const cmd of ["_mine_delete", "_mine_flush"]) {
    assertEquals(await ask(services, "web1", { cmd, fun: "a" }), "False");
  }
  await ask(services, "web1", { cmd: "_mine", data: { a: 1 } });
  assertEquals(await ask(services, "web1", { cmd: "_mine", data: { b: 2 }, clear: true }), "True");
  const file = Deno.readFileSync(`${services.opts.cachedir}/mine/web1.p`);
  assertEquals([repr(decode(file, "disk")), file], ["{'b': 2}", encode(map({ b: 2 }), "disk")]);
  assertEquals(await ask(services, "web1", { cmd: "_mine_delete", fun: "a" }), "True");
  assertEquals(await ask(services, "web1", { cmd: "_mine_flush" }), "True");
});

Deno.test("without minion_data_cache nothing is kept, unless enforce_mine_cache says so", async () => {
  using without = await master({ minion_data_cache: false });
  assertEquals(await ask(without, "web1", { cmd: "_mine", data: { f: 1 } }), "False");
  assertEquals(await ask(without, "web1", { cmd: "_mine_get", tgt: "*", fun: "f" }), "{}");
  assertEquals([...Deno.readDirSync(without.opts.cachedir)].filter(({ name }) => name.startsWith("mine")), []);
  using enforced = await master({ minion_data_cache: false, enforce_mine_cache: true });
  assertEquals(await ask(enforced, "web1", { cmd: "_mine", data: { f: 1 } }), "True");
  assertEquals(await ask(enforced, "web1", { cmd: "_mine_get", tgt: "*", fun: "f" }), "{'web1': 1}");
});

Deno.test("a mine that cannot be written is false for the minion and an error in the log", async () => {
  using services = await master();
  Deno.writeTextFileSync(`${services.opts.cachedir}/mine`, "in the way");
  assertEquals(await ask(services, "web1", { cmd: "_mine", data: { f: 1 } }), "False");
  assert(services.logged[0].startsWith("ERROR: Cannot store the mine of web1"), services.logged[0]);
});

Deno.test("a minion whose key is deleted loses its mine, unless preserve_minion_cache is set", async () => {
  for (const preserve of [false, true]) {
    using services = await master({ preserve_minion_cache: preserve });
    await ask(services, "web1", { cmd: "_mine", data: { f: 1 } });
    assertEquals(await ask(services, "web1", { cmd: "revoke_auth" }), "True");
    assertEquals(services.minions.mine.get("web1") !== undefined, preserve);
    assertEquals(await ask(services, "web2", { cmd: "_mine_get", tgt: "*", fun: "f" }), "{}");
  }
});
