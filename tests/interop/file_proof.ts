/**
 * What a minion does with the files of a master of another implementation: it lists, fetches and verifies them, and pushes its own.
 * @module
 */

import { assert, assertEquals } from "../support/assert.ts";
import type { Site } from "./site.ts";

/** Larger than a piece of any implementation, and not alike at any two places. */
const LARGE = 2_500_000;

/** Lays out the files of the master at `site`, for {@linkcode proveFiles}. */
export function layOutFiles(site: Site): void {
  const base = `${site.root}/srv/salt`;
  for (const directory of ["sub/deep", "empty"]) Deno.mkdirSync(`${base}/${directory}`, { recursive: true });
  Deno.mkdirSync(`${site.root}/srv/dev`, { recursive: true });
  Deno.writeTextFileSync(`${base}/f.txt`, "hello\n");
  Deno.writeTextFileSync(`${base}/sub/ü.txt`, "name\n");
  Deno.writeTextFileSync(`${base}/sub/deep/x.txt`, "deep\n");
  Deno.writeFileSync(`${base}/large`, large());
  Deno.symlinkSync("f.txt", `${base}/link`);
  Deno.writeTextFileSync(`${site.root}/srv/dev/d.txt`, "dev\n");
}

function large(): Uint8Array {
  const bytes = new Uint8Array(LARGE);
  for (let i = 0, x = 1; i < LARGE; i++) {
    x = (x * 1_103_515_245 + 12_345) & 0x7fffffff;
    bytes[i] = x >> 16;
  }
  return bytes;
}

/** Proves it with the minion `id`, which answers. */
export async function proveFiles(site: Site, id: string): Promise<void> {
  const to = `${site.root}/fetched`;
  Deno.mkdirSync(to);
  const cp = async (fun: string, ...args: string[]) => (await site.salt([id, `cp.${fun}`, ...args]))[id];
  assertEquals(await cp("list_master"), ["f.txt", "large", "link", "sub/deep/x.txt", "sub/ü.txt"]);
  assertEquals(await cp("list_master_symlinks"), { link: "f.txt" });
  assertEquals(await cp("get_file", "salt://large", `${to}/large`, "gzip=5"), `${to}/large`);
  assertEquals(Deno.readFileSync(`${to}/large`), large());
  const hash = await cp("hash_file", "salt://d.txt", "saltenv=dev") as Record<string, string>;
  assertEquals(hash, { hash_type: "sha256", hsum: await sha256("dev\n") });
  const fetched = await cp("get_dir", "salt://sub", to);
  assert(Array.isArray(fetched));
  assertEquals(fetched.sort(), [`${to}/sub/deep/x.txt`, `${to}/sub/ü.txt`]);
  assertEquals(Deno.readTextFileSync(`${to}/sub/ü.txt`), "name\n");
  assertEquals(await cp("push", `${to}/large`, "upload_path=/up/large"), true);
  const pushed = `${site.root}/var/cache/salt/master/minions/${id}/files/up/large`;
  assertEquals(Deno.readFileSync(pushed), large());
}

async function sha256(text: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toHex();
}
