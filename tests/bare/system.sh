# Makes a bare Debian 12 in a folder; a script sources this file. Packages come from the mirror, and through the proxies, that this machine's apt and pip are set to.
#
#   bare_system       the system, in $root: debootstrap's least. It goes when the script ends. Where none can be made, the script ends with a line and the status 77
#   inside COMMAND    a command of bash in it, as root, with nothing of this machine's environment but where packages come from
#   timed COMMAND     the same with what it takes in seconds; of a command that fails the end of what it said, and the script ends with its status
skip() { echo "skipped: $*"; exit 77; }

clean_up() {
  for place in proc dev/pts dev; do ! mountpoint -q "$root/$place" || umount "$root/$place"; done
  rm -rf --one-file-system "$root"
}

bare_system() {
  [ "$(id -u)" = 0 ] || skip "only root makes a system in a folder"
  command -v debootstrap >/dev/null || skip "no debootstrap: apt-get install debootstrap"
  command -v apt-get >/dev/null || skip "no apt, which would say where Debian's packages are"

  # `URI suite` of Debian's main component, as apt is set to.
  local sources mirror certificates name file
  sources="$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | awk '$2 ~ /^bookworm(-updates|-security)?$/ && $3 == "main" {print $1, $2}' | sort -u)"
  mirror="$(awk '$2 == "bookworm" {print $1; exit}' <<<"$sources")"
  [ -n "$mirror" ] || skip "apt is not set to a mirror of Debian 12"

  root="$(mktemp -d)"
  trap clean_up EXIT
  debootstrap --variant=minbase bookworm "$root/" "$mirror" >"$root/debootstrap.log" 2>&1 || { tail -n 5 "$root/debootstrap.log"; skip "debootstrap failed"; }
  mkdir -p "$root/proc" "$root/dev"
  mount --bind /proc "$root/proc" 2>/dev/null && mount --bind /dev "$root/dev" 2>/dev/null || skip "nothing can be mounted here"

  # Where packages come from, and who is trusted for it.
  rm -f "$root/etc/apt/sources.list"
  while read -r uri suite; do echo "deb $uri $suite main"; done <<<"$sources" >"$root/etc/apt/sources.list.d/debian.list"
  apt-config dump | grep -E '^Acquire::(http|https|Retries|ftp)' >"$root/etc/apt/apt.conf.d/90here" || true
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf; do [ ! -e "$file" ] || cp -L "$file" "$root$file"; done
  certificates="${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" settings=()
  if [ -e "$certificates" ]; then
    mkdir -p "$root/usr/local/share/here"
    cp -L "$certificates" "$root/usr/local/share/here/certificates.crt"
    for name in SSL_CERT_FILE PIP_CERT REQUESTS_CA_BUNDLE; do settings+=("$name=/usr/local/share/here/certificates.crt"); done
  fi
  for name in http_proxy https_proxy no_proxy PIP_INDEX_URL PIP_EXTRA_INDEX_URL ONNXC_JOBS; do [ -z "${!name:-}" ] || settings+=("$name=${!name}"); done
}

inside() {
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "${settings[@]}" \
    chroot "$root" bash -c "cd /root && $1" </dev/null
}

timed() {
  echo "-- $1"
  local start=$SECONDS status=0
  inside "$1" >"$root/log" 2>&1 || status=$?
  if [ $status = 0 ]; then
    sed -n '/==== summary/,$p' "$root/log"
    echo "$1: done in $((SECONDS - start)) s"
  else
    grep -nE '\(Failed\)|FAILED' "$root/log" | head -n 20 || true
    tail -n 30 "$root/log"
    echo "$1: exit status $status after $((SECONDS - start)) s"
    exit $status
  fi
}
