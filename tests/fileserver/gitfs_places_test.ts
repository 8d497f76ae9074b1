/** Which directory of a repository is served, and where it is mounted, as in Salt's file server. */

import { testWorlds } from "../support/files/file_server_situations.ts";

testWorlds("gitfs: places");
