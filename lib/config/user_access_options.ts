/**
 * The options of a master about users: what those of this host may publish, how others sign in, and what they may do.
 * @module
 */

import {
  anyOption,
  boolOption,
  choiceOption,
  dictOption,
  intOption,
  notNeeded,
  type Option,
  planOption,
  portOption,
  strOption,
  strsOption,
} from "./option_types.ts";

/** The options, by name. */
export const USER_ACCESS_OPTIONS = {
  publisher_acl: dictOption(
    new Map(),
    "Functions that other users of this host may publish, by user; they receive all events of jobs.",
  ),
  publisher_acl_blacklist: dictOption(new Map(), "Users and modules that may publish nothing."),
  client_acl_verify: boolOption(
    true,
    "Whether the users of this host whose names a pattern of `publisher_acl` matches get a key of their own when the master starts.",
  ),
  sudo_acl: boolOption(false, "Whether the rules of `publisher_acl` apply to sudo users as well."),
  external_auth: dictOption(
    new Map(),
    "Users who may sign in with a password, by system (`file`, `ldap`, `pam`, `rest`, `sharedsecret`) or by a provider of OpenID Connect (`oidc`: docs/api.md), and what each user or group (`wheel%`) may do.",
  ),
  eauth_acl_module: strOption(
    "",
    "The system of `external_auth` that is asked for rules, if it is not the one that knows the user.",
  ),
  eauth_tokens: notNeeded(choiceOption("localfs", "Where tokens are kept: only in files.", ["localfs"])),
  sign: anyOption(
    false,
    "In `~/.saltrc`: whether `salt` and `salt-run` sign their jobs ([security.md](security.md#jobs-signed-by-operators)); a text is the fingerprint of the key. Not in Salt.",
  ),
  token_file: strOption(
    null,
    "The file of a user's token, which `salt -T` makes. Default: `~/salt_token`, or `~/.config/salt/salt_token` where that directory is.",
  ),
  token_expire: intOption(43_200, "Seconds that a token is valid.", { min: 1 }),
  token_expire_user_override: anyOption(
    false,
    "Whether users may choose the lifetime of a token (`token_expire` of `auth.mk_token`): true, or a list of users by system.",
  ),
  keep_acl_in_token: boolOption(
    false,
    "Whether a token keeps the rules that the system itself had for the user; always with `rest`.",
  ),
  sharedsecret: strOption(null, "Everybody's password with `external_auth: sharedsecret`."),
  "auth.pam.service": strOption("login", "The service of PAM, a file in `/etc/pam.d`."),
  "auth.pam.python": notNeeded(
    strOption(null, "Accepted for compatibility with Salt: libpam is called directly, in a separate process."),
  ),
  "auth.ldap.uri": strOption(
    "",
    "The directory's URI: `ldaps://ldap.example.com`. Default: made from the next four options.",
  ),
  "auth.ldap.server": strOption("localhost", "Host of the LDAP directory."),
  "auth.ldap.port": portOption(389, "Port of the LDAP directory."),
  "auth.ldap.tls": boolOption(false, "Whether the connection uses TLS from the start."),
  "auth.ldap.starttls": boolOption(false, "Whether the connection changes to TLS (StartTLS)."),
  "auth.ldap.no_verify": boolOption(false, "Whether any certificate of the directory is accepted."),
  "auth.ldap.binddn": strOption(
    "",
    "With `auth.ldap.bindpw` the account that searches for users; without, the users' own: `uid={{ username }},ou=People,dc=example,dc=com`.",
  ),
  "auth.ldap.bindpw": strOption("", "Password of the account in `auth.ldap.binddn`."),
  "auth.ldap.basedn": strOption("", "Base DN of searches."),
  "auth.ldap.filter": strOption("", "The filter that finds a user: `(uid={{ username }})`."),
  "auth.ldap.scope": intOption(2, "Scope of the search for users: 0 the entry itself, 1 one level, 2 all.", {
    min: 0,
    max: 2,
  }),
  "auth.ldap.anonymous": notNeeded(boolOption(
    false,
    "Accepted for compatibility with Salt: without a password no user is authenticated.",
  )),
  "auth.ldap.auth_by_group_membership_only": notNeeded(boolOption(
    false,
    "Accepted for compatibility with Salt: a password is always required.",
  )),
  "auth.ldap.activedirectory": boolOption(false, "Whether groups are found as Active Directory has them."),
  "auth.ldap.freeipa": boolOption(false, "Whether groups are found as FreeIPA has them."),
  "auth.ldap.groupou": strOption("Groups", "The organizational unit of the groups."),
  "auth.ldap.groupclass": strOption("posixGroup", "The object class of groups."),
  "auth.ldap.groupattribute": strOption("memberOf", "The attribute of users that names their groups."),
  "auth.ldap.group_basedn": strOption("", "Where groups are searched, with FreeIPA."),
  "auth.ldap.group_filter": strOption("", "The filter that finds groups, with FreeIPA."),
  "auth.ldap.accountattributename": strOption("memberUid", "The attribute of groups that names their users."),
  "auth.ldap.persontype": strOption("person", "The object class of users, in Active Directory."),
  "auth.ldap.minion_stripdomains": planOption(
    strsOption([], "Domains that are cut off the names of a directory's computers."),
  ),
} as const satisfies Readonly<Record<string, Option>>;
