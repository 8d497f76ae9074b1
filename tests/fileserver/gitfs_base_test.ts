/** Which branch, tag or commit of a repository the environment `base` is, as in Salt's file server. */

import { testWorlds } from "../support/file_server_worlds.ts";

testWorlds("gitfs: base");
