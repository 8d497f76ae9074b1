/** Which directory of a repository is served, and where it is mounted, as in Salt's file server. */

import { testWorlds } from "../support/file_server_worlds.ts";

testWorlds("gitfs: places");
