# Bash completion of salt, salt-key, salt-run, salt-call, salt-cp, salt-ssh, salt-master and salt-minion.
# Made by scripts/reference/completion.ts of the option tables. It reads directories of the master and starts no Salt.

# @TABLES@

# Sets $REPLY to the value of option names $2 or $3 among the words; fails if it was not given.
_salt_option() {
  local i
  for ((i = 1; i < ${#words[@]}; i++)); do
    case ${words[i]} in
      "$1" | "$2") REPLY=${words[i + 1]-}; return 0 ;;
      "$2"=*) REPLY=${words[i]#*=}; return 0 ;;
    esac
  done
  return 1
}

# Sets $pki and $cache to the directories of the master's configuration.
_salt_master() {
  local config=${SALT_CONFIG_DIR:-/etc/salt} root= key value
  pki=/etc/salt/pki/master cache=/var/cache/salt/master
  if _salt_option -c --config-dir; then config=${REPLY/#\~/$HOME}; fi
  while read -r key value; do
    case $key in
      root_dir) root=$value ;;
      pki_dir) pki=$value ;;
      cachedir) cache=$value ;;
    esac
  done < <(sed -nE '@SED@' "$config/master" "$config"/master.d/*.conf 2>/dev/null)
  case $pki in "$root"/*) ;; *) pki=$root/${pki#/} ;; esac
  case $cache in "$root"/*) ;; *) cache=$root/${cache#/} ;; esac
}

# Sets $REPLY to the execution functions of own modules that lie on this host: those that its minion has synced, and those that
# the master's file server offers. Names are read from the texts of the files; nothing of them is run.
_salt_own_functions() {
  local config=${SALT_CONFIG_DIR:-/etc/salt} root= cache=/var/cache/salt/minion extmods= key value directory files=() line
  if _salt_option -c --config-dir; then config=${REPLY/#\~/$HOME}; fi
  REPLY=
  while read -r key value; do
    case $key in
      root_dir) root=$value ;;
      cachedir) cache=$value ;;
      extension_modules) extmods=$value ;;
    esac
  done < <(sed -nE '@SED@' "$config/minion" "$config"/minion.d/*.conf 2>/dev/null)
  case $cache in "$root"/*) ;; *) cache=$root/${cache#/} ;; esac
  while read -r directory; do
    for value in "$directory"/*.ts "$directory"/*.js "$directory"/*.py; do [[ -f $value ]] && files+=("$value"); done
  done < <(
    echo "${extmods:-$cache/extmods}/modules"
    sed -nE '@ROOTS@' "$config/master" "$config"/master.d/*.conf 2>/dev/null
    [[ -n $root ]] || echo /srv/salt/_modules
  )
  [[ ${#files[@]} -gt 0 ]] || return
  while IFS= read -r line; do
    value=${line##* } directory=${line%%:*}
    directory=${directory##*/} directory=${directory%.??}
    case $value in virtual | _*) ;; *) REPLY+=" $directory.${value%_}" ;; esac
  done < <(grep -HoE '@EXPORTS@' -- "${files[@]}" 2>/dev/null)
}

# Adds the candidates among $2 and what follows that begin with $1.
_salt_add() {
  local start=$1 word
  shift
  for word; do [[ $word == "$start"* ]] && COMPREPLY+=("$word"); done
}

# Adds the ids below the directories $1... of keys that continue $cur; after a comma, the next of a list. Readline quotes
# nothing, so an id with characters of the shell is left out: the stranger who chose it could have it run.
_salt_ids() {
  local -x LC_ALL=C # also for grep, which takes ten times as long by characters of more than one byte
  local pki cache id directory list= last=$cur begin
  _salt_master
  if [[ $cur == *,* ]]; then list=${cur%,*}, last=${cur##*,}; fi
  case $last in *[!A-Za-z0-9._@:+-]* | .*) return ;; esac
  begin=${last//./[.]} begin=${begin//+/[+]} # of an expression
  local -a choose=(grep -xE "$begin[A-Za-z0-9._@:+-]*")
  # What is left out is rare, so that grep passes on all between at once.
  [[ -n $begin ]] || choose=(grep -vE '[^A-Za-z0-9._@:+-]|^[.]')
  for directory; do
    # Of ten thousand ids each copy and each sorting takes 10 ms; readline sorts them. Words of a pipe, not mapfile, which reads it byte by byte.
    if [[ -z $list ]]; then
      COMPREPLY+=($(command ls -f -- "$pki/$directory" 2>/dev/null | "${choose[@]}"))
      continue
    fi
    for id in $(command ls -f -- "$pki/$directory" 2>/dev/null | "${choose[@]}"); do
      [[ ",$list" == *",$id,"* ]] || COMPREPLY+=("$list$id")
    done
  done
}

# Adds the ids of the last jobs.
_salt_jids() {
  local pki cache jid directory parents jobs # a job lies in <2 hex>/<rest>, so the newest lie in what was changed last
  _salt_master
  mapfile -t parents < <(ls -t "$cache/jobs" 2>/dev/null | head -n 40)
  [[ ${#parents[@]} -gt 0 ]] || return
  # Unquoted, so that the shell looks for what is in them.
  mapfile -t jobs < <(cd -- "$cache/jobs" >/dev/null && ls -td ${parents[@]/%//*/} 2>/dev/null | head -n 20)
  for directory in "${jobs[@]}"; do
    jid=
    IFS= read -r jid 2>/dev/null <"$cache/jobs/${directory}jid"
    [[ $jid == "$cur"* && $jid =~ ^[0-9]+(_[0-9]+)?$ ]] && COMPREPLY+=("$jid")
  done
}

# Adds functions of the family $1: modules first, then what is in one. After a comma, the next of several.
_salt_functions() {
  local list= last=$cur
  if [[ $cur == *,* ]]; then list=${cur%,*}, last=${cur##*,}; fi
  local own= name modules=
  if [[ $1 == execution ]]; then _salt_own_functions; own=$REPLY; fi
  REPLY=
  if [[ $last == *.* ]]; then
    "_salt_$1_functions" "${last%%.*}"
    _salt_add "$cur" ${REPLY:+$(printf "$list${last%%.*}.%s " $REPLY)}
    # One that replaces a built-in module brings the same names again.
    for name in $own; do [[ " ${COMPREPLY[*]} " == *" $list$name "* ]] || _salt_add "$cur" "$list$name"; done
  else
    "_salt_$1_modules"
    modules=" $REPLY "
    for name in $own; do [[ $modules == *" ${name%%.*} "* ]] || modules+="${name%%.*} "; done
    _salt_add "$cur" $(printf "$list%s. " $modules)
  fi
}

# Adds the SLS names of the file roots of this host that continue $cur; after a comma, the next of several. One level at a time: a
# directory is offered with a dot. A name with other characters is left out: the shell would take it for its own.
_salt_sls() {
  local config=${SALT_CONFIG_DIR:-/etc/salt} list= last=$cur root within= path entry files=() known=" "
  if _salt_option -c --config-dir; then config=${REPLY/#\~/$HOME}; fi
  if [[ $cur == *,* ]]; then list=${cur%,*}, last=${cur##*,}; fi
  case $last in *[!A-Za-z0-9._-]* | .* | *..*) return ;; esac
  if [[ $last == *.* ]]; then within=${last%.*}.; fi
  files=("$config/master" "$config"/master.d/*.conf)
  [[ $name == salt_call ]] && files+=("$config/minion" "$config"/minion.d/*.conf)
  while read -r root; do
    path=${root%/_modules}/${within//.//}
    for entry in "$path"*.sls "$path"*/; do
      [[ -e $entry ]] || continue
      if [[ $entry == */ ]]; then
        root=${entry%/} root=${root##*/}.
        [[ -f ${entry}init.sls ]] && entry=${root%.} || entry=
      else
        root= entry=${entry##*/} entry=${entry%.sls}
        [[ $within$entry == top || $entry == init ]] && continue
      fi
      for entry in $entry $root; do
        case $entry in *[!A-Za-z0-9._-]* | .* | _*. | ?*.?*) continue ;; esac
        [[ $known == *" $entry "* ]] && continue
        known+="$entry "
        _salt_add "$cur" "$list$within$entry"
      done
    done
  done < <(
    sed -nE '@ROOTS@' "${files[@]}" 2>/dev/null
    echo /srv/salt/_modules
  )
}

# Adds the parameters of the function $2 of the family $1; $3 words stand behind it already.
_salt_parameters() {
  local parameters parameter word index
  REPLY=
  "_salt_$1_parameters" "$2"
  read -ra parameters <<<"$REPLY"
  if [[ $cur == *=* ]]; then
    case $cur in
      jid=*) cur=${cur#jid=}; _salt_jids; COMPREPLY=("${COMPREPLY[@]/#/jid=}"); cur=jid=$cur ;;
      mods=*) cur=${cur#mods=}; _salt_sls; COMPREPLY=("${COMPREPLY[@]/#/mods=}"); cur=mods=$cur ;;
    esac
    return
  fi
  case ${parameters[$3]-} in
    jid) _salt_jids ;;
    mods) _salt_sls ;;
  esac
  for ((index = $3; index < ${#parameters[@]}; index++)); do
    parameter=${parameters[index]}=
    for word in "${words[@]}"; do [[ $word == "$parameter"* ]] && continue 2; done
    _salt_add "$cur" "$parameter"
  done
}

# Adds values of the kind $1.
_salt_values() {
  case $1 in
    files | directories)
      local names
      if [[ $1 == files ]]; then mapfile -t names < <(compgen -f -- "$cur"); else mapfile -t names < <(compgen -d -- "$cur"); fi
      COMPREPLY+=("${names[@]}")
      compopt -o filenames 2>/dev/null
      ;;
    ids:*) _salt_ids ${1#ids:} ;;
    jids) _salt_jids ;;
    words:*) _salt_add "$cur" ${1#words:} ;;
    functions:*) _salt_functions "${1#functions:}" ;;
  esac
}

_salt() {
  local line=${COMP_LINE:0:COMP_POINT} part words=() rest=() cur opt quoted= i strip REPLY
  COMPREPLY=()
  # Not by $COMP_WORDS, which cuts words at "=" and ":".
  local parts
  read -ra parts <<<"$line"
  for part in "${parts[@]}"; do
    if [[ -n $quoted ]]; then words[-1]+=" $part"; else words+=("$part"); fi
    local others=${part//[^\"\']/}
    if ((${#others} % 2)); then [[ -n $quoted ]] && quoted= || quoted=1; fi
  done
  [[ $line == *[[:blank:]] && -z $quoted ]] && words+=("")
  cur=${words[-1]#[\"\']}
  local name=${1##*/}
  name=${name//-/_}
  strip=${cur%"${2#[\"\']}"}
  local previous=${words[${#words[@]} - 2]}
  # What stands before, but for options and their values.
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    case ${words[i]} in
      -*) _salt_option_values "$name" "${words[i]}" && ((i++)) ;;
      *) rest+=("${words[i]}") ;;
    esac
  done
  if ((${#words[@]} > 2)) && _salt_option_values "$name" "$previous"; then
    _salt_values "$REPLY"
  elif [[ $cur == --*=* ]]; then
    opt=${cur%%=*}
    if _salt_option_values "$name" "$opt"; then
      cur=${cur#*=}
      _salt_values "$REPLY"
      COMPREPLY=("${COMPREPLY[@]/#/$opt=}")
    fi
  elif [[ $cur == -* ]]; then
    _salt_options "$name"
    _salt_add "$cur" $REPLY
  else
    _salt_positional "$name" "${#rest[@]}"
    case $REPLY in
      parameters:*:*)
        local family=${REPLY#parameters:} before
        before=${family#*:} family=${family%%:*}
        _salt_parameters "$family" "${rest[before - 1]##*,}" $((${#rest[@]} - before))
        ;;
      *) _salt_values "$REPLY" ;;
    esac
  fi
  [[ -n $strip ]] && COMPREPLY=("${COMPREPLY[@]#"$strip"}")
  case ${COMPREPLY[0]-} in *= | *.) compopt -o nospace 2>/dev/null ;; esac
}

complete -F _salt salt salt-key salt-run salt-call salt-cp salt-ssh salt-master salt-minion
