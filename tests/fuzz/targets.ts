/**
 * The list of all targets.
 * @module
 */

import { crypticles, events, msgpack } from "./codecs.ts";
import { declarations, moduleMessages } from "./custom_modules.ts";
import { caches, configFiles, keyFiles, spools } from "./files.ts";
import { publishes, signInReplies } from "./minion_side.ts";
import { outputs } from "./outputs.ts";
import { presence } from "./presence.ts";
import { envelopes, minionCommands, parser } from "./requests.ts";
import { tcpRequests, zmtpPublishes, zmtpRequests } from "./running_master.ts";
import { signInRequests } from "./sign_in_requests.ts";
import type { FuzzTarget } from "./target.ts";
import { targetExpressions } from "./target_expressions.ts";
import { templates } from "./templates.ts";
import { cliArgs, commandLines, json, yaml } from "./texts.ts";

export const TARGETS: readonly FuzzTarget[] = [
  msgpack,
  crypticles,
  events,
  parser,
  envelopes,
  minionCommands,
  signInRequests,
  publishes,
  signInReplies,
  targetExpressions,
  cliArgs,
  commandLines,
  yaml,
  json,
  templates,
  outputs,
  caches,
  spools,
  keyFiles,
  configFiles,
  presence,
  moduleMessages,
  declarations,
  tcpRequests,
  zmtpRequests,
  zmtpPublishes,
];
