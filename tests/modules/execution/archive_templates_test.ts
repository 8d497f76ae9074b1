/** Templates in the arguments of the module `archive`: in paths that it reads itself, and in arguments of programs. */

import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { CommandError } from "#lib/errors.ts";
import { toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("archive renders paths, sources and arguments of programs with template=jinja", () =>
  withTemporaryDirectory(async (dir) => {
    await Deno.writeTextFile(`${dir}/f.txt`, "text");
    const context = testContext({ grains: new Map([["id", "web1"]]) });
    const call = (fun: string, ...args: Value[]) => context.call(fun, args, new Map([["template", "jinja"]]));
    // The results of Salt 3008.3.
    assertEquals(
      await call("archive.zip", `${dir}/{{ grains.id }}.zip`, `${dir}/{{ "f" }}.txt`),
      toValue([`${dir}/f.txt`.slice(1)]),
    );
    assertEquals(
      await call("archive.unzip", `${dir}/{{ grains.id }}.zip`, `${dir}/{{ grains.id }}`),
      toValue([`${dir}/f.txt`.slice(1)]),
    );
    assertEquals(await Deno.readTextFile(`${dir}/web1${dir}/f.txt`), "text");
    // Salt fails here: it renders the arguments as one text.
    await call("archive.tar", "cf", `${dir}/{{ grains.id }}.tar`, [`${dir}/{{ "f" }}.txt`]);
    assert((await Deno.stat(`${dir}/web1.tar`)).isFile);
  }));

Deno.test("archive refuses an unknown template engine before anything runs", async () => {
  const context = testContext();
  const kwargs: ValueMap = new Map([["template", "nope"]]);
  for (const fun of ["archive.zip", "archive.tar"]) {
    const args = fun === "archive.tar" ? ["cf", "/none/a.tar", "/none"] : ["/none/a.zip", "/none"];
    await assertRejects(
      () => context.call(fun, args, kwargs),
      CommandError,
      "Attempted to render file paths with unavailable engine nope",
    );
  }
});
