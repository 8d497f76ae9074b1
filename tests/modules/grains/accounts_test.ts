import { coreGrains } from "#modules/grains/core.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { grainsOf } from "#tests/support/calls/grains_of.ts";

Deno.test("a process of a user without an account has no names", () => {
  const own = Deno.uid;
  const uid = 4_000_000_000;
  try {
    Deno.uid = () => uid;
    const opts = { id: "web1", master: "salt", append_domain: null, enable_gpu_grains: false };
    const grains = grainsOf((files) => coreGrains(opts, { files, addresses: [] }), {});
    assertEquals([grains.uid, grains.username, grains.groupname], [uid, "", ""]);
  } finally {
    Deno.uid = own;
  }
});

Deno.test("the group of an account may have no name", () => {
  const own = Deno.uid, path = Deno.env.get("PATH") ?? "";
  const uid = 4_000_000_001;
  const directory = Deno.makeTempDirSync({ prefix: "getent_" });
  try {
    Deno.uid = () => uid;
    // A directory service that knows the user alone.
    const getent = `#!/bin/sh\n[ "$2" = passwd ] && echo "ghost:x:${uid}:4000000002::/home/ghost:/bin/sh"\n`;
    Deno.writeTextFileSync(`${directory}/getent`, getent, { mode: 0o755 });
    Deno.env.set("PATH", `${directory}:${path}`);
    const opts = { id: "web1", master: "salt", append_domain: null, enable_gpu_grains: false };
    const grains = grainsOf((files) => coreGrains(opts, { files, addresses: [] }), {});
    assertEquals([grains.uid, grains.username, grains.groupname], [uid, "ghost", ""]);
  } finally {
    Deno.uid = own;
    Deno.env.set("PATH", path);
    Deno.removeSync(directory, { recursive: true });
  }
});
