/**
 * What a master remembers of its cluster on its disk.
 * @module
 */

import { readCluster, type RememberedCluster, writeCluster } from "#lib/cluster/cluster_cache.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const CLUSTER: RememberedCluster = {
  id: "prod",
  root: new Uint8Array([1, 2]),
  origin: 3,
  incarnation: 4,
  publish: [
    { generation: 6, madeMs: 1_000, sealed: new Uint8Array([5]) },
    { generation: 5, madeMs: 900, sealed: new Uint8Array([6]) },
  ],
};

Deno.test("a cluster is remembered for its owner alone; a publish key of another form counts as none", () =>
  withTemporaryDirectory((cachedir) => {
    assertEquals(readCluster(cachedir), undefined);
    writeCluster(cachedir, CLUSTER);
    assertEquals(readCluster(cachedir), CLUSTER);
    const path = `${cachedir}/cluster/member`;
    assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
    const stored = decode(Deno.readFileSync(path), "disk");
    assert(isMap(stored));
    const written = (fields: Readonly<Record<string, Value>>) => {
      Deno.writeFileSync(path, encode(new Map([...stored, ...map(fields)]), "disk"));
      return readCluster(cachedir);
    };
    const key = [6, 1_000, new Uint8Array([5])];
    const broken = [key, ["6", 1_000, "text"], [7, "then", new Uint8Array()], [null, 1, new Uint8Array()], "6", []];
    assertEquals(written({ publish: broken })?.publish, [CLUSTER.publish[0]]);
    for (const field of ["id", "root", "origin", "incarnation", "publish"]) {
      assertEquals(written({ [field]: null }), undefined, field);
    }
    Deno.writeTextFileSync(path, "\xc1");
    assertEquals(readCluster(cachedir), undefined);
  }));
