/**
 * A state's `umask`: it counts for what the state makes and runs, and for nothing else in the minion.
 * @module
 */

import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { toWireArgs } from "#lib/yaml/arguments.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

const ID = "m00";

/**
 * Publishes a job.
 * @returns Waits for its return.
 */
async function start(fleet: ProcessFleet, fun: string, arg: Value[], kwargs: ValueMap): Promise<() => Promise<Value>> {
  const client = await fleet.client();
  try {
    const { jid } = await client.publish({
      tgt: ID,
      tgtType: "glob",
      fun,
      arg: toWireArgs(arg, kwargs),
      kwargs: map({}),
    });
    return async () => {
      const entry = await eventually(() => fleet.jobs.getReturn(jid, ID), { what: `the return of ${fun}` });
      return entry.return ?? null;
    };
  } finally {
    client.close();
  }
}

function modeOf(path: string): string {
  return ((Deno.lstatSync(path).mode ?? 0) & 0o7777).toString(8);
}

/** Starts a state. */
function state(fleet: ProcessFleet, fun: string, fields: Record<string, Value>): Promise<() => Promise<Value>> {
  const concurrent = fun === "cmd.run" ? { concurrent: true } : {};
  return start(fleet, "state.single", [fun], map({ ...fields, ...concurrent }));
}

/** That all states of a return succeeded. */
function assertTrue(ret: Value): void {
  assert(isMap(ret), str(ret));
  for (const result of ret.values()) assert(isMap(result) && result.get("result") === true, str(ret));
}

/** A command that writes its mask to `path`, makes `path`.made, waits for `go`, and does both again. */
function waiting(path: string, go: string): string {
  const wait = `for _ in $(seq 3000); do [ -e ${go} ] && break; sleep 0.02; done`;
  return `umask > ${path}.first; touch ${path}.made; ${wait}; umask > ${path}.second`;
}

Deno.test("a state's umask is that of its own files and commands, whatever runs beside it", async (t) => {
  await using fleet = await ProcessFleet.start({ minions: 1 });
  const { root } = fleet;
  const text = (name: string) => Deno.readTextFileSync(`${root}/${name}`).trim();
  const own = Deno.umask().toString(8).padStart(4, "0");

  await t.step("two states that overlap, and other jobs", async () => {
    // The first command of the minion starts the keeper, which keeps the mask that it was started with.
    const first = await state(fleet, "cmd.run", { name: waiting(`${root}/a`, `${root}/go.a`), umask: "077" });
    await eventually(() => text("a.first") !== "", { what: "the first state" });
    const second = await state(fleet, "cmd.run", { name: waiting(`${root}/b`, `${root}/go.b`), umask: "027" });
    await eventually(() => text("b.first") !== "", { what: "the second state" });
    const beside = await start(fleet, "cmd.run", ["umask"], map({ shell: "/bin/sh" }));
    assertEquals(await beside(), own);
    assertEquals(await (await start(fleet, "file.touch", [`${root}/touched`], map({})))(), true);
    assertEquals(await (await start(fleet, "file.makedirs", [`${root}/made/x`], map({})))(), null);
    Deno.writeTextFileSync(`${root}/go.a`, "");
    assertTrue(await first());
    Deno.writeTextFileSync(`${root}/go.b`, "");
    assertTrue(await second());
    const after = await start(fleet, "cmd.run", ["umask"], map({ shell: "/bin/sh" }));
    assertEquals(await after(), own);
    for (const when of ["first", "second"]) assertEquals([text(`a.${when}`), text(`b.${when}`)], ["0077", "0027"]);
    assertEquals([modeOf(`${root}/a.made`), modeOf(`${root}/b.made`)], ["600", "640"]);
    const [file, directory] = [0o666, 0o777].map((mode) => (mode & ~parseInt(own, 8)).toString(8));
    assertEquals([modeOf(`${root}/touched`), modeOf(`${root}/made`)], [file, directory]);
  });

  await t.step("files and directories that a state makes", async () => {
    const made: [fun: string, fields: Record<string, Value>, path: string, modes: string[]][] = [
      ["file.managed", { contents: "text" }, "managed", ["600", "640", "666"]],
      ["file.touch", {}, "touch", ["600", "640", "666"]],
      ["file.append", { text: "line" }, "append", ["600", "640", "666"]],
      ["file.directory", {}, "directory", ["700", "750", "777"]],
      ["file.touch", { makedirs: true }, "above/touch", ["600", "640", "666"]],
    ];
    for (const [fun, fields, path, modes] of made) {
      for (const [i, umask] of ["077", "027", "000"].entries()) {
        const name = `${root}/${umask}/${path}`;
        Deno.mkdirSync(`${root}/${umask}`, { recursive: true });
        assertTrue(await (await state(fleet, fun, { ...fields, name, umask }))());
        assertEquals([fun, umask, modeOf(name)], [fun, umask, modes[i]]);
      }
    }
    assertEquals(["077", "027", "000"].map((umask) => modeOf(`${root}/${umask}/above`)), ["700", "750", "777"]);
  });

  await t.step("parallel states have their own", async () => {
    const chunks: Record<string, unknown> = {};
    for (const umask of ["077", "027", "002"]) {
      const name = `umask > ${root}/p${umask}; sleep 0.3; umask >> ${root}/p${umask}`;
      chunks[`run ${umask}`] = { cmd: ["run", { name }, { umask }, { parallel: true }] };
      chunks[`file ${umask}`] = { file: ["touch", { name: `${root}/f${umask}` }, { umask }, { parallel: true }] };
    }
    assertTrue(await (await start(fleet, "state.high", [map(chunks)], map({})))());
    assertEquals(["077", "027", "002"].map((umask) => text(`p${umask}`)), ["0077\n0077", "0027\n0027", "0002\n0002"]);
    assertEquals(["077", "027", "002"].map((umask) => modeOf(`${root}/f${umask}`)), ["600", "640", "664"]);
  });
});
