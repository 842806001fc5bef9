import { readFile, rm, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSameProcess, readStartTime, type ProcessGroup } from '../../nodes/machine/processes.js'
import type { InstallPorts } from './install-ports.js'

export interface Lock {
  release(): Promise<void>
}

const LOOK_EVERY_MS = 200
/** A lock without an owner in it: its process was killed between creating and writing it, or is about to write. */
const UNREADABLE_LOOKS = 10

/**
 * Waits until no other process holds this lock, and takes it. One left behind by a killed process does not count. It saves
 * work and is no protection: two that find the same left-over lock at the same moment may both go on.
 */
export async function holdLock(
  file: string,
  what: string,
  ports: Pick<InstallPorts, 'log' | 'signal'>
): Promise<Lock> {
  let looks = 0
  let unreadable = 0
  const self = { pid: process.pid, startTime: readStartTime(process.pid) ?? '' }
  while (!(await tryCreate(file, self))) {
    ports.signal.throwIfAborted()
    const owner = await readOwner(file)
    unreadable = owner === undefined ? unreadable + 1 : 0
    if (owner === undefined ? unreadable > UNREADABLE_LOOKS : !isSameProcess(owner)) {
      await rm(file, { force: true })
      continue
    }
    if (looks++ === 0 && owner !== undefined)
      ports.log(`Process ${owner.pid} is installing ${what}; waiting for it`)
    await sleep(LOOK_EVERY_MS, undefined, { signal: ports.signal })
  }
  return { release: () => rm(file, { force: true }) }
}

async function tryCreate(file: string, owner: ProcessGroup): Promise<boolean> {
  try {
    await writeFile(file, JSON.stringify(owner), { flag: 'wx' })
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false
    // On a full disk it is there, without an owner.
    await rm(file, { force: true })
    throw thrown
  }
}

export async function readOwner(file: string): Promise<ProcessGroup | undefined> {
  try {
    const owner = JSON.parse(await readFile(file, 'utf8')) as ProcessGroup
    return typeof owner.pid === 'number' && typeof owner.startTime === 'string' ? owner : undefined
  } catch {
    return undefined
  }
}
