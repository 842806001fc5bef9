import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { endianness } from 'node:os'

/** The table is not read in one piece: a row may be missed while others come and go. */
const ATTEMPTS = 3
const NOBODY = '00000000:0000'

/** Columns of `/proc/net/tcp`. */
interface TcpRow {
  readonly local: string
  readonly remote: string
  readonly uid: number
  readonly inode: number
}

type Ends = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>

/**
 * Whether a connection from this machine was made by this process's own user. Anyone on the machine can reach a port on
 * loopback, and a hub or driver starts programs. Only Linux tells.
 */
export function isOwnPeer(socket: Ends, uid = process.getuid?.()): boolean {
  if (process.platform !== 'linux' || uid === undefined) return true
  const here = inTable(socket.localAddress, socket.localPort)
  const there = inTable(socket.remoteAddress, socket.remotePort)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const rows = readTcpRows()
    // Without the port on which we listen, it is not the table of our network.
    if (!rows.some(({ local, remote }) => local === here && remote === NOBODY)) return true
    const peer = rows.find(({ local, remote }) => local === there && remote === here)
    // A socket that nobody holds any more has no inode, and root's uid.
    if (peer !== undefined) return peer.uid === uid && peer.inode !== 0
  }
  return false
}

/** As the table has it: the address as a number in the machine's byte order. */
function inTable(address = '', port = 0): string {
  const bytes = address
    .replace(/^::ffff:/, '')
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0'))
  const ordered = endianness() === 'LE' ? bytes.reverse() : bytes
  return `${ordered.join('')}:${port.toString(16).padStart(4, '0')}`.toUpperCase()
}

function readTcpRows(): TcpRow[] {
  // A socket for both versions of IP is in the second one, even with an address of version 4.
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
    readText(file)
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(({ length }) => length > 9)
      .map(([, local = '', remote = '', , , , , uid, , inode]) => ({
        ...{ local: asVersion4(local), remote: asVersion4(remote) },
        ...{ uid: Number(uid), inode: Number(inode) }
      }))
  )
}

function asVersion4(address: string): string {
  return address.replace(/^0{16}(?:FFFF0000|0000FFFF)/, '')
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
