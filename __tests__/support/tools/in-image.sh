#!/usr/bin/env bash
# Runs a command as in a container of an image that there is no Docker for: in-image.sh PLACE ROOT DATA CONFIG USER COMMAND…
# PLACE is an empty folder, where it is put together, in a mount namespace of its own (`unshare --mount`).
# Its root is read-only and has this machine's /usr, /etc and Java in place of Debian's packages of the base image, and over them
# the tree ROOT; /tmp is empty, /var/lib/loadgate is DATA, /etc/loadgate is CONFIG. The command is not root, has no capability and
# cannot gain one. Needs root; everything is gone with the process.
set -euo pipefail
place=$1 root=$2 data=$3 config=$4 user=$5
shift 5

mount --make-rprivate /
mount -t tmpfs -o mode=755 image "$place"
mkdir -p "$place"/{usr,opt,proc,dev,tmp,var/lib/loadgate}
cp -a /etc "$place/etc"
mkdir -p "$place/etc/loadgate"
for link in bin sbin lib lib64; do [ ! -e "/$link" ] || cp -a "/$link" "$place/$link"; done
mount --bind /usr "$place/usr"
mount --bind "$root/usr/local" "$place/usr/local"
mount --bind "$root/opt" "$place/opt"
mount --bind "$data" "$place/var/lib/loadgate"
mount --bind "$config" "$place/etc/loadgate"
mount --rbind /dev "$place/dev"
mount -t proc proc "$place/proc"
mount -t tmpfs -o mode=1777 tmp "$place/tmp"
for folder in "$place" "$place"/{usr,usr/local,opt,etc/loadgate}; do mount -o remount,bind,ro "$folder"; done
exec chroot "$place" setpriv --reuid "${user%%:*}" --regid "${user##*:}" --clear-groups --no-new-privs --bounding-set=-all \
  --inh-caps=-all -- "$@"
