/** Which branches, tags and commits environments are, as in Salt's file server. */

import { testWorlds } from "../support/file_server_worlds.ts";

testWorlds("gitfs: refs");
