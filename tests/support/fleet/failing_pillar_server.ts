/**
 * A pillar process whose compiler fails for each pillar.
 * @module
 */

import { servePillarRequests } from "#lib/pillar/serve_requests.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";

Deno.exitCode = await servePillarRequests(() => ({
  log: SILENT_LOGGER,
  pillar: () => Promise.reject(new Error("own words")),
  close: () => {},
}));
