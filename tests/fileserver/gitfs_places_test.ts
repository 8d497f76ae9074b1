/** The served directory and the mount point of a repository, as in Salt's file server. */

import { testWorlds } from "../support/files/file_server_situations.ts";

testWorlds("gitfs: places");
