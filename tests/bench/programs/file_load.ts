/**
 * Simulates minions that all fetch the same file at once, chunk by chunk, or list an environment. The received data is
 * counted and discarded.
 *
 * Arguments: the master's host and `ret_port`, its `pki_dir`, how many minions, and the path of a file or `--list`.
 * Writes `{"bytes": …, "entries": …, "seconds": …}`: the time from the first request to the last answer.
 * @module
 */

import { KeyStore } from "#lib/keys/store.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import { isMap, map } from "#lib/values/value.ts";
import { keyPool } from "#tests/bench/fleets/key_pool.ts";
import { applicantOf, linkOf } from "#tests/support/fleet/applicant.ts";

const TIMEOUT_MS = 120_000;

if (import.meta.main) {
  const [host, port, masterPki, count, path] = Deno.args;
  const pkiDir = Deno.makeTempDirSync({ prefix: "file_load_" });
  const keys = await keyPool(16, 2048);
  const store = new KeyStore(masterPki);
  const { signal } = new AbortController();
  const links = Array.from({ length: Number(count) }, (_, i) => {
    const applicant = applicantOf(`fetcher-${i}`, keys[i % keys.length], pkiDir);
    store.put(applicant.id, "accepted", applicant.key.publicKey.pem);
    return { id: applicant.id, link: linkOf(applicant, { host, port: Number(port), timeoutMs: TIMEOUT_MS }) };
  });
  for (const { link } of links) await link.signIn(signal);

  let bytes = 0, entries = 0;
  const started = performance.now();
  await Promise.all(links.map(async ({ id, link }) => {
    if (path === "--list") {
      const listed = await link.request(map({ cmd: "_file_list", id, saltenv: "base", prefix: "" }), signal);
      entries += Array.isArray(listed) ? listed.length : 0;
      return;
    }
    for (let loc = 0;;) {
      const piece = await link.request(map({ cmd: "_serve_file", id, path, saltenv: "base", loc }), signal);
      const length = (isMap(piece) ? asBytes(piece.get("data")) : undefined)?.length ?? 0;
      if (length === 0) return;
      loc += length;
      bytes += length;
    }
  }));
  const seconds = (performance.now() - started) / 1000;
  Deno.removeSync(pkiDir, { recursive: true });
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ bytes, entries, seconds })));
  Deno.exit(0);
}
