/** Streams of a session: when their reader is told that it is over. */

import { apiSettings } from "#lib/api/endpoints/api_settings.ts";
import { EndWatches } from "#lib/api/endpoints/end_watches.ts";
import { LivingTokens } from "#lib/api/endpoints/living_tokens.ts";
import { RequestCounts } from "#lib/api/endpoints/request_counts.ts";
import { sessionReader } from "#lib/api/endpoints/session_stream.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a reader is told once that the session or the API has ended, also if it has before the stream began", () =>
  withTemporaryDirectory((root) => {
    Deno.writeTextFileSync(`${root}/master`, `root_dir: ${root}\n`);
    const stop = new AbortController(), ends = new EndWatches(), counts = new RequestCounts({ byRoute: false });
    const parts = {
      opts: loadMasterConfig({ configDir: root }).opts,
      log: SILENT_LOGGER,
      settings: apiSettings(map({ port: 0, host: "127.0.0.1", events_for_all: true })).settings,
      livingTokens: new LivingTokens(() => true),
      ends,
      counts,
      signal: stop.signal,
    };
    const held = { token: "t", name: "alice", eauth: "file", groups: [], data: new Map() };
    const session = { id: "0".repeat(40), token: "t", user: "alice", eauth: "file", expireS: 1, usedMs: 1 };
    const told: string[] = [];
    const open = (name: string, owner: { readonly session: typeof session | undefined }) => {
      const reader = sessionReader({ ...owner, held }, parts);
      reader.onEnd(() => {
        told.push(name);
        reader.closed();
      });
    };
    open("by session", { session });
    open("by token", { session: undefined });
    ends.tell(session.id);
    assertEquals(told, ["by session"]);
    stop.abort();
    ends.tell(session.id);
    open("late", { session });
    assertEquals(told, ["by session", "by token", "late"]);
    assertEquals(counts.streams, 0);
  }));
