import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readdir, realpath, stat } from 'node:fs/promises'
import { ClusterError } from '../../kubernetes/cluster.js'
import { NodeError } from '../../load-node.js'
import { quote } from '../../../../contract/regions/regions.js'
import type { PodContact } from './pod-contact.js'
import { BLOCK_BYTES, TAR_END, tarHeader, tarPadding } from '../../../tar.js'
import { NAP } from './supervisor.js'

/**
 * Reads an archive of a known length (older clusters cannot close the standard input), checks every file, and only then puts them into
 * place. Earlier turns are over: their files are removed first. A copy whose stream was cut may still be at work, or even start late: only
 * the one with the highest number changes anything, and none does when the turn, or another one, runs. What another run left behind is
 * removed (a run may have several turns: its second one is called like it, with a number): of `/tmp` only where the supervisor is the
 * first process, for that is a pod.
 */
const COPY = `${NAP}
umask 077
home=\${1:?} turn=$2 bytes=$3 number=$4
in=$home/in.$number
lock() {
  rounds=0
  until mkdir "$home/lock" 2>/dev/null; do
    rounds=$((rounds + 1))
    [ "$rounds" -lt 600 ] || { echo 'another copy does not end' >&2; exit 1; }
    nap 0.1
  done
}
leave() {
  rmdir "$home/lock"
  echo "$1"
  exit
}
empty() {
  for left in "$home"/* "$home"/.[!.]* "$home"/home/* "$home"/home/.[!.]*; do
    case \${left#"$home/"} in turns | files | home | go | pid | pid.new | copy | copy.new | lock) ;; *) rm -rf "$left" ;; esac
  done
  read -r first <"$home/pid"
  [ "$home $first" = '/loadgate 1' ] && rm -rf /tmp/* /tmp/.[!.]*
}
mkdir -p "$turn" || exit 1
lock
last=0
[ -e "$home/copy" ] && read -r last <"$home/copy"
[ "$number" -gt "$last" ] || leave superseded
mv "$turn/command" "$turn/old" 2>/dev/null
[ -e "$turn/running" ] && leave running
for other in "$home"/turns/*; do
  [ "$other" = "$turn" ] && continue
  rm -f "$other/command"
  [ -e "$other/running" ] && [ ! -e "$other/ended" ] && leave "busy;\${other##*/};"
done
echo "$number" >"$home/copy.new" && mv "$home/copy.new" "$home/copy" || { leave failed; }
rm -rf "$home"/in.* "$home/files"
run=\${turn##*/}
run=\${run%-[0-9]}
owner=
[ -e "$home/owner" ] && read -r owner <"$home/owner"
if [ "$owner" != "$run" ]; then
  empty
  echo "$run" >"$home/owner"
fi
for other in "$home"/turns/*; do
  [ "$other" = "$turn" ] && continue
  rm -f "$other/output"
  [ -e "$other/running" ] && : >"$other/running"
done
rmdir "$home/lock"
mkdir -p "$in" && cd "$in" || exit 1
head -c "$bytes" | tar -xof - || exit 1
sha256sum -c sums >checked 2>&1 || { cat checked >&2; exit 1; }
lock
read -r last <"$home/copy"
[ "$number" = "$last" ] || leave superseded
sh place || { leave failed; }
rmdir "$home/lock"
cd "$home" && rm -rf "$in"
echo copied
`

const READ_BYTES = 256 * 1024
const SENT_BYTES_PER_MS = 200
/** The script says a word or two; what it is made of may say more. */
const MOST_WORDS = 2000

export interface CopyRequest {
  readonly turn: string
  readonly command: string
  readonly brings: readonly string[]
  /** Folders of the pod that the tool writes to. */
  readonly folders: readonly string[]
  /** The number of the last copy into this pod. */
  readonly lastCopy: number
}

interface Entry {
  /** In the archive: plain, so that tar and sha256sum can handle it. */
  readonly name: string
  readonly sizeBytes: number
  /** In the pod; empty for what is not put anywhere. */
  readonly target: string
  readonly isExecutable: boolean
  /** A file of this machine, or what is in it. */
  readonly content: string | Buffer
}

/** Puts files and the command of a turn into the pod, checked; nothing is held in memory. Returns false if the turn runs already. */
export async function copyIn(contact: PodContact, request: CopyRequest, signal: AbortSignal) {
  const { entries, folders } = await listFiles(request.brings, contact)
  entries.push(textEntry('command', request.command, `${request.turn}/command`))
  const place = textEntry('place', placeScript(entries, [...folders, ...request.folders]))
  // A line of `sums`: the hash, two spaces, the name.
  const sumsBytes = entries.reduce((sum, { name }) => sum + 64 + 2 + name.length + 1, 0)
  const sizes = [...[...entries, place].map(({ sizeBytes }) => sizeBytes), sumsBytes]
  const bytes = sizes.reduce(
    (sum, size) => sum + BLOCK_BYTES + size + tarPadding(size).length,
    TAR_END.length
  )
  let number = request.lastCopy
  return contact.keepTrying(signal, (either) => {
    // If several services follow one another, the last one has the highest number.
    number = Math.max(number + 1, contact.parts.clock.now())
    const args = [contact.parts.home, request.turn, String(bytes), String(number)]
    const limitMs = contact.parts.timings.askMs + bytes / SENT_BYTES_PER_MS
    return copyOnce(contact, args, writeArchive(entries, place), { limitMs, signal: either })
  })
}

async function copyOnce(
  contact: PodContact,
  args: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
  limits: { limitMs: number; signal: AbortSignal }
): Promise<boolean> {
  let words = ''
  let reply = ''
  const onStdout = (bytes: Uint8Array): void =>
    void (reply = (reply + Buffer.from(bytes).toString('latin1')).slice(-MOST_WORDS))
  const onStderr = (bytes: Uint8Array): void =>
    void (words = (words + Buffer.from(bytes).toString('utf8')).slice(0, MOST_WORDS))
  const { code } = await contact.exec(COPY, args, { stdin, onStdout, onStderr }, limits)
  if (code === 0 && reply.includes('copied')) return true
  const { pod } = contact.parts
  const [, other] = /^busy;([^;]*);/m.exec(reply) ?? []
  if (other !== undefined) throw new NodeError(`The pod ${pod} is still busy with the work ${other}.`)
  if (code === 0 && reply.includes('running')) return false
  const why = words.trim().replace(/\s*\n\s*/g, '; ')
  // Its stream was cut, on this side or on that one.
  if (reply.includes('superseded') || /unexpected (EOF|end of file)|short read/i.test(why))
    throw new ClusterError(`The files for the pod ${pod} did not arrive completely: "${why}".`)
  throw new NodeError(
    `The files could not be copied into the pod ${pod}: "${why || `exit code ${code}`}"; check the disk space of its machine and its image.`
  )
}

function textEntry(name: string, text: string, target = ''): Entry {
  const content = Buffer.from(text)
  return { name, sizeBytes: content.length, target, isExecutable: false, content }
}

function placeScript(entries: readonly Entry[], folders: readonly string[]): string {
  const parents = new Set([...folders, ...entries.map(({ target }) => dirname(target))])
  return [
    'set -e\n',
    ...[...parents].map((folder) => `mkdir -p ${quote(folder)}\n`),
    ...entries.map(
      ({ name, target, isExecutable }) =>
        `${isExecutable ? `chmod 700 ${name}\n` : ''}mv -f ${name} ${quote(target)}\n`
    )
  ].join('')
}

/** The files, then the list of their hashes, which are known only now, and what to do with them. */
async function* writeArchive(entries: readonly Entry[], place: Entry): AsyncGenerator<Uint8Array> {
  let sums = ''
  for (const entry of entries) {
    const hash = createHash('sha256')
    yield* writeEntry(entry, (bytes) => hash.update(bytes))
    sums += `${hash.digest('hex')}  ${entry.name}\n`
  }
  yield* writeEntry(textEntry('sums', sums))
  yield* writeEntry(place)
  yield TAR_END
}

async function* writeEntry({ name, sizeBytes, content }: Entry, take?: (bytes: Buffer) => void) {
  yield tarHeader(name, sizeBytes)
  let readBytes = 0
  const chunks =
    typeof content === 'string'
      ? createReadStream(content, { end: sizeBytes - 1, highWaterMark: READ_BYTES })
      : [content]
  for await (const bytes of chunks as AsyncIterable<Buffer>) {
    take?.(bytes)
    readBytes += bytes.length
    yield bytes
  }
  if (readBytes !== sizeBytes)
    throw new Error(
      `${String(content)} changed while it was copied: it had ${sizeBytes} bytes, and ${readBytes} now.`
    )
  yield tarPadding(sizeBytes)
}

/** Everything under these paths, links followed: what they lead to is what the tool reads here. The folders are the pod's. */
async function listFiles(brings: readonly string[], contact: PodContact) {
  const entries = new Map<string, Entry>()
  const folders = new Set<string>()
  const visit = async (path: string, parents: readonly string[]): Promise<void> => {
    const found = await stat(path)
    const target = contact.fileOf(path)
    if (found.isFile() && !entries.has(path))
      entries.set(path, {
        ...{ name: `f${entries.size}`, sizeBytes: found.size, target },
        content: found.size === 0 ? Buffer.alloc(0) : path,
        isExecutable: (found.mode & 0o100) !== 0
      })
    if (!found.isDirectory()) return
    folders.add(target)
    const real = await realpath(path)
    // A link to a folder around it has no end.
    if (parents.includes(real)) return
    for (const name of await readdir(path)) await visit(join(path, name), [...parents, real])
  }
  for (const path of brings) await visit(resolve(path), [])
  return { entries: [...entries.values()], folders }
}
