/**
 * The names of Salt's options that have no effect here yet, so that the warning about them does not suggest a
 * misspelling. An option that is built moves from here to its table. Source: the option tables of Salt 3006 to 3008
 * (salt/config).
 * @module
 */

const NAMES = `
  add_proxymodule_to_opts archive_jobs auth_events_pend_autosign_grains auth_retries azurefs_update_interval
  bootstrap_delay cache cache_sreqs cli_salt_log_file cython_enable detect_remote_minions disable_aes_with_tls
  disable_auths disable_beacons disable_engines disable_grains disable_outputs disable_pillars disable_renders
  disable_sdbs disable_tops disable_utils disable_wheels discovery django_auth_path django_auth_settings
  enable_lspci enable_ssh_minions enable_zip_modules event_match_type event_publisher_niceness external_auth_groups
  features fips_mode git_pillar gpg_cache gpg_cache_backend gpg_cache_ttl grains_cache_expiration grains_deep_merge
  grains_refresh_pre_exec halite hgfs_base hgfs_branch_method hgfs_mountpoint hgfs_remotes hgfs_root
  hgfs_saltenv_blacklist hgfs_saltenv_whitelist hgfs_update_interval http_connect_timeout http_max_body id_function
  ipc_write_buffer ldap log_datefmt_console log_fmt log_fmt_jid log_fmt_minion_id log_rotate_backup_count
  log_rotate_max_bytes maintenance_niceness master_async_mworker master_mworker_max_inflight memcache_debug
  memcache_expire_seconds memcache_full_cleanup memcache_max_items min_extra_mods minion_memory_headroom
  minion_memory_max modules_max_memory mworker_niceness mworker_queue_niceness no_proxy optimization_order pass_dir
  pass_gnupghome pass_strict_fetch pass_variable_prefix password permissive_acl proxy_always_alive
  proxy_deep_merge_pillar_in_opts proxy_host proxy_keep_alive proxy_keep_alive_interval proxy_merge_grains_in_module
  proxy_merge_pillar_in_opts proxy_merge_pillar_in_opts_strategy proxy_mines_pillar proxy_password proxy_port
  proxy_username pub_server_niceness pub_server_write_queue_size publish_drain_timeout publish_timeout queue_dirs
  regen_thin remote_minions_port render_dirs req_server_niceness request_server_aes_session resolve_dns_fallback
  resource_pillar_key rest_tornado rest_wsgi returner_dirs rosters s3fs_update_interval salt_event_pub_hwm
  saltpip_allow_find_links saltpip_disable_pip_version_check saltpip_no_deps saltpip_no_index saltpip_use_pythonpath
  search serial signing_key_pass snapper_states snapper_states_config sock_pool_size source_publish_port
  source_ret_port ssh_merge_pillar ssh_roster_file ssl states_dirs svnfs_branches svnfs_mountpoint svnfs_remotes svnfs_root svnfs_saltenv_blacklist
  svnfs_saltenv_whitelist svnfs_tags svnfs_trunk svnfs_update_interval tcp_authentication_retries
  tcp_master_pub_port tcp_master_publish_pull tcp_master_pull_port tcp_master_workers tcp_pub_port tcp_pull_port
  tcp_reconnect_backoff thin_exclude_saltexts thin_extra_mods thin_saltext_allowlist thin_saltext_blocklist
  thorium_interval thorium_roots thorium_top thoriumenv update_restart_services update_url use_os_truststore
  username utils_dirs win_gitrepos win_repo win_repo_mastercachefile winrepo_branch winrepo_cache_expire_max
  winrepo_cache_expire_min winrepo_cachefile winrepo_depth winrepo_dir winrepo_dir_ng winrepo_fallback
  winrepo_insecure_auth winrepo_installer_cache_expire winrepo_passphrase winrepo_password winrepo_privkey
  winrepo_proxy winrepo_pubkey winrepo_refspecs winrepo_remotes winrepo_remotes_ng winrepo_source_dir
  winrepo_ssl_verify winrepo_user
`;

/** Those that protect something: who sets one counts on it. */
const PROTECTIONS = [
  "disable_auths",
  "disable_beacons",
  "disable_engines",
  "disable_grains",
  "disable_outputs",
  "disable_pillars",
  "disable_renders",
  "disable_sdbs",
  "disable_tops",
  "disable_utils",
  "disable_wheels",
  "fips_mode",
  "key_pass",
  "signing_key_pass",
  "ssl",
  "sudo_user",
];

/** Options that have no effect here, and with which a daemon does not start, because they protect something. */
export function refusedOptionNames(): readonly string[] {
  return PROTECTIONS;
}

/** Options of Salt, of either role, that no table of this project lists. */
export function saltOptionNames(): ReadonlySet<string> {
  return names ??= new Set(NAMES.trim().split(/\s+/));
}

let names: ReadonlySet<string> | undefined;
