/** A file as a client asks for it: a part, what has changed, or all; and one that becomes shorter meanwhile. */

import type { HttpAnswer } from "#lib/api/http/exchange.ts";
import { loadPlainServer } from "#lib/api/http/plain_server.ts";
import { fileAnswer } from "#lib/api/server/static_files.ts";
import { messageOf } from "#lib/errors.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { openDescriptors } from "#tests/support/descriptors.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const TEXT = "0123456789";
const WHEN = "Sat, 28 Nov 2026 12:00:00 GMT";

/** Writes the file, of that moment and half a second. */
function writeFile(root: string, text = TEXT): string {
  const path = `${root}/a.txt`, at = new Date(Date.parse(WHEN) + 500);
  Deno.writeTextFileSync(path, text);
  Deno.utimeSync(path, at, at);
  return path;
}

async function ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> {
  return await fileAnswer(path, new Request("http://localhost/", { headers }), { policy: "" });
}

/** Reads the body, and so closes the file. */
async function textOf({ body }: HttpAnswer): Promise<string> {
  assert(body === null || body instanceof ReadableStream);
  return await new Response(body).text();
}

Deno.test("a client gets the part of a file that it asks for, or all of it", () =>
  withTemporaryDirectory(async (root) => {
    const path = writeFile(root);
    const cases: [headers: Record<string, string>, status: number, text: string, range: string | null][] = [
      [{}, 200, TEXT, null],
      [{ Range: "bytes=2-5" }, 206, "2345", "bytes 2-5/10"],
      [{ Range: "bytes=7-" }, 206, "789", "bytes 7-9/10"],
      [{ Range: "bytes=-3" }, 206, "789", "bytes 7-9/10"],
      [{ Range: "bytes=-99" }, 206, TEXT, "bytes 0-9/10"],
      [{ Range: "bytes=9-99" }, 206, "9", "bytes 9-9/10"],
      [{ Range: "bytes=10-" }, 416, "", "bytes */10"],
      [{ Range: "bytes=-0" }, 416, "", "bytes */10"],
      [{ Range: "bytes=5-2" }, 416, "", "bytes */10"],
      // What is none, and several, are not needed.
      [{ Range: "bytes=-" }, 200, TEXT, null],
      [{ Range: "lines=1-2" }, 200, TEXT, null],
      [{ Range: "bytes=0-1,4-5" }, 200, TEXT, null],
      // Parts of two files do not become one.
      [{ Range: "bytes=2-5", "If-Range": WHEN }, 206, "2345", "bytes 2-5/10"],
      [{ Range: "bytes=2-5", "If-Range": "Sat, 28 Nov 2026 11:59:59 GMT" }, 200, TEXT, null],
      [{ Range: "bytes=2-5", "If-Range": '"etag"' }, 200, TEXT, null],
    ];
    for (const [headers, status, text, range] of cases) {
      const answer = await ask(path, headers), what = JSON.stringify(headers);
      assertEquals([answer.status, await textOf(answer)], [status, text], what);
      assertEquals(answer.headers.get("content-range"), range, what);
      if (status !== 416) assertEquals(answer.headers.get("content-length"), String(text.length), what);
    }
    const empty = await ask(writeFile(root, ""));
    assertEquals([empty.status, await textOf(empty), empty.headers.get("content-length")], [200, "", "0"]);
  }));

Deno.test("a file that has not changed since is not sent again", () =>
  withTemporaryDirectory(async (root) => {
    const path = writeFile(root), before = openDescriptors();
    const cases: [since: string, status: number, text: string][] = [
      [WHEN, 304, ""],
      ["Sat, 28 Nov 2026 12:00:01 GMT", 304, ""],
      ["Sat, 28 Nov 2026 11:59:59 GMT", 200, TEXT],
      ["some day", 200, TEXT],
    ];
    for (const [since, status, text] of cases) {
      const answer = await ask(path, { "If-Modified-Since": since });
      assertEquals([answer.status, await textOf(answer)], [status, text], since);
      assertEquals(answer.headers.get("last-modified"), WHEN);
    }
    assertEquals(openDescriptors(), before);
  }));

Deno.test("a file that becomes shorter while it is sent ends the connection, and no other answer is taken for its rest", () =>
  withTemporaryDirectory(async (root) => {
    const path = writeFile(root);
    const failures: string[] = [];
    const failed = (error: unknown) => {
      failures.push(messageOf(error));
      return { status: 500, headers: new Headers(), body: null };
    };
    const server = await (await loadPlainServer())({
      hostname: "127.0.0.1",
      port: 0,
      handle: (request) => fileAnswer(path, request, { policy: "" }),
      failed,
    });
    try {
      const { stat } = Deno.FsFile.prototype;
      const longer = async function (this: Deno.FsFile) {
        return { ...await stat.call(this), size: TEXT.length + 5 };
      };
      await withReplaced(Deno.FsFile.prototype, { name: "stat", by: longer }, async () => {
        const url = `http://127.0.0.1:${server.addr.port}/`;
        await assertRejects(async () => await (await fetch(url)).text(), TypeError);
      });
    } finally {
      await server.shutdown();
    }
    assertEquals(failures, ["The file has become shorter while it was sent: 5 bytes are missing"]);
  }));
